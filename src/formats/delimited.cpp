// SPDX-License-Identifier: Apache-2.0
#include "formats/delimited.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"

namespace linnet {
namespace {

constexpr std::size_t kMostFields = std::size_t{1} << 28;
constexpr std::size_t kMostBytes = std::size_t{1} << 31;

/// Goes through the text from its front; fields in quotes are written over it without their quotes.
class Parser {
 public:
  Parser(std::string& text, const DelimitedFormat& format, const std::filesystem::path& path)
      : text_(text), format_(format), path_(path), at_(byte_order_mark(text)) {
    for (const char c : {'\0', '\n', '\r', format_.separator})
      ends_[static_cast<unsigned char>(c)] = true;
    if (by_blanks()) ends_['\t'] = true;
  }

  bool done() const { return at_ >= text_.size(); }
  std::uint32_t line() const { return line_; }

  /// Passes over a line of a comment; returns whether there was one.
  bool comment() {
    if (format_.comment == '\0' || done() || text_[at_] != format_.comment) return false;
    at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
    end_line();
    return true;
  }

  /// Appends the fields of a record; returns whether it is more than an empty line.
  bool record(std::vector<FieldText>& fields) {
    const std::size_t first = fields.size();
    do {
      require<DataError>(fields.size() < kMostFields, "'{}' has more than {} fields",
                         path_.string(), kMostFields);
      fields.push_back(field());
    } while (take_separator());
    require<DataError>(end_line(), "line {} of '{}' has text after a closing quote", line_,
                       path_.string());
    const bool empty =
        fields.size() == first + 1 && fields[first].size == 0 && fields[first].quoted == 0;
    if (empty) fields.pop_back();
    return !empty;
  }

 private:
  bool by_blanks() const { return format_.separator == ' '; }
  bool take_separator() {
    if (!by_blanks()) return take(format_.separator);
    skip_blanks();
    return !done() && text_[at_] != '\n' && text_[at_] != '\r';
  }
  /// Takes the end of a line; returns whether there was one.
  bool end_line() {
    const bool returned = take('\r');
    if (!take('\n') && !returned && !done()) return false;
    ++line_;
    return true;
  }
  bool take(char c) {
    if (done() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool is_blank(char c) const { return c == ' ' || (c == '\t' && format_.separator != '\t'); }
  void skip_blanks() {
    while (format_.trims && !done() && is_blank(text_[at_])) ++at_;
  }

  FieldText field() {
    skip_blanks();
    if (take('"')) {
      const FieldText field = quoted();
      skip_blanks();
      return field;
    }
    const std::size_t begin = at_;
    while (!done() && !ends_[static_cast<unsigned char>(text_[at_])]) ++at_;
    require<DataError>(done() || text_[at_] != '\0',
                       "line {} of '{}' holds a NUL byte; expected UTF-8 text", line_,
                       path_.string());
    std::size_t end = at_;
    while (format_.trims && end > begin && is_blank(text_[end - 1])) --end;
    return made(begin, end, false);
  }

  /// After the opening quote.
  FieldText quoted() {
    const std::uint32_t first_line = line_;
    const std::size_t begin = at_;
    std::size_t to = at_;
    while (true) {
      const std::size_t end = text_.find('"', at_);
      require<DataError>(end != std::string::npos, "line {} of '{}' has a quote that does not end",
                         first_line, path_.string());
      line_ += static_cast<std::uint32_t>(
          std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                     text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
      to = static_cast<std::size_t>(std::copy(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                              text_.begin() + static_cast<std::ptrdiff_t>(end),
                                              text_.begin() + static_cast<std::ptrdiff_t>(to)) -
                                    text_.begin());
      at_ = end + 1;
      if (!take('"')) return made(begin, to, true);
      text_[to++] = '"';
    }
  }

  static FieldText made(std::size_t begin, std::size_t end, bool quoted) {
    FieldText field;
    field.begin = static_cast<std::uint32_t>(begin);
    field.size = static_cast<std::uint32_t>(end - begin) & 0x7FFFFFFFU;
    field.quoted = quoted ? 1 : 0;
    return field;
  }

  std::string& text_;
  const DelimitedFormat& format_;
  const std::filesystem::path& path_;
  std::array<bool, 256> ends_ = {};  ///< whether a field ends at a character
  std::size_t at_;
  std::uint32_t line_ = 1;
};

}  // namespace

Records::Records(std::string text, const DelimitedFormat& format, const std::filesystem::path& path)
    : text_(std::move(text)) {
  require<DataError>(text_.size() < kMostBytes, "'{}' has more than {} bytes", path.string(),
                     kMostBytes);
  require<DataError>(!text_.starts_with("\xFF\xFE") && !text_.starts_with("\xFE\xFF"),
                     "'{}' is UTF-16; save it as UTF-8", path.string());
  if (format.most_records == SIZE_MAX) reserve(format.separator);
  Parser parser(text_, format, path);
  while (!parser.done() && size() < format.most_records) {
    if (parser.comment()) {
      ++comments_;
      continue;
    }
    const std::uint32_t line = parser.line();
    if (!parser.record(fields_)) continue;
    starts_.push_back(fields_.size());
    lines_.push_back(line);
  }
}

void Records::reserve(char separator) {
  if (text_.empty()) return;
  // Growing by doubling would take up to three times as much.
  const auto count = [&](char c) { return static_cast<std::size_t>(std::ranges::count(text_, c)); };
  const std::size_t records = std::max(count('\n'), count('\r')) + 1;
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  std::size_t separators = count(separator);
  if (separator == ' ') {  // of several blanks the last one
    separators = blank(text_.back()) ? 1 : 0;
    for (std::size_t i = 1; i < text_.size(); ++i) {
      separators += blank(text_[i - 1]) && !blank(text_[i]) ? 1 : 0;
    }
  }
  fields_.reserve(std::min(records + separators, kMostFields));
  starts_.reserve(records + 1);
  lines_.reserve(records);
}

void Records::keep_fields(std::size_t count) {
  std::size_t to = 0;
  std::size_t begin = 0;
  for (std::size_t record = 0; record < size(); ++record) {
    const std::size_t end = starts_[record + 1];
    for (std::size_t i = begin; i < std::min(end, begin + count); ++i) fields_[to++] = fields_[i];
    begin = end;
    starts_[record + 1] = to;
  }
  fields_.resize(to);
}

}  // namespace linnet
