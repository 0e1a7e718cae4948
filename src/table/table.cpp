// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "base/memory.h"
#include "describe/nearest.h"
#include "formats/encoding.h"
#include "formats/packed.h"
#include "table/contents.h"
#include "table/spreadsheet.h"

namespace linnet {
namespace {

constexpr std::size_t kMostBytes = (std::size_t{1} << 31) - 1;
const std::string kNoName;
const std::vector<TableColumn> kNoColumns;
const std::vector<std::string> kNoNotes;

void check(const TableOptions& options) {
  if (options.separator) {
    require(std::string_view(",;|\t ").find(*options.separator) != std::string_view::npos,
            "a separator is ',', ';', '|', a tab or blanks; got '{}'", *options.separator);
  }
  if (options.decimal) {
    require(*options.decimal == '.' || *options.decimal == ',',
            "a decimal separator is '.' or ','; got '{}'", *options.decimal);
    require(options.decimal != options.separator, "separator and decimal separator are both '{}'",
            *options.decimal);
  }
  if (!options.thousands || *options.thousands == '\0') return;
  require(std::string_view(",. '").find(*options.thousands) != std::string_view::npos,
          "a separator of thousands is ',', '.', a blank or an apostrophe; got '{}'",
          *options.thousands);
  require(options.thousands != options.decimal,
          "the separators of decimals and thousands are both '{}'", *options.thousands);
}

}  // namespace

bool is_header_alone(const TableContents& table, std::span<const std::string_view> names) {
  if (table.header || table.records.size() != 1) return false;
  return std::ranges::all_of(names, [&](std::string_view name) {
    return std::ranges::any_of(table.records[0], [&](const FieldText& field) {
      return table.records.text(field) == name;
    });
  });
}

std::size_t find_column(const TableContents& table, std::string_view column) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == column) return i;
    names.push_back(table.columns[i].name);
  }
  require<DataError>(!is_header_alone(table, {&column, 1}), "'{}' holds a header and no rows",
                     table.name);
  const Records& records = table.records;
  require<DataError>(table.header || std::ranges::none_of(records[0],
                                                          [&](const FieldText& field) {
                                                            return records.text(field) == column;
                                                          }),
                     "'{}' has no column '{}': its first record, which holds it, is read as a row; "
                     "--header reads it as names",
                     table.name, column);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), number);
  if (error == std::errc() && end == column.data() + column.size()) {
    require<DataError>(number >= 1 && number <= names.size(),
                       "'{}' has {} columns, numbered from 1; got {}", table.name, names.size(),
                       column);
    return number - 1;
  }
  fail<DataError>("'{}' has no column '{}'{}", table.name, column,
                  did_you_mean(column, names, "it has"));
}

Table::Table(std::shared_ptr<const TableContents> contents) : contents_(std::move(contents)) {
  rows_.resize(contents_->rows());
  std::iota(rows_.begin(), rows_.end(), 0U);
}

const std::string& Table::name() const { return contents_ ? contents_->name : kNoName; }
const std::vector<TableColumn>& Table::columns() const {
  return contents_ ? contents_->columns : kNoColumns;
}
std::size_t Table::find(std::string_view column) const {
  require<DataError>(contents_ != nullptr, "the table is empty; it has no column '{}'", column);
  return find_column(*contents_, column);
}
bool Table::has_header() const { return contents_ && contents_->header; }
char Table::separator() const { return contents_ ? contents_->separator : ','; }
char Table::decimal() const { return contents_ ? contents_->decimal : '.'; }
const std::vector<std::string>& Table::notes() const {
  return contents_ ? contents_->notes : kNoNotes;
}

std::string_view Table::field(std::int64_t row, std::size_t column) const {
  require(row >= 0 && row < rows() && column < columns().size(),
          "the table '{}' has {} rows and {} columns; got row {}, column {}", name(), rows(),
          columns().size(), row, column);
  return contents_->field(rows_[static_cast<std::size_t>(row)], column);
}

