// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/training_warnings.h>

#include <memory>
#include <utility>

#include "analysis/series_scores.h"
#include "base/check.h"
#include "base/counted.h"
#include "series/series_record.h"
#include "series/window_contents.h"
#include "tasks/options.h"
#include "tasks/registry.h"
#include "tasks/series/series_report.h"
#include "tasks/table/table_rows.h"

namespace linnet {
namespace {

class Forecasts final : public Task {
 public:
  Forecasts() = default;
  explicit Forecasts(SeriesTask made)
      : Task(std::move(made.data), std::move(made.notes)),
        transform_(std::move(made.transform)),
        weights_(std::move(made.weights)),
        test_(std::move(made.test)),
        validation_(std::move(made.validation)) {}

  std::string_view samples(const Dataset& /*train*/) const override { return "windows"; }
  std::string title(const std::string& /*job*/, const Dataset& train) const override {
    return fmt::format("Forecast of {}, {} ahead from the last {}: {}",
                       some_names(transform_.targets()), counted(transform_.future(), "step"),
                       transform_.past(), train.info().name);
  }
  std::string_view is() const override { return "is read as windows of a series (--past)"; }
  std::vector<TaskFlags> flags() const override {
    return {{.group = "Series",
             .purpose = "windows of a series (--past)",
             .all = &flags_of<SeriesTaskOptions>()},
            {.all = &flags_of<TableOptions>()}};
  }
  bool accepts(TaskSettings /*settings*/) const override { return false; }

  TaskClaim claims(const std::filesystem::path& path, const DataSettings& settings) const override {
    const bool windows = settings.has({"past"}) && !settings.has({"text"});
    if (!windows || !is_table(path, settings)) return {};
    return {settings.has({"target"}) ? TaskClaim::surely : TaskClaim::perhaps};
  }
  PreparedTask prepare(const std::filesystem::path& path,
                       const TaskFileOptions& how) const override {
    require(how.from == nullptr,
            "windows of a series (--past) have default networks; leave out --from");
    auto options = how.settings.read<SeriesTaskOptions>();
    options.seed = how.seed;
    SeriesTask made = series_task(read_table(path, reading_of(how.settings)), options);
    PreparedTask prepared{.network = made.network, .training = made.training};
    prepared.task = std::make_shared<const Forecasts>(std::move(made));
    return prepared;
  }

  std::string_view fixed_network() const override {
    return "windows of a series (past in [data]) have default networks: network = \"gru\" in "
           "[data]";
  }
  void replace_loss(TrainingOptions& training, std::optional<Loss> chosen,
                    bool /*by_output*/) const override {
    if (!chosen) return;
    training.loss = Loss::automatic;
    for (OutputLoss& target : training.output_losses) target.loss = *chosen;
  }
  void equip(Model& model) const override {
    model.set_series(transform_);
    model.set_weights(weights_);
  }

  bool learns_classes() const override { return false; }
  std::optional<TaskReport> report(Model& model) const override {
    const bool test = test_.size() > 0;
    const SeriesWindows& windows = test ? test_ : validation_;
    return windows.size() == 0 ? TaskReport()
                               : report_series(model, windows, test ? "test" : "validation");
  }

  bool made(const Model& model) const override { return !model.series().empty(); }
  std::string_view takes() const override { return "series"; }
  bool reads(TaskFiles files) const override { return files == TaskFiles::tables; }
  Samples read(std::span<const std::filesystem::path> /*paths*/, const Model& /*model*/,
               const ReadOptions& /*options*/) const override {
    fail("the model forecasts series; forecast() reads its rows");
  }
  std::vector<std::string> targets(const Model& model) const override {
    return model.series().targets();
  }

  TableOptions reading(const Model& model) const override { return model.series().reading(); }
  std::vector<std::string> row_columns(const Model& model) const override;
  std::size_t table_width(const Model& model) const override {
    return model.series().record()->columns.size();
  }
  void describe(const Model& model, nlohmann::ordered_json& json) const override {
    json["past"] = model.series().past();
    json["future"] = model.series().future();
  }

  bool answers_tables() const override { return true; }
  TableAnswer answer(Model& model, const Table& rows, double interval) const override;
  TaskReport measure(Model& model, const Table& rows) const override {
    const SeriesWindows windows = model.series().windows(rows);
    TaskReport report = report_series(model, windows, "all");
    report.notes = windows.notes();
    report.seen = seen_share(model, windows.data());
    return report;
  }

 private:
  SeriesTransform transform_;
  State weights_;  ///< to begin with
  SeriesWindows test_;
  SeriesWindows validation_;
};

std::vector<std::string> Forecasts::row_columns(const Model& model) const {
  const SeriesRecord& record = *model.series().record();
  if (!record.learned.header) return record.columns;  // which are known by their places
  std::vector<std::string> columns;
  for (const std::string& one : {record.entity, record.time}) {
    if (!one.empty()) columns.push_back(one);
  }
  for (const SeriesColumn& input : record.inputs) columns.push_back(input.column);
  return columns;
}

TableAnswer Forecasts::answer(Model& model, const Table& rows, double interval) const {
  const SeriesTransform& series = model.series();
  const std::vector<std::string> targets = series.targets();
  const bool several = series.entities() > 0;
  TableAnswer answer;
  if (several) answer.header.push_back(series.entity_column());
  answer.header.push_back(series.time_column().empty() ? "row" : series.time_column());
  for (const std::string& target : targets) {
    answer.header.push_back(target);
    if (interval == 0) continue;
    answer.header.push_back(target + "_low");
    answer.header.push_back(target + "_high");
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  const std::shared_ptr<const WindowContents> contents = read_series(rows, series.record(), true);
  for (const ForecastStep& step : forecast_of(model, contents, interval)) {
    nlohmann::ordered_json json{{"time", step.place.time}};
    if (!step.place.entity.empty()) json["entity"] = step.place.entity;
    TableAnswer::Row row{.texts = {step.place.time}};
    for (std::size_t i = 0; i < targets.size(); ++i) {
      json["values"][targets[i]] = step.values[i];
      row.values.push_back(step.values[i]);
      if (interval == 0) continue;
      json["low"][targets[i]] = step.low[i];
      json["high"][targets[i]] = step.high[i];
      row.values.insert(row.values.end(), {step.low[i], step.high[i]});
    }
    all.push_back(std::move(json));
    if (several) row.texts.insert(row.texts.begin(), step.place.entity);
    answer.rows.push_back(std::move(row));
  }
  answer.notes = unlike_training(*contents);
  if (!answer.notes.empty()) answer.json["notes"] = answer.notes;
  if (interval != 0) answer.json["interval"] = interval;
  answer.json["forecast"] = std::move(all);
  return answer;
}

}  // namespace

void register_series_task(Tasks& tasks) { tasks.add(std::make_unique<const Forecasts>()); }

}  // namespace linnet
