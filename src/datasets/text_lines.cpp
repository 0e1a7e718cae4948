// SPDX-License-Identifier: Apache-2.0
// Files of a text a line.
#include <algorithm>
#include <array>
#include <set>

#include "base/ascii.h"
#include "base/check.h"
#include "base/utf8.h"
#include "data/words.h"
#include "datasets/texts.h"
#include "formats/encoding.h"
#include "formats/packed.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostText = std::size_t{1} << 30;
constexpr std::size_t kMostLine = std::size_t{16} << 20;
constexpr std::size_t kMostTexts = 4'000'000;  // each takes more memory than its text
constexpr std::size_t kManyClasses = 100;      // so many are a mistake where most occur once
constexpr std::size_t kLongestName = 16;
constexpr std::array<std::string_view, 16> kLabelNames{"label",     "labels",   "class", "category",
                                                       "sentiment", "target",   "topic", "intent",
                                                       "tag",       "polarity", "stars", "rating",
                                                       "score",     "emotion",  "genre", "is_spam"};
constexpr std::array<std::string_view, 16> kTextNames{
    "text",     "texts", "sentence", "review", "comment",  "content",  "message", "tweet",
    "document", "body",  "phrase",   "title",  "headline", "question", "reviews", "description"};

constexpr std::array<std::string_view, 6> kKeyNames{"id", "index", "key", "number", "no", "nr"};

std::string_view without_mark(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  line.remove_prefix(byte_order_mark(line));
  return line;
}

/// A name or a label without blanks and quotes around it.
std::string_view bare(std::string_view field) {
  while (field.starts_with(' ')) field.remove_prefix(1);
  while (field.ends_with(' ')) field.remove_suffix(1);
  const bool quoted = field.size() > 2 && field.front() == '"' && field.back() == '"';
  return quoted ? field.substr(1, field.size() - 2) : field;
}

template <std::size_t N>
bool is_one_of(std::string_view field, const std::array<std::string_view, N>& names) {
  field = bare(field);
  if (field.size() > kLongestName) return false;
  return std::ranges::count(names, lower_ascii(field)) > 0;
}

/// Of fields, the label and the text; nothing where they name no columns.
std::optional<TextFields> named_among(const std::vector<std::string_view>& names) {
  std::optional<TextFields> fields;
  std::optional<std::size_t> label;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!fields && is_one_of(names[i], kTextNames)) {
      fields = TextFields{.text = i};
    } else if (!label && is_one_of(names[i], kLabelNames)) {
      label = i;
    }
  }
  // Texts without labels may have a key.
  const bool key = names.size() == 2 && fields && is_one_of(names[1 - fields->text], kKeyNames);
  if (!fields || (!label && names.size() > 1 && !key)) return std::nullopt;
  fields->label = label;
  return fields;
}

/// Takes the lines of a file one by one.
class LineReader {
 public:
  LineReader(const fs::path& path, LabelledTexts& to) : path_(path), to_(to) {}

  void add(std::string_view line) {
    ++number_;
    if (number_ == 1) {
      line = without_mark(line);
      fields_ = named_fields(line);
      if (fields_ && fields_->label) {
        to_.note =
            fmt::format("line 1 of '{}' names the columns of labels and texts: '{}', '{}'",
                        path_.string(), field(line, *fields_->label), field(line, fields_->text));
        return;
      }
      fields_.reset();
    }
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) return;
    const std::size_t first = line.find('\t');
    if (first == std::string_view::npos) refuse(line);
    require<DataError>(line.find('\0') == std::string_view::npos,
                       "line {} of '{}' holds a NUL byte; expected UTF-8 text", number_,
                       path_.string());
    const std::string_view label =
        bare(fields_ ? field(line, *fields_->label) : line.substr(0, first));
    require<DataError>(!label.empty(), "line {} of '{}' has an empty label", number_,
                       path_.string());
    require<DataError>(is_utf8(label), "line {} of '{}' has the label '{}', which is not UTF-8",
                       number_, path_.string(), escaped(std::string(label.substr(0, 40))));
    to_.add(fields_ ? field(line, fields_->text) : line.substr(line.rfind('\t') + 1), label, path_);
  }
  std::size_t lines() const { return number_; }

 private:
  std::string_view field(std::string_view line, std::size_t place) const {
    const std::vector<std::string_view> fields = parted(line, '\t');
    require<DataError>(place < fields.size(),
                       "line {} of '{}' has {} fields between tabs; its first line names more",
                       number_, path_.string(), fields.size());
    return fields[place];
  }

  [[noreturn]] void refuse(std::string_view line) const {
    for (const char separator : {',', ';', '|'}) {
      const std::vector<std::string_view> names = parted(line, separator);
      const std::optional<TextFields> named = number_ == 1 ? named_among(names) : std::nullopt;
      if (!named || !named->label) continue;
      fail<DataError>(
          "'{}' is a table with '{}' between its fields: name its columns, --text {} "
          "--target {}",
          path_.string(), separator, names[named->text], names[*named->label]);
    }
    fail<DataError>("line {} of '{}' has no tab; expected a label and a text after tabs", number_,
                    path_.string());
  }

  const fs::path& path_;
  LabelledTexts& to_;
  std::size_t number_ = 0;
  std::optional<TextFields> fields_;
};

