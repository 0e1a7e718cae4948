// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {
struct TableContents;
}

LINNET_API_BEGIN
namespace linnet {

/// Names what a column of a table holds.
enum class ColumnType : std::uint8_t {
  number,    ///< numbers, some with a fraction
  integer,   ///< whole numbers
  category,  ///< texts, one of several
  /// two values, one true and one false: 1 and 0, true and false, yes and no, t and f, y and n, in
  /// any case
  boolean,
  /// dates, perhaps with a time: 2024-03-31, 2024-03-31 14:05:00, 31/03/2024, 31.03.24,
  /// 3/31/2024 2:05 PM, 31-Mar-24, March 31, 2024; months (2024-03, Mar 2024), quarters (2024Q1)
  /// and ISO weeks (2024-W13), of which the first day counts; times with an offset from UTC
  /// (+01:00) are read as UTC
  date_time,
  constant,    ///< the same value in all rows, of which less than 3 have none
  identifier,  ///< another value in each row: texts, or whole numbers that count up by 1
};

/// Returns the names of all types, in the order of ColumnType: "number", ..., "date_time", ...
std::vector<std::string_view> column_type_names();

/// Names the order of the parts of a date.
enum class DateOrder : std::uint8_t {
  year_first,   ///< 2024-03-31, 24-03-31
  day_first,    ///< 31/03/2024
  month_first,  ///< 3/31/2024
};

/// Returns the names of all orders: "year_first", ...
std::vector<std::string_view> date_order_names();

/// Says how read_table() reads a file. Defaults find everything by themselves.
struct TableOptions {
  /// Separator: ',', ';', '|', a tab, or ' ' for blanks and tabs, any number of them. Unset: the
  /// first of tab, ';', '|', ',' and ' ' that parts all of the first 100 records into equally many
  /// fields; blanks do so only where one of the columns holds numbers.
  std::optional<char> separator = {};
  /// Whether the first record names the columns. Unset: it does where it holds texts and the column
  /// below numbers or dates, or texts that the column does not repeat.
  std::optional<bool> header = {};
  /// Decimal separator, '.' or ','. Unset: the values of each column say it; where 1.234 may be
  /// either number, the other columns, the separator of fields and the column's other values do,
  /// and a note names it.
  std::optional<char> decimal = {};
  /// Separator of groups of three digits: ',', '.', ' ' (of all kinds) or '\''; NUL: there are
  /// none. Unset: found as `decimal` is.
  std::optional<char> thousands = {};
  /// Texts that stand for a missing value in every column, beside the empty field.
  std::vector<std::string> missing = {};
  /// Texts that stand for a missing value in columns whose other values are numbers, dates or truth
  /// values. In a column of texts they are texts: "-" beside "+", a class called "None".
  std::vector<std::string> missing_words = {"?",     "NA",      "N/A",    "n/a",    "n.a.",
                                            "<NA>",  "NaN",     "nan",    "NaT",    "null",
                                            "NULL",  "None",    "none",   "#N/A",   "#DIV/0!",
                                            "#REF!", "#VALUE!", "#NAME?", "#NUM!",  "#NULL!",
                                            "-",     "--",      "\u2013", "\u2014", "..",
                                            "."};
  /// Types of columns, by name or number from 1, instead of the inferred ones.
  std::map<std::string, ColumnType> types = {};
  /// Order of the parts of all dates. Unset: by column, the order that reads most values; of
  /// several, the one whose dates follow each other at equal steps, else month_first beside AM and
  /// PM, else day_first, with a note.
  std::optional<DateOrder> date_order = {};
  /// Encoding of a file, a name that iconv knows, e.g. "cp1251". Empty: UTF-8; UTF-16 with a byte
  /// order mark or where every other byte is zero; else Windows-1252, with a note.
  std::string encoding = {};
  /// First character of lines that are comments; '\0': there are none. Unset: '#' where a file
  /// begins with it. The last of the first comments names the columns where it has their number.
  std::optional<char> comment = {};
  std::string sheet = {};  ///< sheet of a spreadsheet, by name or number from 1; empty: the first
};

/// Describes a column of a table.
struct TableColumn {
  std::string name;                      ///< its name in the header; without one "column_1", ...
  ColumnType type = ColumnType::number;  ///< inferred from all rows, or given
  std::int64_t missing = 0;              ///< rows without a value
  std::int64_t distinct = 0;             ///< different values, missing ones aside
};

/// Holds the rows of a delimited text file as they stand there. A cheap handle: copies share the
/// text. `const` functions may be called from several threads at once.
class Table {
 public:
  /// Makes a table without columns and rows.
  Table() = default;

