// SPDX-License-Identifier: Apache-2.0
#include "tasks/table/table_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <variant>

#include "table/learned_range.h"
#include "table/transform_record.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostListed = 1000;  // categories of a column
constexpr std::size_t kMostNotes = 20;     // of a row
constexpr std::size_t kMostShown = 80;     // bytes of a text

/// Says of each kind of input what a page must know of it.
struct ShownField {
  Json operator()(const NumberInput& input) const {
    Json json{{"name", input.column}, {"kind", input.integer ? "integer" : "number"}};
    if (!input.range.empty()) json["range"] = input.range;
    return json;
  }
  Json operator()(const BooleanInput& input) const {
    return {{"name", input.column}, {"kind", "boolean"}};
  }
  Json operator()(const CategoryInput& input) const {
    const std::size_t count = std::min(input.categories.size(), kMostListed);
    return {{"name", input.column},
            {"kind", "category"},
            {"categories", std::vector<std::string>(input.categories.begin(),
                                                    input.categories.begin() +
                                                        static_cast<std::ptrdiff_t>(count))}};
  }
  Json operator()(const DateInput& input) const {
    return {{"name", input.column}, {"kind", "date"}};
  }
};

/// Returns the place of a column, by its name, or as in the training's file where the rows have no
/// names; nothing where it is not there.
std::optional<std::size_t> place_of(const TransformRecord& record, const Table& rows,
                                    const std::string& column) {
  const auto named = std::ranges::find(rows.columns(), column, &TableColumn::name);
  if (named != rows.columns().end()) {
    return static_cast<std::size_t>(named - rows.columns().begin());
  }
  if (rows.columns().size() != record.columns.size()) return std::nullopt;
  return static_cast<std::size_t>(std::ranges::find(record.columns, column) -
                                  record.columns.begin());
}

/// Adds the notes on one column.
class Notes {
 public:
  Notes(const Table& rows, std::size_t column, std::vector<std::vector<std::string>>& to)
      : rows_(rows), column_(column), to_(to) {}

  void operator()(const NumberInput& input) {
    for (std::int64_t row = 0; row < rows_.rows(); ++row) {
      if (rows_.missing(row, column_)) continue;
      const double value = rows_.number(row, column_);
      if (!is_outside(input.range, value)) continue;
      add(row, fmt::format("'{}' is {:.7g}; the model learned from {}", input.column, value,
                           numbers_text(input.range)));
    }
  }
  void operator()(const CategoryInput& input) {
    const std::unordered_set<std::string_view> known(input.categories.begin(),
                                                     input.categories.end());
    for (std::int64_t row = 0; row < rows_.rows(); ++row) {
      const std::string_view text = rows_.text(row, column_);
      if (text.empty() || known.contains(text)) continue;
      add(row, fmt::format("'{}' is '{}', which the model does not know", input.column,
                           text.substr(0, kMostShown)));
    }
  }
  void operator()(const BooleanInput& /*input*/) {}
  void operator()(const DateInput& input) {
    for (std::int64_t row = 0; row < rows_.rows(); ++row) {
      const std::string_view text = rows_.text(row, column_);
      const std::optional<DateTime> date = date_of(text, input.reading());
      if (!date || !is_far(input.range, static_cast<double>(date->day), 1)) continue;
      add(row, fmt::format("'{}' is {}; the model learned from {}", input.column, in_message(text),
                           days_text(input.range)));
    }
  }

 private:
  void add(std::int64_t row, std::string note) {
    auto& notes = to_[static_cast<std::size_t>(row)];
    if (notes.size() < kMostNotes) notes.push_back(std::move(note));
  }

  const Table& rows_;
  std::size_t column_;
  std::vector<std::vector<std::string>>& to_;
};

}  // namespace

nlohmann::ordered_json fields_json(const TableTransform& table) {
  Json fields = Json::array();
  for (const TableInput& input : table.record().inputs)
    fields.push_back(std::visit(ShownField(), input));
  return fields;
}

std::vector<std::vector<std::string>> row_notes(const TableTransform& transform,
                                                const Table& rows) {
  std::vector<std::vector<std::string>> notes(static_cast<std::size_t>(rows.rows()));
  for (const TableInput& input : transform.record().inputs) {
    const auto column = place_of(transform.record(), rows, column_of(input));
    if (column) std::visit(Notes(rows, *column, notes), input);
  }
  return notes;
}

}  // namespace linnet