/// Returns the first lines of a file, kMostLine bytes of it at most.
std::string start_of(const fs::path& path, std::ptrdiff_t lines) {
  std::string start;
  read_pieces(path, kMostLine, [&](std::string_view piece) {
    start += piece;
    return std::ranges::count(start, '\n') < lines && start.size() < kMostLine;
  });
  return start;
}

}  // namespace

std::vector<std::string_view> parted(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  for (std::size_t end; (end = line.find(separator)) != std::string_view::npos;) {
    fields.push_back(line.substr(0, end));
    line.remove_prefix(end + 1);
  }
  fields.push_back(line);
  return fields;
}

std::optional<TextFields> named_fields(std::string_view line) {
  return named_among(parted(without_mark(line), '\t'));
}

void LabelledTexts::add(std::string_view text, std::string_view label, const fs::path& path) {
  require<DataError>(labels.size() < kMostTexts, "'{}' has more than {} texts", path.string(),
                     kMostTexts);
  labels.emplace_back(label);
  if (is_utf8(text)) {
    texts.emplace_back(text);
    return;
  }
  texts.push_back(from_western(text));
  if (western) return;
  western = true;
  note += fmt::format("{}'{}' is not UTF-8 and is read as Windows-1252", note.empty() ? "" : "; ",
                      path.string());
}

LabelledTexts read_text_lines(const fs::path& path) {
  LabelledTexts texts;
  LineReader lines(path, texts);
  std::string cut;  // the start of a line whose end is still to come
  // Line by line: a small packed file may hold a long table, or none.
  read_pieces(path, kMostText, [&](std::string_view piece) {
    for (std::size_t end; (end = piece.find('\n')) != std::string_view::npos;) {
      lines.add(cut.empty() ? piece.substr(0, end) : cut += piece.substr(0, end));
      cut.clear();
      piece.remove_prefix(end + 1);
    }
    cut += piece;
    require<DataError>(cut.size() <= kMostLine, "line {} of '{}' has more than {} bytes",
                       lines.lines() + 1, path.string(), kMostLine);
    return true;
  });
  if (!cut.empty()) lines.add(cut);
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

bool holds_labels(const fs::path& path) {
  bool tabs = false;
  read_pieces(path, kMostText, [&](std::string_view piece) {
    tabs = tabs || piece.find('\t') != std::string_view::npos;
    return !tabs;
  });
  if (!tabs) return false;
  const std::string start = start_of(path, 1);
  const std::optional<TextFields> named =
      named_fields(std::string_view(start).substr(0, start.find('\n')));
  return !named || named->label.has_value();
}

bool holds_text_lines(const fs::path& path) {
  constexpr std::ptrdiff_t kLines = 20;
  constexpr std::size_t kWords = 3;
  std::string start;
  try {
    start = start_of(path, kLines);
  } catch (const Error&) {
    return false;
  }
  std::size_t lines = 0;
  std::size_t words = 0;
  std::optional<TextFields> named;
  for (std::size_t begin = 0; begin < start.size();) {
    const std::size_t end = std::min(start.find('\n', begin), start.size());
    const std::string_view line = std::string_view(start).substr(begin, end - begin);
    const bool first = begin == 0;
    begin = end + 1;
    if (line.empty() || line == "\r") continue;
    const std::size_t tab = line.rfind('\t');
    if (tab == std::string_view::npos) return false;
    if (first) named = named_fields(line);
    if (first && named) continue;
    const std::vector<std::string_view> fields = parted(line, '\t');
    const std::string_view text =
        fields[std::min(named ? named->text : fields.size(), fields.size() - 1)];
    words += 1 + static_cast<std::size_t>(std::ranges::count(text, ' '));
    for_each_word(text, WordRule::unicode,
                  [&](std::string_view word) { words += is_spaceless(word) ? 1 : 0; });
    ++lines;
  }
  return lines > 0 && words >= kWords * lines;
}

}  // namespace linnet
