// SPDX-License-Identifier: Apache-2.0
#include "commands/forecast.h"

#include <fmt/format.h>
#include <linnet/series_task.h>
#include <linnet/training_warnings.h>

#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "commands/commands.h"
#include "report/json.h"
#include "report/metrics.h"
#include "report/series_report.h"

namespace linnet::command {
namespace {

/// A field of a CSV file (RFC 4180).
std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_of(const Model& model, const std::vector<ForecastStep>& steps) {
  const SeriesTransform& series = model.series();
  const bool several = series.entities() > 0;
  std::string text = several ? field(series.entity_column()) + "," : std::string();
  text += field(series.time_column().empty() ? "row" : series.time_column());
  for (const std::string& target : series.targets()) text += "," + field(target);
  text += "\n";
  for (const ForecastStep& step : steps) {
    if (several) text += field(step.place.entity) + ",";
    text += field(step.place.time);
    for (const double value : step.values) text += fmt::format(",{:.7g}", value);
    text += "\n";
  }
  return text;
}

Json json_of(const Model& model, const std::vector<ForecastStep>& steps) {
  Json all = Json::array();
  const std::vector<std::string> targets = model.series().targets();
  for (const ForecastStep& step : steps) {
    Json json{{"time", step.place.time}};
    if (!step.place.entity.empty()) json["entity"] = step.place.entity;
    for (std::size_t i = 0; i < targets.size(); ++i) json["values"][targets[i]] = step.values[i];
    all.push_back(std::move(json));
  }
  return {{"forecast", std::move(all)}};
}

}  // namespace

int print_forecast(Model& model, const ForecastRequest& request) {
  require(request.tables.size() == 1,
          "a model of series forecasts the rows of one table; got {} files", request.tables.size());
  const std::vector<ForecastStep> steps =
      forecast(model, read_table(request.tables[0], model.series().reading()));
  const std::string csv = csv_of(model, steps);
  if (!request.output.empty()) write_file_atomically(request.output, csv);
  if (request.json) {
    print_json(json_of(model, steps));
  } else if (request.output.empty()) {
    print_out(csv);
  }
  return kSuccess;
}

int print_series_scores(Model& model, const std::string& table, bool json) {
  const SeriesWindows windows = model.series().windows(read_table(table, model.series().reading()));
  for (const std::string& note : windows.notes()) fmt::print(stderr, "linnet: {}\n", note);
  const SeriesReport report = report_series(model, windows, "all");
  warn_of_seen(seen_share(model, windows.data()));
  if (json) {
    Json all{{"data", table}};
    all["series"] = report.json;
    print_json(all);
    return kSuccess;
  }
  std::string text;
  for (const std::string& line : report.lines) text += line + "\n";
  print_out(text);
  return kSuccess;
}

}  // namespace linnet::command
