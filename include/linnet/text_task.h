// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>
#include <linnet/network.h>
#include <linnet/trainer.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Says where a file has its texts and their labels.
struct TextColumns {
  /// Column of the texts of a table (CSV, TSV), by name or number from 1. Empty: the file has a
  /// text a line, its label first, the text last, separated by tabs.
  std::string text = {};
  std::string target = {};  ///< column of the labels; needed where `text` is given
  std::string sheet = {};   ///< sheet of a spreadsheet, by name or number from 1; empty: the first
};

/// Says how text_task() prepares a training.
struct TextTaskOptions {
  TextColumns columns = {};  ///< of a file; has no effect on a folder
  /// Share of the texts that choose the epoch, in [0, 1). Unset: 0.1, of texts without a validation
  /// set; texts that have one take no share above 0.
  std::optional<double> validation = {};
  /// Share of the texts that measure the model. Unset: 0.2, of texts without a test set.
  std::optional<double> test = {};
  /// Takes the same share of each class for validation and test, within one text.
  bool stratify = true;
  std::uint64_t seed = 0;      ///< seed of the split, and of the training
  std::int64_t words = 20000;  ///< most words that are known, the most frequent ones
  /// Ids of a sample, the last ones of a longer text. 0: as many as 95 of 100 texts need, at most
  /// 400.
  std::int64_t length = 0;
};

/// Holds a training that is ready to run on texts:
/// @code
/// const TextTask task = text_task("reviews.tsv");
/// Model model(task.network);
/// train(model, task.data, task.training);
/// const Predictor predictor(model);
/// const auto& words = task.data.train.info().vocabulary;
/// predictor.classify(encode_text("a wonderful film", words, task.length));
/// @endcode
struct TextTask {
  Splits data;                    ///< the samples of the three parts, ids (length) i32
  std::int64_t length = 0;        ///< ids of a sample
  Network network;                ///< the default network, for these words and classes
  TrainingOptions training = {};  ///< the default recipe, with early stopping
  /// Sentences on what was decided: words, length, parts, what is learned.
  std::vector<std::string> notes = {};
};

/// Reads texts of any number of classes from a file or a folder, splits them, ranks the words of
/// the training set, and chooses a network and a recipe. A folder is as load_dataset() says; its
/// test set is kept. A file (.tsv, .txt, also .gz and .xz) has a text a line, or is a table whose
/// columns are named. Words that occur once are unknown. Throws DataError naming file and line, for
/// fewer than two classes, and for shares that leave no training set; Error for options out of
/// range.
TextTask text_task(const std::filesystem::path& path, const TextTaskOptions& options = {});

/// Reads a file or a folder of labelled texts as samples of a model of texts: its vocabulary
/// (DatasetInfo::vocabulary of the training) and the ids of its samples. Of a folder it returns the
/// parts, of a file the test set alone. Throws as text_task() does.
Splits labelled_texts(const std::filesystem::path& path, const TextColumns& columns,
                      const std::vector<std::string>& vocabulary, std::int64_t length);

/// Returns the default network for texts: an embedding, the mean and the largest value of each
/// feature over the words, dropout, and a dense layer of logits, one a class.
Network text_network(std::int64_t length, std::int64_t vocabulary, std::int64_t classes);

/// Returns the default recipe for so many training texts: AdamW, early stopping by the validation
/// loss, the best epoch's weights kept.
TrainingOptions text_training(std::int64_t texts);

}  // namespace linnet
LINNET_API_END