  /// Returns the file's name, or the name that parse_table() was given.
  const std::string& name() const;
  /// Returns the number of rows, without the header.
  std::int64_t rows() const { return static_cast<std::int64_t>(rows_.size()); }
  /// Returns the columns, in order; their counts are those of the whole file.
  const std::vector<TableColumn>& columns() const;
  /// Returns the place of a column, from 0, by its name, else by its number from 1. Throws
  /// DataError with the nearest name, or with the number of columns.
  std::size_t find(std::string_view column) const;
  /// Returns whether the first record of the file names the columns.
  bool has_header() const;
  /// Returns the separator that the file was read with.
  char separator() const;
  /// Returns the decimal separator of most columns, '.' or ','.
  char decimal() const;
  /// Returns sentences on what was decided while reading.
  const std::vector<std::string>& notes() const;

  /// Returns a field's text, without blanks around it; "" where the value is missing.
  std::string_view text(std::int64_t row, std::size_t column) const;
  /// Returns whether a field holds no value.
  bool missing(std::int64_t row, std::size_t column) const { return text(row, column).empty(); }
  /// Returns a field's number; NaN where the value is missing. Throws DataError naming row and
  /// column for a text that is not a finite number.
  double number(std::int64_t row, std::size_t column) const;
  /// Returns "'x.csv', row 12 (line 13), column 'age'", for messages.
  std::string place(std::int64_t row, std::size_t column) const;

  /// Returns these rows in this order, of the same text. Throws Error naming a row that is not
  /// there.
  Table take(std::span<const std::int64_t> rows) const;

  /// @cond
  // For the library.
  explicit Table(std::shared_ptr<const TableContents> contents);
  const std::shared_ptr<const TableContents>& contents() const { return contents_; }
  /// Returns a field as the file has it.
  std::string_view field(std::int64_t row, std::size_t column) const;
  /// @endcond

 private:
  std::shared_ptr<const TableContents> contents_;  // null: no columns
  std::vector<std::uint32_t> rows_;
};

/// Reads a table of delimited text (CSV, TSV; RFC 4180), plain or packed as .gz or .xz, of at most
/// 2 GiB, 65,536 columns and 2^28 fields, or a sheet of a spreadsheet (.xlsx). Blanks around fields
/// are left out, and so are an empty last field of all records, and lines of comments. Equal names
/// of columns are numbered: "x", "x_2". Throws DataError naming the line for a record of another
/// number of fields than the first, a quote without end and text after a closing quote; naming row
/// and column for values that a given type does not allow; for text of an unknown encoding; for
/// Parquet files and damaged spreadsheets; and for a file without rows. Throws Error for options
/// out of range.
Table read_table(const std::filesystem::path& path, const TableOptions& options = {});

/// Returns the table of a delimited text in memory, in UTF-8, as read_table() reads files. `name`
/// stands for the file in messages.
Table parse_table(std::string text, const std::string& name = "table",
                  const TableOptions& options = {});

/// Returns whether a path is named like a table: .csv, .tsv or .tab, also packed (.csv.gz,
/// .csv.xz), or .xlsx.
bool is_table_name(const std::filesystem::path& path);

}  // namespace linnet
LINNET_API_END
