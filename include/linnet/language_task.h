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

/// Says how language_task() prepares a training, and the size of language_network().
struct LanguageTaskOptions {
  std::int64_t context = 128;  ///< characters that the model sees at most, at least 1
  std::int64_t layers = 4;     ///< layers of the transformer, at least 1
  std::int64_t width = 128;    ///< numbers that stand for a character, a multiple of `heads`
  std::int64_t heads = 4;      ///< heads of each attention, at least 1
  double dropout = 0.1;        ///< probability of zeroing an element, in [0, 1)
  /// Characters from one training window to the next, at most `context`. 0: half of the context.
  std::int64_t stride = 0;
  /// Share of the characters that choose the epoch, in [0, 1); they stand before the test set.
  /// Unset: 0.1.
  std::optional<double> validation = {};
  /// Share of the characters that measure the model, the last ones. Unset: 0.2.
  std::optional<double> test = {};
  std::uint64_t seed = 0;  ///< seed of the training
};

/// Holds a training of a language model that is ready to run:
/// @code
/// const LanguageTask task = language_task("corpus.txt");
/// Model model(task.network);
/// train(model, task.data, task.training);
/// const std::string text = generate(model, "Once upon a time");
/// @endcode
struct LanguageTask {
  /// Windows of ids (context) i32, and as target the id that follows each of them. The classes are
  /// the characters.
  Splits data;
  Network network;                ///< language_network() of these characters
  TrainingOptions training = {};  ///< the default recipe, with early stopping
  /// Sentences on what was decided: characters, windows, parts.
  std::vector<std::string> notes = {};
};

/// Reads a text, or all *.txt of a folder in the order of their names, and prepares a model that
/// predicts each next character. Texts are UTF-8, also .gz and .xz; other encodings are found as
/// for tables. The first characters train, the next ones validate, the last ones test. The
/// characters of the training set are all that the model knows; others are left out of the other
/// sets. Throws DataError naming a file that is not a text, for texts of a single character, of
/// more than 20,000 different ones, and that are too short for one window; Error for options out of
/// range.
LanguageTask language_task(const std::filesystem::path& path,
                           const LanguageTaskOptions& options = {});

/// Returns the default network of language models (Radford et al., "Language models are
/// unsupervised multitask learners", 2019): ids (context) -> an embedding and one of positions ->
/// transformer layers with the norms first, GELU and causal attention -> layer norm -> logits of
/// the next character for each step. 826,433 parameters for 65 characters.
Network language_network(std::int64_t characters, const LanguageTaskOptions& options = {});

}  // namespace linnet
LINNET_API_END
