// SPDX-License-Identifier: Apache-2.0
#include "datasets/texts.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/decimal.h"
#include "base/files.h"
#include "base/folder.h"
#include "base/utf8.h"
#include "datasets/image_folder.h"
#include "datasets/validation_names.h"
#include "formats/packed.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnlabelled = "unsup";
// The labels of reviews: both are known where one of them occurs.
const std::set<std::string> kNumbers{"0", "1"};
const std::set<std::string> kFolders{"neg", "pos"};

std::optional<fs::path> find_table(const fs::path& folder, std::string_view part) {
  for (const std::string_view end : {".tsv", ".tsv.gz", ".tsv.xz"}) {
    fs::path path = folder / fmt::format("{}{}", part, end);
    if (is_file(path)) return path;
  }
  return std::nullopt;
}

bool is_text(const fs::path& path) { return path.extension() == ".txt"; }

/// A folder of images by class may hold a .txt too.
bool holds_text_files(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return false;
  const std::vector<fs::path> files = list_folder(folder).files;
  return std::ranges::any_of(files, is_text) && std::ranges::none_of(files, is_image_name);
}

std::vector<fs::path> class_folders(const fs::path& part) {
  std::vector<fs::path> folders;
  for (const fs::path& folder : list_folder(part).folders) {
    if (folder.filename() != kUnlabelled && holds_text_files(folder)) folders.push_back(folder);
  }
  return folders;
}

bool holds_classes(const fs::path& part) {
  std::error_code error;
  return fs::is_directory(part, error) && !class_folders(part).empty();
}

LabelledTexts read_classes(const fs::path& part) {
  LabelledTexts texts;
  for (const fs::path& folder : class_folders(part)) {
    const std::string label = folder.filename().string();
    require<DataError>(
        is_utf8(label),
        "the name of the class folder '{}' is not UTF-8, which a model file needs; rename it",
        escaped(folder.string()));
    for (const fs::path& path : list_folder(folder).files) {
      if (is_text(path)) texts.add(read_file(path), label, path);
    }
  }
  require<DataError>(!texts.texts.empty(), "'{}' holds no folders of texts (*.txt) by class",
                     part.string());
  return texts;
}

std::optional<LabelledTexts> read_part(const fs::path& folder, std::string_view part) {
  if (const std::optional<fs::path> table = find_table(folder, part))
    return read_text_lines(*table);
  std::error_code error;
  if (!fs::is_directory(folder / part, error)) return std::nullopt;
  return read_classes(folder / part);
}

std::optional<double> number_of(const std::string& label) {
  double value = 0;
  const char* end = label.data() + label.size();
  const auto [stopped, error] = read_decimal(label.data(), end, value);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

}  // namespace

bool holds_labelled_texts(const fs::path& folder) {
  for (const std::string_view part : {"train", "test"}) {
    if (find_table(folder, part) || holds_classes(folder / part)) return true;
  }
  return class_folders(folder).size() >= 2;
}

TextParts read_text_folder(const fs::path& folder) {
  TextParts parts{.name = folder_name(folder)};
  std::optional<LabelledTexts> train = read_part(folder, "train");
  std::optional<LabelledTexts> test;
  // Texts without labels, to be classified, measure nothing.
  const fs::path tree = folder / "test";
  std::error_code error;
  const std::optional<fs::path> table = find_table(folder, "test");
  if (table && train && !holds_labels(*table)) {
    parts.notes.push_back(
        fmt::format("'{}' is left out: its texts have no labels", table->string()));
  } else if (table || holds_classes(tree)) {
    test = read_part(folder, "test");
  } else if (fs::is_directory(tree, error)) {
    parts.notes.push_back(
        fmt::format("'{}' is left out: it holds no class folders with texts", tree.string()));
  }
  require<DataError>(train || !test,
                     "'{}' has neither train.tsv (or .gz, .xz) nor a folder train beside its test "
                     "set",
                     folder.string());
  if (test) parts.test = *std::move(test);
  LabelledTexts& held_out = test ? parts.validation : parts.test;
  for (const std::string_view name : kValidationNames) {
    if (!train || !held_out.texts.empty()) break;
    const std::optional<fs::path> table = find_table(folder, name);
    if (table ? !holds_labels(*table) : !holds_classes(folder / name)) continue;
    if (auto found = read_part(folder, name)) held_out = *std::move(found);
  }
  parts.train = train ? *std::move(train) : read_classes(folder);
  for (const LabelledTexts* part : {&parts.train, &parts.validation, &parts.test}) {
    if (!part->note.empty()) parts.notes.push_back(part->note);
  }
  return parts;
}

