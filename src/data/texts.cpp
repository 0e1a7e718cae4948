// SPDX-License-Identifier: Apache-2.0
#include "data/texts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "base/utf8.h"
#include "data/folder.h"
#include "data/image_folder.h"
#include "data/packed.h"
#include "data/validation_names.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostText = std::size_t{1} << 30;
constexpr std::size_t kMostLine = std::size_t{16} << 20;
constexpr std::size_t kMostTexts = 4'000'000;  // each takes more memory than its text
constexpr std::size_t kManyClasses = 100;      // so many are a mistake where most occur once
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

void add(std::string_view text, std::string_view label, const fs::path& path, LabelledTexts& to) {
  require<DataError>(to.labels.size() < kMostTexts, "'{}' has more than {} texts", path.string(),
                     kMostTexts);
  to.texts.emplace_back(text);
  to.labels.emplace_back(label);
}

void add_line(std::string_view line, std::size_t number, const fs::path& path, LabelledTexts& to) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return;
  if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  const std::size_t first = line.find('\t');
  require<DataError>(first != std::string_view::npos,
                     "line {} of '{}' has no tab; expected a label and a text after tabs", number,
                     path.string());
  const std::string_view label = line.substr(0, first);
  require<DataError>(!label.empty(), "line {} of '{}' has an empty label", number, path.string());
  require<DataError>(is_utf8(label), "line {} of '{}' has the label '{}', which is not UTF-8",
                     number, path.string(), escaped(std::string(label.substr(0, 40))));
  add(line.substr(line.rfind('\t') + 1), label, path, to);
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
      if (is_text(path)) add(read_file(path), label, path, texts);
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
  const auto [stopped, error] = std::from_chars(label.data(), end, value);
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

LabelledTexts read_text_lines(const fs::path& path) {
  LabelledTexts texts;
  std::size_t number = 0;
  std::string cut;  // the start of a line whose end is still to come
  const auto add = [&](std::string_view line) { add_line(line, ++number, path, texts); };
  // Line by line: a small packed file may hold a long table, or none.
  read_pieces(path, kMostText, [&](std::string_view piece) {
    for (std::size_t end; (end = piece.find('\n')) != std::string_view::npos;) {
      add(cut.empty() ? piece.substr(0, end) : cut += piece.substr(0, end));
      cut.clear();
      piece.remove_prefix(end + 1);
    }
    cut += piece;
    require<DataError>(cut.size() <= kMostLine, "line {} of '{}' has more than {} bytes",
                       number + 1, path.string(), kMostLine);
    return true;
  });
  if (!cut.empty()) add(cut);
  require<DataError>(!texts.labels.empty(), "'{}' holds no texts", path.string());
  const std::size_t classes =
      std::set<std::string>(texts.labels.begin(), texts.labels.end()).size();
  require<DataError>(classes <= kManyClasses || 2 * classes <= texts.labels.size(),
                     "'{}' has {} different labels in {} lines; expected the label first and the "
                     "text last in each "
                     "line, separated by tabs",
                     path.string(), classes, texts.labels.size());
  return texts;
}

bool holds_text_lines(const fs::path& path) {
  constexpr std::ptrdiff_t kLines = 20;
  constexpr std::size_t kWords = 3;
  std::string start;
  try {
    read_pieces(path, kMostLine, [&](std::string_view piece) {
      start += piece;
      return std::ranges::count(start, '\n') < kLines && start.size() < kMostLine;
    });
  } catch (const Error&) {
    return false;
  }
  std::size_t lines = 0;
  std::size_t words = 0;
  for (std::size_t begin = 0; begin < start.size();) {
    const std::size_t end = std::min(start.find('\n', begin), start.size());
    const std::string_view line = std::string_view(start).substr(begin, end - begin);
    begin = end + 1;
    if (line.empty() || line == "\r") continue;
    const std::size_t tab = line.rfind('\t');
    if (tab == std::string_view::npos) return false;
    words += 1 + static_cast<std::size_t>(std::ranges::count(line.substr(tab), ' '));
    for_each_word(line.substr(tab), WordRule::unicode,
                  [&](std::string_view word) { words += is_spaceless(word) ? 1 : 0; });
    ++lines;
  }
  return lines > 0 && words >= kWords * lines;
}

TextParts read_text_folder(const fs::path& folder) {
  TextParts parts{.name = folder_name(folder)};
  std::optional<LabelledTexts> train = read_part(folder, "train");
  std::optional<LabelledTexts> test;
  // Texts without labels, to be classified, measure nothing.
  const fs::path tree = folder / "test";
  std::error_code error;
  if (find_table(folder, "test") || holds_classes(tree)) {
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
    if (!find_table(folder, name) && !holds_classes(folder / name)) continue;
    if (auto found = read_part(folder, name)) held_out = *std::move(found);
  }
  parts.train = train ? *std::move(train) : read_classes(folder);
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
  return splits;
}

}  // namespace linnet
