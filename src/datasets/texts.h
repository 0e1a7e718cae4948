// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/vocabulary.h"

namespace linnet {

/// Texts with the label of each, as it is written.
struct LabelledTexts {
  std::vector<std::string> texts = {};
  std::vector<std::string> labels = {};
  std::string note = {};  ///< a sentence on how they were read; empty: none
  bool western = false;   ///< some were read as Windows-1252

  /// Throws DataError for too many, naming the file.
  void add(std::string_view text, std::string_view label, const std::filesystem::path& path);
};

/// Returns the fields of a line between separators.
std::vector<std::string_view> parted(std::string_view line, char separator);

/// Which fields between tabs hold label and text.
struct TextFields {
  std::optional<std::size_t> label = {};
  std::size_t text = 0;
};
/// Returns the fields of a first line that names its columns, e.g. "text", a tab, "label"; nothing
/// for a line of a text.
std::optional<TextFields> named_fields(std::string_view line);

struct TextParts {
  std::string name;  ///< of the data set
  LabelledTexts train = {};
  LabelledTexts validation = {};  ///< none where there is no validation set, as below
  LabelledTexts test = {};
  std::vector<std::string> notes = {};  ///< on what is left out
};

/// Returns whether a folder holds texts: train.tsv or test.tsv (also .gz, .xz), or folders of *.txt
/// by class, perhaps in train/ and test/.
bool holds_labelled_texts(const std::filesystem::path& folder);

/// Reads the texts of a folder: of train.tsv and test.tsv, else of folders by class, each in the
/// order of its files' names, in train/ and test/ or straight under the folder, which is then all
/// training set. Beside train and test, val (valid, validation) is the validation set, without test
/// the test set. A folder "unsup", which the original of the IMDB reviews has, is left out. Throws
/// DataError naming the file and line.
TextParts read_text_folder(const std::filesystem::path& folder);

/// Reads a file of a text a line: its label first, the text last, whatever columns between them,
/// separated by tabs; plain, .gz or .xz. A first line that names the columns says where label and
/// text are instead. Throws DataError naming the line, and where most lines have a label of their
/// own.
LabelledTexts read_text_lines(const std::filesystem::path& path);

/// Returns whether the texts of such a file have labels: some line has a tab, and its first line
/// names no columns without one.
bool holds_labels(const std::filesystem::path& path);

/// Returns whether the first lines of a file, plain or packed, have a label and a text of several
/// words after tabs. False where it can't be read.
bool holds_text_lines(const std::filesystem::path& path);

/// Returns the different labels: numbers as they rise, others as they are sorted; of 0 and 1, and
/// of neg and pos, always both.
std::vector<std::string> label_names(const LabelledTexts& texts);

/// Returns the class names of such labels: negative and positive for 0 and 1, and for neg and pos;
/// the labels themselves for others.
std::vector<std::string> text_classes(const std::vector<std::string>& labels);

/// Returns texts as ids (N, length) i32, with the label of each by its place in `labels`. Throws
/// DataError for a label that is not among them.
Dataset encode_texts(const LabelledTexts& texts, const std::vector<std::string>& labels,
                     const Vocabulary& vocabulary, std::int64_t length, const std::string& name);

struct TextOptions {
  /// All ids are below it, the three that are no words included: the first 29,997 words.
  std::int64_t ids = 30000;
  std::int64_t length = 150;
  std::vector<std::string> words = {};  ///< instead of the training set's
};

/// Reads a folder of texts as ids (length) i32 with labels. Words, their ids and the padding are as
/// Vocabulary says, the words ranked over the training set (DatasetInfo::vocabulary). Keras's own
/// files of the IMDB reviews leave the id 3 out and so hold 29,996 words. Throws as
/// read_text_folder() does.
Splits load_texts(const std::filesystem::path& folder, const TextOptions& options = {});

}  // namespace linnet
