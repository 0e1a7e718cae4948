// SPDX-License-Identifier: Apache-2.0
#include "commands/forecast.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "base/join.h"
#include "base/utf8.h"
#include "commands/commands.h"
#include "config/model_rows.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/metrics.h"
#include "tasks/task.h"

namespace linnet::command {
namespace {

std::string csv_of(const TableAnswer& answer, bool safe) {
  std::vector<std::string> fields;
  for (const std::string& name : answer.header) fields.push_back(csv_field(name, safe));
  std::string text = join(fields, ",") + "\n";
  for (const TableAnswer::Row& row : answer.rows) {
    fields.clear();
    for (const std::string& one : row.texts) fields.push_back(csv_field(one, safe));
    for (const double value : row.values) fields.push_back(fmt::format("{:.7g}", value));
    text += join(fields, ",") + "\n";
  }
  return text;
}

}  // namespace

int print_forecast(const Task& task, Model& model, const ForecastRequest& request) {
  require(request.tables.size() == 1,
          "a model of series forecasts the rows of one table; got {} files", request.tables.size());
  require(!request.safe || !request.json || !request.output.empty(),
          "--spreadsheet is for tables of predictions; leave out --json or name one with --output");
  const TableAnswer answer =
      task.answer(model, read_model_rows(request.tables[0], task.reading(model), request.sheet),
                  request.interval);
  for (const std::string& note : answer.notes) print_note("{}", note);
  const std::string csv = csv_of(answer, request.safe);
  if (!request.output.empty()) write_file_atomically(request.output, csv);
  if (request.json) {
    print_json(answer.json);
  } else if (request.output.empty()) {
    print_out(csv);
  }
  return kSuccess;
}

int print_series_scores(const Task& task, Model& model, const std::string& table,
                        const std::string& sheet, bool json) {
  const TaskReport report = task.measure(model, read_model_rows(table, task.reading(model), sheet));
  return print_own_scores(report, table, report.seen, json);
}

int print_own_scores(const TaskReport& report, const std::string& data, double seen, bool json) {
  for (const std::string& note : report.notes) print_note("{}", note);
  warn_of_seen(seen);
  if (json) {
    Json all{{"data", data}};
    all[report.key] = report.json;
    print_json(all);
    return kSuccess;
  }
  std::string text;
  for (const std::string& line : report.lines) text += escaped(line) + "\n";
  print_out(text);
  return kSuccess;
}

}  // namespace linnet::command
