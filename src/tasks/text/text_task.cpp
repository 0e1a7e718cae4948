// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>
#include <linnet/layers.h>
#include <linnet/tables.h>
#include <linnet/text_task.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/folder.h"
#include "data/vocabulary.h"
#include "datasets/load_dataset.h"
#include "datasets/texts.h"
#include "table/contents.h"
#include "tasks/split_task.h"
#include "tasks/task_recipe.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLongest = 400;  // ids of a sample whose length is chosen
constexpr std::int64_t kLengthStep = 8;
constexpr double kLengthShare = 0.95;
constexpr std::int64_t kLeastTimes = 2;  // a word that is known occurs so often

constexpr std::int64_t kFeatures = 64;
constexpr double kEmbeddingStd = 0.1;
constexpr double kDropout = 0.5;
constexpr double kLearningRate = 2e-3;

TaskRecipe recipe_for(std::int64_t texts) {
  if (texts < 2000) return {16, 60, 10};
  if (texts < 20000) return {32, 30, 5};
  return {64, 20, 3};
}

LabelledTexts texts_of(const Table& table, const TextColumns& columns,
                       std::vector<std::string>& notes) {
  const std::size_t text = table.find(columns.text);
  require(!columns.target.empty(), "name the column of the labels of '{}' beside that of its texts",
          table.name());
  const std::size_t target = table.find(columns.target);
  LabelledTexts texts;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    if (table.missing(row, target)) continue;
    texts.texts.emplace_back(table.text(row, text));
    texts.labels.emplace_back(table.text(row, target));
  }
  require<DataError>(!texts.texts.empty(), "'{}' has no row with a label", table.name());
  const std::int64_t without = table.rows() - std::ssize(texts.texts);
  if (without > 0)
    notes.push_back(fmt::format("{} without a label are left out", counted(without, "row")));
  return texts;
}

LabelledTexts read_file_of_texts(const fs::path& path, const TextColumns& columns,
                                 std::vector<std::string>& notes) {
  if (columns.text.empty()) {
    LabelledTexts texts = read_text_lines(path);
    if (!texts.note.empty()) notes.push_back(texts.note);
    return texts;
  }
  const Table table = read_table(path, {.sheet = columns.sheet});
  const std::string& source = table.contents()->source_note;
  if (!source.empty()) notes.push_back(source);
  return texts_of(table, columns, notes);
}

TextParts read_parts(const fs::path& path, const TextColumns& columns) {
  if (is_folder(path)) {
    require<DataError>(holds_texts(path),
                       "'{}' holds no texts; expected train.tsv, or folders of *.txt by class",
                       path.string());
    return read_text_folder(find_dataset(path).folder);
  }
  TextParts parts{.name = path.filename().string()};
  parts.train = read_file_of_texts(path, columns, parts.notes);
  return parts;
}

LabelledTexts taken(const LabelledTexts& from, const Dataset& rows) {
  LabelledTexts part;
  if (rows.size() == 0) return part;
  for (const std::int32_t row : rows.inputs()[0].data.as<std::int32_t>()) {
    part.texts.push_back(from.texts[static_cast<std::size_t>(row)]);
    part.labels.push_back(from.labels[static_cast<std::size_t>(row)]);
  }
  return part;
}

/// Splits the rows by number, so that the words can be ranked over the training set.
Splits split_rows(const TextParts& parts, const std::vector<std::string>& labels,
                  const TextTaskOptions& options) {
  const LabelledTexts& texts = parts.train;
  const auto count = std::ssize(texts.texts);
  std::vector<std::int32_t> rows(texts.texts.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<std::int32_t> classes;
  for (const std::string& label : texts.labels) {
    const auto found = std::ranges::find(labels, label);
    classes.push_back(static_cast<std::int32_t>(found - labels.begin()));
  }
  const Dataset all({{"row", Tensor(std::move(rows), {count, 1})}},
                    {{"label", Tensor(std::move(classes))}});
  const bool validation = !parts.validation.texts.empty();
  const bool test = !parts.test.texts.empty();
  check_shares({.validation = options.validation,
                .test = options.test,
                .stratify = options.stratify},
               validation, test, parts.name);
  return split_for_task({.train = all},
                        {.validation = validation ? std::optional(0.0) : options.validation,
                         .test = test ? std::optional(0.0) : options.test,
                         .stratify = options.stratify,
                         .seed = options.seed});
}

/// Returns how many ids most texts need, each with its start.
std::int64_t length_for(const std::vector<std::string>& texts, const Vocabulary& vocabulary) {
  std::vector<std::int64_t> lengths;
  std::vector<std::int32_t> ids(static_cast<std::size_t>(kLongest));
  for (const std::string& text : texts) {
    vocabulary.encode(text, ids);
    const auto start = std::ranges::find_if(ids, [](std::int32_t id) { return id != 0; });
    lengths.push_back(ids.end() - start);
  }
  const auto place =
      static_cast<std::int64_t>(kLengthShare * static_cast<double>(lengths.size() - 1));
  std::ranges::nth_element(lengths, lengths.begin() + place);
  const std::int64_t length = lengths[static_cast<std::size_t>(place)];
  return std::min(kLongest, (length + kLengthStep - 1) / kLengthStep * kLengthStep);
}

}  // namespace

