// SPDX-License-Identifier: Apache-2.0
#include "tasks/table/table_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "base/utf8.h"
#include "table/survey_table.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostNamed = 4;  // categories in the text; --json has more

Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(); }

std::string_view type_name(ColumnType type) {
  return column_type_names()[static_cast<std::size_t>(type)];
}

std::string_view separator_name(char separator) {
  switch (separator) {
    case '\t': return "tab";
    case ';': return "';'";
    case '|': return "'|'";
    default: return "','";
  }
}

Json column_json(const ColumnSurvey& column) {
  Json json{{"name", column.name},
            {"type", type_name(column.type)},
            {"missing", column.missing},
            {"distinct", column.distinct}};
  if (column.numbers) {
    json["least"] = column.least;
    json["most"] = column.most;
    json["mean"] = column.mean;
    json["std"] = column.std;
    json["histogram"] = column.histogram;
    json["not_finite"] = column.not_finite;
  }
  if (!column.first.empty()) {
    json["first"] = column.first;
    json["last"] = column.last;
  }
  if (!column.frequent.empty()) {
    json["frequent"] = Json::array();
    for (const auto& [text, count] : column.frequent) {
      json["frequent"].push_back({{"value", text}, {"rows", count}});
    }
  }
  json["pearson"] = number_json(column.pearson);
  json["spearman"] = number_json(column.spearman);
  json["cramers_v"] = number_json(column.cramers_v);
  return json;
}

/// Ten bars of eight heights.
std::string histogram_text(const ColumnSurvey& column) {
  static constexpr std::array<const char*, 9> kBars{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::int64_t most = *std::ranges::max_element(column.histogram);
  std::string text;
  for (const std::int64_t count : column.histogram) {
    text += kBars[static_cast<std::size_t>(most > 0 ? (8 * count + most - 1) / most : 0)];
  }
  return text;
}

std::string values_text(const ColumnSurvey& column) {
  if (!column.first.empty()) {
    return fmt::format("{} {} to {}", histogram_text(column), escaped(column.first),
                       escaped(column.last));
  }
  if (column.numbers) {
    return fmt::format("{} {:.4g} to {:.4g}, mean {:.4g}, std {:.3g}{}", histogram_text(column),
                       column.least, column.most, column.mean, column.std,
                       column.not_finite > 0 ? fmt::format(", {} not finite", column.not_finite)
                                             : "");
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(column.frequent.size(), kMostNamed); ++i) {
    const auto& [value, count] = column.frequent[i];
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", escaped(value), count);
  }
  if (column.distinct > static_cast<std::int64_t>(kMostNamed) && !text.empty()) {
    text += fmt::format(", and {} more", column.distinct - static_cast<std::int64_t>(kMostNamed));
  }
  return text.empty() ? fmt::format("{} different values", column.distinct) : text;
}

std::string correlation_text(const ColumnSurvey& column) {
  if (std::isfinite(column.pearson) && std::isfinite(column.spearman)) {
    return fmt::format("Pearson {:+.2f}, Spearman {:+.2f}", column.pearson, column.spearman);
  }
  if (std::isfinite(column.cramers_v)) return fmt::format("Cramér's V {:.2f}", column.cramers_v);
  return "";
}

}  // namespace

TaskSurvey survey_of_table(const Table& table, const std::string& file, const std::string& target) {
  const std::size_t column =
      target.empty() ? std::numeric_limits<std::size_t>::max() : table.find(target);
  const std::vector<ColumnSurvey> columns = survey_table(table, column);
  Json all{{"path", file},
           {"format", "table"},
           {"rows", table.rows()},
           {"header", table.has_header()},
           {"separator", std::string(1, table.separator())},
           {"decimal", std::string(1, table.decimal())},
           {"target", target.empty() ? Json(nullptr) : Json(table.columns()[column].name)},
           {"notes", table.notes()},
           {"columns", Json::array()}};
  for (const ColumnSurvey& one : columns) all["columns"].push_back(column_json(one));
  std::string text = fmt::format("{}: {}, {}, {}, separator {}{}\n", file,
                                 counted(table.rows(), "row"), counted(columns.size(), "column"),
                                 table.has_header() ? "with a header" : "without a header",
                                 separator_name(table.separator()),
                                 table.decimal() == ',' ? ", decimal comma" : "");
  for (const std::string& note : table.notes()) text += escaped(note) + "\n";
  std::size_t width = 0;
  for (const ColumnSurvey& one : columns) width = std::max(width, escaped(one.name).size());
  width = std::min<std::size_t>(width, 40);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const ColumnSurvey& one = columns[i];
    const std::string correlation = i == column ? "target" : correlation_text(one);
    text += fmt::format("{:>4}  {:<{}}  {:<10}  {}{}{}\n", i + 1, escaped(one.name), width,
                        type_name(one.type), values_text(one),
                        one.missing > 0 ? fmt::format("; {} missing", one.missing) : "",
                        correlation.empty() ? "" : "; " + correlation);
  }
  return {.json = std::move(all), .text = std::move(text)};
}

}  // namespace linnet
