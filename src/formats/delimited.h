// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {

/// A field of a record, in the text of its Records.
struct FieldText {
  std::uint32_t begin = 0;
  std::uint32_t size : 31 = 0;
  std::uint32_t quoted : 1 = 0;
};

/// Says how records are parted.
struct DelimitedFormat {
  char separator = ',';  ///< ' ': any number of blanks and tabs, also at both ends of a line
  /// Whether blanks around a field, also around its quotes, are left out.
  bool trims = false;
  std::size_t most_records = SIZE_MAX;  ///< reading ends after so many
  char comment = '\0';                  ///< lines that begin with it are left out; NUL: none
};

/// Holds the records of a delimited text (RFC 4180): fields between separators, which may stand in
/// double quotes; records end in LF, CRLF or CR. Empty lines and a byte order mark are left out.
///
/// A reader of its own, since no library serves that Debian 12, Debian 13 and Ubuntu 24.04 all
/// package: libcsv names no line of an error, libfccp-dev (fast-cpp-csv-parser) wants the columns
/// when it is compiled, and rapidcsv is not in Debian 12.
class Records {
 public:
  /// Takes the text over and parts it. Throws DataError naming `path` and the line: a quote without
  /// end, text after a closing quote, a NUL byte, UTF-16, more than 2^28 fields.
  Records(std::string text, const DelimitedFormat& format, const std::filesystem::path& path);

  std::size_t size() const { return lines_.size(); }
  std::span<const FieldText> operator[](std::size_t record) const {
    return std::span(fields_).subspan(starts_[record], starts_[record + 1] - starts_[record]);
  }
  /// Returns the field's text, two quotes within quotes as one.
  std::string_view text(const FieldText& field) const {
    return std::string_view(text_).substr(field.begin, field.size);
  }
  /// Returns the line of the file on which a record begins, from 1.
  std::size_t line(std::size_t record) const { return lines_[record]; }
  /// Returns the number of lines of comments.
  std::size_t comments() const { return comments_; }
  /// Keeps the first fields of each record that has more.
  void keep_fields(std::size_t count);

 private:
  /// Takes memory for as many fields and records as the text can have.
  void reserve(char separator);

  std::string text_;
  std::vector<FieldText> fields_;
  std::vector<std::size_t> starts_ = {0};  // of each record in fields_, and their end
  std::vector<std::uint32_t> lines_;
  std::size_t comments_ = 0;
};

}  // namespace linnet