std::vector<std::string> label_names(const LabelledTexts& texts) {
  const std::set<std::string> labels(texts.labels.begin(), texts.labels.end());
  for (const std::set<std::string>& signs : {kNumbers, kFolders}) {
    if (std::ranges::includes(signs, labels)) return {signs.begin(), signs.end()};
  }
  std::vector<std::string> names(labels.begin(), labels.end());
  if (std::ranges::all_of(names, [](const auto& name) { return number_of(name).has_value(); })) {
    std::ranges::stable_sort(names, {}, [](const auto& name) { return *number_of(name); });
  }
  return names;
}

std::vector<std::string> text_classes(const std::vector<std::string>& labels) {
  const std::set<std::string> all(labels.begin(), labels.end());
  if (all != kNumbers && all != kFolders) return labels;
  return {"negative", "positive"};
}

Dataset encode_texts(const LabelledTexts& texts, const std::vector<std::string>& labels,
                     const Vocabulary& vocabulary, std::int64_t length, const std::string& name) {
  std::unordered_map<std::string_view, std::int32_t> places;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    places.emplace(labels[i], static_cast<std::int32_t>(i));
  }
  const auto width = static_cast<std::size_t>(length);
  std::vector<std::int32_t> ids(texts.texts.size() * width);
  std::vector<std::int32_t> numbers;
  for (std::size_t i = 0; i < texts.texts.size(); ++i) {
    vocabulary.encode(texts.texts[i], std::span(ids).subspan(i * width, width));
    const auto found = places.find(texts.labels[i]);
    require<DataError>(found != places.end(),
                       "text {} of '{}' has the label '{}', which no text of the training set has",
                       i + 1, name, texts.labels[i].substr(0, 40));
    numbers.push_back(found->second);
  }
  DatasetInfo info{.name = name,
                   .classes = text_classes(labels),
                   .vocabulary = vocabulary.entries()};
  if (vocabulary.has_pairs()) {
    info.notes.emplace_back(
        "in scripts without spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) "
        "each letter and each pair of neighbours is a word");
  }
  return {{{"text", Tensor(std::move(ids), {std::ssize(texts.texts), length})}},
          {{"label", Tensor(std::move(numbers))}},
          std::move(info)};
}

Splits load_texts(const fs::path& folder, const TextOptions& options) {
  require(options.length >= 1, "expected a length of at least one id for a text; got {}",
          options.length);
  const TextParts parts = read_text_folder(folder);
  const Vocabulary vocabulary = options.words.empty()
                                    ? Vocabulary::from_texts(parts.train.texts, options.ids)
                                    : Vocabulary(options.words);
  require(vocabulary.size() <= options.ids, "expected at most {} words; got {}",
          options.ids - Vocabulary::kFirstWord, vocabulary.words().size());
  const std::vector<std::string> labels = label_names(parts.train);
  const auto encoded = [&](const LabelledTexts& texts) {
    return encode_texts(texts, labels, vocabulary, options.length, parts.name);
  };
  Splits splits{.train = encoded(parts.train), .test = encoded(parts.test)};
  if (!parts.validation.texts.empty()) splits.validation = encoded(parts.validation);
  DatasetInfo info = splits.train.info();
  info.notes.insert(info.notes.begin(), parts.notes.begin(), parts.notes.end());
  splits.train.set_info(std::move(info));
  return splits;
}

}  // namespace linnet