std::string_view Table::text(std::int64_t row, std::size_t column) const {
  const std::string_view text = field(row, column);
  return contents_->is_missing(text, contents_->readings[column].words) ? std::string_view() : text;
}

double Table::number(std::int64_t row, std::size_t column) const {
  const std::string_view field = text(row, column);
  if (field.empty()) return std::numeric_limits<double>::quiet_NaN();
  const std::optional<double> number = number_of(field, contents_->readings[column].format);
  if (!number || !std::isfinite(*number)) {  // require() would write the place for each number
    fail<DataError>("{}: expected a finite number; got '{}'", place(row, column),
                    in_message(field));
  }
  return *number;
}

std::string Table::place(std::int64_t row, std::size_t column) const {
  static_cast<void>(text(row, column));  // it is there
  return contents_->place(rows_[static_cast<std::size_t>(row)], column);
}

Table Table::take(std::span<const std::int64_t> rows) const {
  Table taken(*this);
  taken.rows_.clear();
  for (const std::int64_t row : rows) {
    require(row >= 0 && row < this->rows(), "the table '{}' has {} rows; got row {}", name(),
            this->rows(), row);
    taken.rows_.push_back(rows_[static_cast<std::size_t>(row)]);
  }
  return taken;
}

namespace {

/// Reads a text; `note`: a sentence on how it was found, or none.
Table table_of(std::string text, const std::string& name, const TableOptions& options,
               const std::string& note, const std::string& encoding,
               std::size_t most_columns = kMostColumns) {
  return in_memory(fmt::format("the table '{}'", name), [&] {
    std::shared_ptr<TableContents> contents =
        read_records(std::move(text), name, options, most_columns);
    if (!note.empty()) contents->notes.insert(contents->notes.begin(), note);
    contents->source_note = note;
    contents->given.encoding = encoding;
    infer_types(*contents, options);
    return Table(std::move(contents));
  });
}

Table table_of_sheet(const std::filesystem::path& path, TableOptions options) {
  SheetText sheet = read_sheet(path, options.sheet);
  options.separator = ',';
  if (!options.comment) options.comment = '\0';
  return table_of(std::move(sheet.text), path.string(), options, sheet.note, options.encoding);
}

}  // namespace

Table parse_table(std::string text, const std::string& name, const TableOptions& options,
                  std::size_t most_columns) {
  check(options);
  return table_of(std::move(text), name, options, "", "", most_columns);
}

Table parse_table(std::string text, const std::string& name, const TableOptions& options) {
  return parse_table(std::move(text), name, options, kMostColumns);
}

Table read_table(const std::filesystem::path& path, const TableOptions& options) {
  check(options);
  std::string text = read_unpacked(path, kMostBytes);
  require<DataError>(
      !text.starts_with("PAR1"),
      "'{}' is a Parquet file, which linnet.table_task() in Python reads; save it as "
      "CSV",
      path.string());
  require<DataError>(
      !text.starts_with("\xD0\xCF\x11\xE0"),
      "'{}' is a spreadsheet of an older kind (.xls) or an encrypted one; save it as "
      ".xlsx or CSV",
      path.string());
  if (is_zip(text)) return table_of_sheet(path, options);
  require(options.sheet.empty(), "'{}' is not a spreadsheet: there is no sheet '{}'", path.string(),
          options.sheet);
  DecodedText decoded = decode_text(std::move(text), options.encoding, path.string());
  return table_of(std::move(decoded.text), path.string(), options, decoded.note, options.encoding);
}

bool is_table_name(const std::filesystem::path& path) {
  std::filesystem::path name = path.filename();
  if (name.extension() == ".gz" || name.extension() == ".xz") name = name.stem();
  return name.extension() == ".csv" || name.extension() == ".tsv" || name.extension() == ".tab" ||
         name.extension() == ".xlsx";
}

}  // namespace linnet
