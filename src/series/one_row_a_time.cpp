// SPDX-License-Identifier: Apache-2.0
// Several rows of one time become one.
#include <algorithm>
#include <string_view>

#include "base/check.h"
#include "series/find_step.h"
#include "table/contents.h"
#include "table/raw_columns.h"

namespace linnet {
namespace {

/// The rows of equal times, of which `add` hears in the order of the file.
template <class Add>
void for_each_time(std::vector<TimedRows> all, const Add& add) {
  std::vector<std::vector<std::int64_t>> times;
  for (const TimedRows& series : all) {
    for (std::size_t i = 0; i < series.rows.size(); ++i) {
      if (i == 0 || series.rows[i].time != series.rows[i - 1].time) times.emplace_back();
      times.back().push_back(series.rows[i].row);
    }
  }
  std::ranges::sort(times, {}, [](const std::vector<std::int64_t>& rows) { return rows.front(); });
  for (const std::vector<std::int64_t>& rows : times) add(rows);
}

/// Makes rows of texts: numbers are added up, of other values the last is taken.
class Merging {
 public:
  Merging(const Table& table, std::size_t time, bool mean)
      : table_(table), time_(time), mean_(mean) {}

  std::vector<std::string> merged(const std::vector<std::int64_t>& rows) const {
    std::vector<std::string> fields;
    for (std::size_t i = 0; i < table_.columns().size(); ++i) {
      fields.push_back(i == time_ ? std::string(table_.text(rows.front(), i)) : value(rows, i));
    }
    return fields;
  }

 private:
  bool is_number(std::size_t column) const {
    const ColumnType type = table_.columns()[column].type;
    return type == ColumnType::number || type == ColumnType::integer;
  }

  std::string value(const std::vector<std::int64_t>& rows, std::size_t column) const {
    double sum = 0;
    std::int64_t count = 0;
    std::string last;
    for (const std::int64_t row : rows) {
      if (table_.missing(row, column)) continue;
      last = table_.text(row, column);
      if (!is_number(column)) continue;
      sum += table_.number(row, column);
      ++count;
    }
    if (count == 0) return last;
    return fmt::format("{}", mean_ ? sum / static_cast<double>(count) : sum);
  }

  const Table& table_;
  std::size_t time_;
  bool mean_;
};

}  // namespace

Table one_row_a_time(const Table& table, const SeriesColumns& columns, const SeriesRecord& record) {
  if (record.same_time == SameTime::refuse || record.time_kind == TimeKind::rows) return table;
  std::vector<TimedRows> all = rows_by_time(table, columns, record);
  const bool first = record.same_time == SameTime::first;
  if (first || record.same_time == SameTime::last) {
    std::vector<std::int64_t> taken;
    for_each_time(std::move(all), [&](const std::vector<std::int64_t>& rows) {
      taken.push_back(first ? rows.front() : rows.back());
    });
    return table.take(taken);
  }
  const Merging merging(table, columns.need(record.time), record.same_time == SameTime::mean);
  std::vector<std::vector<std::string>> rows;
  for_each_time(std::move(all), [&](const std::vector<std::int64_t>& same) {
    rows.push_back(merging.merged(same));
  });
  return remade(table, record, rows, record.reading.order);
}

Table remade(const Table& table, const SeriesRecord& record,
             const std::vector<std::vector<std::string>>& rows, DateOrder order) {
  // Columns that the record finds by place get the names by which it knows them.
  const bool by_name = record.learned.header && table.has_header();
  std::vector<std::string> names = record.columns;
  for (std::size_t i = 0; by_name && i < table.columns().size(); ++i) {
    names.resize(table.columns().size());
    names[i] = table.columns()[i].name;
  }
  TableOptions options;
  options.missing = record.learned.missing;
  options.missing_words = record.learned.words;
  options.date_order = order;
  const TableContents& contents = *table.contents();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!contents.given_types[i]) continue;
    const ColumnType type = contents.columns[i].type;  // a mean need not be whole
    options.types[names[i]] = type == ColumnType::integer ? ColumnType::number : type;
  }
  return table_of_texts(names, rows, table.name(), std::move(options));
}

}  // namespace linnet
