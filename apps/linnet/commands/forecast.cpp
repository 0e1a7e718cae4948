// SPDX-License-Identifier: Apache-2.0
#include "commands/forecast.h"

#include <fmt/format.h>
#include <linnet/series_task.h>
#include <linnet/training_warnings.h>

#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "base/utf8.h"
#include "commands/commands.h"
#include "config/model_rows.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/metrics.h"
#include "report/predictions.h"
#include "tasks/series/series_report.h"

namespace linnet::command {
namespace {

std::string csv_of(const Model& model, const std::vector<ForecastStep>& steps, bool safe) {
  const SeriesTransform& series = model.series();
  const bool several = series.entities() > 0;
  std::string text = several ? csv_field(series.entity_column(), safe) + "," : std::string();
  text += csv_field(series.time_column().empty() ? "row" : series.time_column(), safe);
  for (const std::string& target : series.targets()) text += "," + csv_field(target, safe);
  text += "\n";
  for (const ForecastStep& step : steps) {
    if (several) text += csv_field(step.place.entity, safe) + ",";
    text += csv_field(step.place.time, safe);
    for (const double value : step.values) text += fmt::format(",{:.7g}", value);
    text += "\n";
  }
  return text;
}

}  // namespace

int print_forecast(Model& model, const ForecastRequest& request) {
  require(request.tables.size() == 1,
          "a model of series forecasts the rows of one table; got {} files", request.tables.size());
  require(!request.safe || !request.json || !request.output.empty(),
          "--spreadsheet is for tables of predictions; leave out --json or name one with --output");
  const std::vector<ForecastStep> steps =
      forecast(model, read_model_rows(request.tables[0], model.series().reading(), request.sheet));
  const std::string csv = csv_of(model, steps, request.safe);
  if (!request.output.empty()) write_file_atomically(request.output, csv);
  if (request.json) {
    print_json(forecast_json(model, steps));
  } else if (request.output.empty()) {
    print_out(csv);
  }
  return kSuccess;
}

int print_series_scores(Model& model, const std::string& table, const std::string& sheet,
                        bool json) {
  const SeriesWindows windows =
      model.series().windows(read_model_rows(table, model.series().reading(), sheet));
  for (const std::string& note : windows.notes()) print_note("{}", note);
  const TaskReport report = report_series(model, windows, "all");
  warn_of_seen(seen_share(model, windows.data()));
  if (json) {
    Json all{{"data", table}};
    all["series"] = report.json;
    print_json(all);
    return kSuccess;
  }
  std::string text;
  for (const std::string& line : report.lines) text += escaped(line) + "\n";
  print_out(text);
  return kSuccess;
}

}  // namespace linnet::command
