// SPDX-License-Identifier: Apache-2.0
// From a table's row to the network's inputs, as TableTransform::inputs() makes them.
#include <fmt/format.h>
#include <linnet/table_transform.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "base/check.h"
#include "c_export/function_file.h"
#include "table/transform_record.h"

namespace linnet {
namespace {

/// Writes the features of one input after the other.
class RowWriter {
 public:
  RowWriter(FunctionFile& file, const TransformRecord& record) : file_(file), record_(record) {}

  void operator()(const NumberInput& input) {
    const auto format = record_.reading.formats.find(input.column);
    const bool plain = format == record_.reading.formats.end() || format->second.plain();
    std::vector<std::string> quantiles;
    for (const double value : input.quantiles) quantiles.push_back(decimal(value));
    file_.line(fmt::format("number(row, {}, {}, {}, {}, {}, {}, {}, {}, in_numbers, {})",
                           file_.quote(input.column), plain ? 1 : 0,
                           file_.quote(scaling_names()[static_cast<std::size_t>(input.scaling)]),
                           decimal(input.center), decimal(input.scale),
                           quantiles.empty() ? "NULL, 0" : file_.numbers(quantiles) + ", 0",
                           decimal(input.fill), input.indicator ? 1 : 0, at_));
  }

  void operator()(const BooleanInput& input) {
    std::vector<std::string> words{"1", "0", "true", "false"};
    const std::vector<std::string> others = {"yes", "no", "t", "f", "y", "n"};
    const auto& more = input.words.empty() ? others : input.words;
    words.insert(words.end(), more.begin(), more.end());
    file_.line(fmt::format("flag(row, {}, {}, {}, {}, in_numbers, {})", file_.quote(input.column),
                           file_.texts(words), decimal(input.fill), input.indicator ? 1 : 0, at_));
  }

  void operator()(const CategoryInput& input) {
    const auto filled = std::ranges::find(input.categories, input.fill);
    const std::int64_t missing = input.missing ? input.places() - 1
                                 : filled == input.categories.end()
                                     ? 0
                                     : filled - input.categories.begin() + 1;
    const std::string place = fmt::format("place(row, {}, {}, {})", file_.quote(input.column),
                                          file_.texts(input.categories), missing);
    if (input.embedded) {
      file_.line(fmt::format("in_categories[{}] = {} + {}", ids_++, id_, place));
      id_ += input.places();
    } else {
      file_.line(fmt::format("in_numbers[{} + {}] = 1.0", at_, place));
    }
  }

  void operator()(const DateInput& input) {
    if (!dates_) file_.texts({"-", "/", ".", ":", " ", "T", "Z"}, "BETWEEN");
    dates_ = true;
    file_.line(fmt::format("date(row, {}, {}, {}, {}, {}, {}, {}, {}, in_numbers, {})",
                           file_.quote(input.column), static_cast<int>(input.order),
                           input.first_year, decimal(input.mean), decimal(input.std),
                           decimal(input.fill), input.times ? 1 : 0, input.indicator ? 1 : 0, at_));
  }

  void write() {
    for (const TableInput& input : record_.inputs) {
      std::visit(*this, input);
      at_ += width_of(input);
    }
  }