Network text_network(std::int64_t length, std::int64_t vocabulary, std::int64_t classes) {
  FunctionalNetwork functional;
  const Expression words = functional.input("text", {length}, DType::i32) |
                           Embedding{.vocabulary = vocabulary,
                                     .features = kFeatures,
                                     .weight_init = {Initializer::Kind::normal, kEmbeddingStd}};
  const Expression pooled = concat({words | GlobalAvgPool1d{}, words | GlobalMaxPool1d{}}, 0);
  return functional.build(
      {{"output", pooled | Dropout{.rate = kDropout} | Dense{.units = classes}}});
}

TrainingOptions text_training(std::int64_t texts) {
  return training_by(recipe_for(texts), kLearningRate);
}

TextTask text_task(const fs::path& path, const TextTaskOptions& options) {
  require(options.words >= 1, "expected at least 1 word; got {}", options.words);
  require(options.length >= 0, "expected a length of at least 1 id, or 0; got {}", options.length);
  const TextParts parts = read_parts(path, options.columns);
  const std::vector<std::string> labels = label_names(parts.train);
  const std::set<std::string_view> seen(parts.train.labels.begin(), parts.train.labels.end());
  require<DataError>(seen.size() >= 2,
                     "all texts of '{}' have the label '{}'; expected at least 2 classes to tell "
                     "apart",
                     parts.name, seen.empty() ? "" : *seen.begin());
  const Splits rows = split_rows(parts, labels, options);
  const LabelledTexts train = taken(parts.train, rows.train);
  const Vocabulary vocabulary =
      Vocabulary::from_texts(train.texts, options.words + Vocabulary::kFirstWord, kLeastTimes);
  require<DataError>(!vocabulary.words().empty(), "no word of '{}' occurs twice", parts.name);
  TextTask task{.data = {}, .network = Network({1})};
  task.length = options.length > 0 ? options.length : length_for(train.texts, vocabulary);
  const auto encoded = [&](const LabelledTexts& texts) {
    return encode_texts(texts, labels, vocabulary, task.length, parts.name);
  };
  const auto held_out = [&](const LabelledTexts& given, const Dataset& chosen) {
    return given.texts.empty() ? taken(parts.train, chosen) : given;
  };
  task.data = {.train = encoded(train),
               .validation = encoded(held_out(parts.validation, rows.validation)),
               .test = encoded(held_out(parts.test, rows.test))};
  task.network = text_network(task.length, vocabulary.size(), std::ssize(labels));
  task.training = text_training(task.data.train.size());
  task.training.seed = options.seed;
  task.notes = parts.notes;
  const std::vector<std::string>& read = task.data.train.info().notes;
  task.notes.insert(task.notes.end(), read.begin(), read.end());
  add_task_notes(
      task.notes, task.data, {.validation = options.validation, .test = options.test},
      fmt::format("one of {} classes of texts by their last {} words, of a vocabulary of {}",
                  labels.size(), task.length - 1, vocabulary.words().size()),
      "texts");
  return task;
}

Splits labelled_texts(const fs::path& path, const TextColumns& columns,
                      const std::vector<std::string>& vocabulary, std::int64_t length) {
  require(length > 0, "expected at least one id for a text; got {}", length);
  const TextParts parts = read_parts(path, columns);
  const std::vector<std::string> labels = label_names(parts.train);
  const Vocabulary words(vocabulary);
  const auto encoded = [&](const LabelledTexts& texts) {
    return texts.texts.empty() ? Dataset() : encode_texts(texts, labels, words, length, parts.name);
  };
  if (is_folder(path)) {
    return {.train = encoded(parts.train),
            .validation = encoded(parts.validation),
            .test = encoded(parts.test)};
  }
  return {.test = encoded(parts.train)};
}

}  // namespace linnet
