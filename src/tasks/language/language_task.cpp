// SPDX-License-Identifier: Apache-2.0
#include <linnet/language_task.h>
#include <linnet/layers.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/utf8.h"
#include "tasks/language/prepare_language.h"
#include "tasks/language/read_language.h"
#include "tasks/options.h"
#include "tasks/split_task.h"
#include "tasks/task_recipe.h"

namespace linnet {
namespace {

constexpr std::size_t kMostCharacters = 20000;
constexpr double kEmbeddingStd = 0.02;
constexpr double kLearningRate = 1e-3;

/// Returns a recipe of a few thousand steps.
TrainingOptions language_training(std::int64_t windows) {
  constexpr std::int64_t kBatch = 32;
  constexpr std::int64_t kSteps = 4000;
  constexpr double kWarmupSteps = 100;
  const std::int64_t steps = std::max<std::int64_t>((windows + kBatch - 1) / kBatch, 1);
  const std::int64_t epochs = std::clamp<std::int64_t>(kSteps / steps, 2, 50);
  TrainingOptions training = training_by({.batch = kBatch,
                                          .epochs = epochs,
                                          .patience = std::max<std::int64_t>(2, epochs / 5)},
                                         kLearningRate);
  training.schedule = CosineDecay{.floor = 0.1};
  training.warmup = {std::min(kWarmupSteps / static_cast<double>(steps), 1.0)};
  training.clip = {.norm = 1};
  return training;
}

/// Holds the training, validation and test sets of a text.
struct Parts {
  std::string_view train, validation, test;
};

/// Cuts the text by bytes, between two characters.
Parts cut(std::string_view text, const LanguageTaskOptions& options) {
  const double validation = options.validation.value_or(kValidationShare);
  const double test = options.test.value_or(kTestShare);
  require(validation >= 0 && test >= 0 && validation + test < 1,
          "validation and test are shares of the characters, together below 1; got {} and {}",
          validation, test);
  const auto place = [&](double share) {
    auto at = static_cast<std::size_t>(std::llround(share * static_cast<double>(text.size())));
    while (at < text.size() && !begins_character(text[at])) ++at;
    return std::min(at, text.size());
  };
  const std::size_t first = place(1 - validation - test);
  const std::size_t second = std::max(first, place(1 - test));
  return {text.substr(0, first), text.substr(first, second - first), text.substr(second)};
}

}  // namespace

Network language_network(std::int64_t characters, const LanguageTaskOptions& options) {
  description_of<LanguageTaskOptions>().check(&options, "");
  require(options.width % options.heads == 0,
          "expected a width that the heads divide; got a width of {} and {} heads", options.width,
          options.heads);
  const Initializer init{Initializer::Kind::normal, kEmbeddingStd};
  Network network({options.context},
                  {Embedding{.vocabulary = characters,
                             .features = options.width,
                             .weight_init = init,
                             .name = "embedding"},
                   PositionalEmbedding{.weight_init = init, .name = "positions"}},
                  DType::i32);
  if (options.dropout > 0) network.add(Dropout{.rate = options.dropout});
  for (std::int64_t i = 0; i < options.layers; ++i) {
    network.add(TransformerEncoderLayer{.heads = options.heads,
                                        .feed_forward = 4 * options.width,
                                        .dropout = options.dropout,
                                        .activation = GELU{},
                                        .norm_first = true,
                                        .causal = true,
                                        .name = fmt::format("layers.{}", i)});
  }
  network.add(LayerNorm{.name = "norm"});
  network.add(Dense{.units = characters, .name = "head"});
  return network;
}

LanguageTask prepare_language(const std::filesystem::path& path, const LanguageTaskOptions& options,
                              const std::vector<std::string>& known) {
  description_of<LanguageTaskOptions>().check(&options, "");
  require(options.stride <= options.context, "expected a stride of at most the context, {}; got {}",
          options.context, options.stride);
  Corpus corpus = read_corpus(path);
  const Parts parts = cut(corpus.text, options);
  const std::vector<std::string> all = known.empty() ? Characters::of(parts.train) : known;
  require<DataError>(all.size() > 1,
                     "'{}' needs at least 2 different characters to learn from; the training text "
                     "has {}",
                     corpus.name, all.size());
  require<DataError>(all.size() <= kMostCharacters,
                     "'{}' has {} different characters; at most {} can be learned", corpus.name,
                     all.size(), kMostCharacters);
  const Characters characters(all);
  LanguageTask task{.data = {}, .network = Network({1})};
  task.notes = std::move(corpus.notes);
  const DatasetInfo info{.name = corpus.name, .classes = all};
  const auto windows = [&](std::string_view text, const char* what, std::int64_t stride) {
    return language_windows(encode_known(characters, text, what, task.notes), options.context,
                            stride, info);
  };
  const std::int64_t half = std::max<std::int64_t>(options.context / 2, 1);
  task.data.train =
      windows(parts.train, "training text", options.stride > 0 ? options.stride : half);
  require<DataError>(task.data.train.size() > 0,
                     "'{}' is too short: a window of the context and the next character has {} "
                     "characters, and {} bytes of the text train; a smaller context (--context) "
                     "may do",
                     corpus.name, options.context + 1, parts.train.size());
  task.data.validation = windows(parts.validation, "validation text", options.context);
  task.data.test = windows(parts.test, "test text", options.context);
  task.network = language_network(std::ssize(all), options);
  task.training = language_training(task.data.train.size());
  task.training.seed = options.seed;
  add_task_notes(task.notes, task.data, {.validation = options.validation, .test = options.test},
                 fmt::format("the next of {} from up to {} before it",
                             counted(all.size(), "character"), options.context),
                 "windows");
  return task;
}

LanguageTask language_task(const std::filesystem::path& path, const LanguageTaskOptions& options) {
  return prepare_language(path, options, {});
}

}  // namespace linnet
