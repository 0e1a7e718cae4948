// SPDX-License-Identifier: Apache-2.0
#include "tasks/table/table_survey.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
constexpr std::size_t kMostRows = 8;   // of outliers, likewise

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

/// Returns the rows of outliers, from 1.
std::vector<std::int64_t> rows_from_1(const Box& box) {
  std::vector<std::int64_t> rows = box.outliers;
  for (std::int64_t& row : rows) ++row;
  return rows;
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
    json["box"] = {{"low", column.box.low},
                   {"first_quartile", column.box.first_quartile},
                   {"median", column.box.median},
                   {"third_quartile", column.box.third_quartile},
                   {"high", column.box.high}};
    json["outliers"] = rows_from_1(column.box);
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
  json["correlations"] = Json::array();
  for (const Correlation& of : column.correlations) {
    json["correlations"].push_back({{"form", of.form},
                                    {"r", of.r},
                                    {"lower", number_json(of.lower)},
                                    {"upper", number_json(of.upper)}});
  }
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

/// Returns the box plots of all numbers as lines, with the rows of their outliers.
std::string box_lines(const std::vector<ColumnSurvey>& columns, std::size_t width) {
  std::string text;
  for (const ColumnSurvey& one : columns) {
    if (!one.numbers || !one.first.empty()) continue;
    const Box& box = one.box;
    if (text.empty()) {
      text = fmt::format("Box plots{:>{}}{:>11}{:>11}{:>11}{:>11}  outliers (rows)\n", "low",
                         width + 8, "quartile", "median", "quartile", "high");
    }
    std::vector<std::int64_t> rows = rows_from_1(box);
    if (rows.size() > kMostRows) rows.resize(kMostRows);
    text += fmt::format("      {:<{}}{:>11.4g}{:>11.4g}{:>11.4g}{:>11.4g}{:>11.4g}  {}{}\n",
                        escaped(one.name), width, box.low, box.first_quartile, box.median,
                        box.third_quartile, box.high,
                        box.outliers.empty()
                            ? "none"
                            : fmt::format("{}: {}", box.outliers.size(), fmt::join(rows, ", ")),
                        box.outliers.size() > kMostRows ? ", ..." : "");
  }
  return text;
}

/// Returns the correlations with the target as lines, each with its limits.
std::string correlation_lines(const std::vector<ColumnSurvey>& columns, std::size_t width,
                              const std::string& target) {
  std::string text;
  for (const ColumnSurvey& one : columns) {
    if (one.correlations.empty()) continue;
    if (text.empty()) {
      text = fmt::format("Correlations with '{}', and limits of 95 %\n", escaped(target));
    }
    text += fmt::format("      {:<{}}", escaped(one.name), width);
    for (const Correlation& of : one.correlations) {
      text += fmt::format("  {} {:+.2f}", of.form, of.r);
      if (std::isfinite(of.lower)) text += fmt::format(" ({:+.2f} to {:+.2f})", of.lower, of.upper);
    }
    text += "\n";
  }
  return text;
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
  text += box_lines(columns, width);
  if (!target.empty()) text += correlation_lines(columns, width, table.columns()[column].name);
  return {.json = std::move(all), .text = std::move(text)};
}

}  // namespace linnet