 private:
  FunctionFile& file_;
  const TransformRecord& record_;
  std::int64_t at_ = 0;   ///< the next feature
  std::int64_t ids_ = 0;  ///< the next column of ids
  std::int64_t id_ = 0;   ///< the next column's first id
  bool dates_ = false;
};

std::string kind_of_column(const TableInput& input) {
  struct Kind {
    std::string operator()(const NumberInput&) const { return "a number"; }
    std::string operator()(const BooleanInput&) const { return "a boolean"; }
    std::string operator()(const CategoryInput& of) const {
      return fmt::format("one of {} texts", of.categories.size());
    }
    std::string operator()(const DateInput&) const { return "a date"; }
  };
  return std::visit(Kind{}, input);
}

}  // namespace

std::vector<std::string> row_comment(const Model& model) {
  std::vector<std::string> lines{"predict() takes a row of the table, its columns by name:"};
  for (const TableInput& input : model.table().record().inputs) {
    lines.push_back(fmt::format("  {}: {}", harmless(column_of(input)), kind_of_column(input)));
  }
  return lines;
}

namespace {

/// Writes the network's inputs from `row`.
void write_inputs(FunctionFile& file, const TableTransform& table) {
  const std::int64_t features = std::ssize(table.feature_names());
  if (features > 0) file.line(fmt::format("list in_numbers = zeros({})", features));
  if (table.id_columns() > 0) {
    file.line(fmt::format("list in_categories = zeros({})", table.id_columns()));
  }
  RowWriter(file, table.record()).write();
}

/// Returns whether predict() returns one number.
bool is_one_value(const TableTransform& table) {
  return table.classes().empty() && table.targets().size() == 1;
}

std::vector<std::string> names_of_outputs(const TableTransform& table) {
  return table.classes().empty() ? table.targets() : table.classes();
}

}  // namespace

void write_row_function(FunctionFile& file, const Model& model, const InferenceGraph& graph) {
  const TableTransform& table = model.table();
  const TransformRecord& record = table.record();
  // A method of Java has at most 64 KiB.
  constexpr std::size_t kMostColumns = 1000;
  require(file.language() != "Java" || record.inputs.size() <= kMostColumns,
          "expected at most {} columns, which a function of Java holds; got {}", kMostColumns,
          record.inputs.size());
  std::vector<std::string> missing = record.reading.missing;
  missing.insert(missing.end(), record.reading.words.begin(), record.reading.words.end());
  file.texts(missing, "MISSING");
  const bool one = is_one_value(table);
  file.line(fmt::format("export {} predict(row row)", one ? "num" : "named"));
  write_inputs(file, table);
  file.line(fmt::format("list y = network({})", inputs_of(graph)));
  const std::vector<double> offsets = table.target_offsets();
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] != 0) file.line(fmt::format("y[{0}] = y[{0}] + {1}", i, decimal(offsets[i])));
  }
  file.line(one ? "return y[0]"
                : fmt::format("return named({}, y)", file.texts(names_of_outputs(table))));
  file.line("end");
}

void write_row_jacobian(FunctionFile& file, const Model& model, const InferenceGraph& graph) {
  const TableTransform& table = model.table();
  std::vector<std::string> columns;
  std::vector<std::string> places;  // of their features
  std::string slopes;
  std::int64_t at = 0;
  for (const TableInput& input : table.record().inputs) {
    if (const auto* number = std::get_if<NumberInput>(&input)) {
      require(number->scaling != Scaling::quantile,
              "column '{}' is scaled by quantiles, which have no derivative at their steps; train "
              "with another --scale",
              number->column);
      slopes += fmt::format("slopes[{}] = number_slope(row, {}, {}, {})\n", columns.size(),
                            file.quote(number->column),
                            file.quote(scaling_names()[static_cast<std::size_t>(number->scaling)]),
                            decimal(number->scale));
      columns.push_back(number->column);
      places.push_back(decimal(static_cast<double>(at)));
    }
    at += width_of(input);
  }
  require(!columns.empty(), "derivatives are by columns of numbers; the table has none");
  const std::vector<std::string> names = names_of_outputs(table);
  const bool one = is_one_value(table);
  file.exports("jacobian");
  file.line(fmt::format("export {} jacobian(row row)", one ? "named" : "nested"));
  write_inputs(file, table);
  file.line(fmt::format("list all = network_jacobian({})", inputs_of(graph)));
  file.line(fmt::format("list slopes = zeros({})\n{}", columns.size(), slopes));
  file.line(fmt::format("list d = zeros({})\nfor o to {}\nfor j to {}",
                        names.size() * columns.size(), names.size(), columns.size()));
  file.line(fmt::format("d[o * {0} + j] = all[o * {1} + whole({2}[j])] * slopes[j]\nend\nend",
                        columns.size(), at, file.numbers(places)));
  const std::string by = file.texts(columns);
  file.line(one ? fmt::format("return named({}, d)", by)
                : fmt::format("return nested({}, {}, cut(d, {}))", file.texts(names), by,
                              columns.size()));
  file.line("end");
}

}  // namespace linnet
