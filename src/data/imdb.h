// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace linnet {

/// Returns whether a folder holds train.tsv and test.tsv (also .gz, .xz), or the folders of the
/// original, train/pos, train/neg, test/pos and test/neg. One of them is enough to be asked for the
/// rest.
bool holds_imdb(const std::filesystem::path& folder);

struct ImdbOptions {
  /// All ids are below it, the three that are no words included: the first 29,997 words.
  std::int64_t ids = 30000;
  std::int64_t length = 150;
  std::vector<std::string> words = {};  ///< instead of the training set's
};

/// Reviews of films as (length) i32 with the labels 0 negative, 1 positive, source: Maas et al.,
/// "Learning Word Vectors for Sentiment Analysis", 2011. Words, their ids and the padding are as
/// Vocabulary says, the words ranked over the training set (DatasetInfo::vocabulary). Keras's own
/// files leave the id 3 out and so hold 29,996 words. A .tsv has a review a line: the label first,
/// the text last, whatever columns between them. Of the original's folders the negative reviews
/// come first, each in the order of the files' names. Throws Error naming the file and line.
Splits load_imdb(const std::filesystem::path& folder, const ImdbOptions& options = {});

}  // namespace linnet
