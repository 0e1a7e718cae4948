// SPDX-License-Identifier: Apache-2.0
#include "tasks/series/forecasts.h"

#include <fmt/format.h>

#include <utility>

#include "base/counted.h"
#include "tasks/series/series_report.h"

namespace linnet {
namespace {

class Forecasts final : public Task {
 public:
  explicit Forecasts(SeriesTask made)
      : Task(std::move(made.data), std::move(made.notes)),
        transform_(std::move(made.transform)),
        test_(std::move(made.test)),
        validation_(std::move(made.validation)) {}

  std::string_view samples(const Dataset& /*train*/) const override { return "windows"; }
  std::string title(const std::string& /*job*/, const Dataset& train) const override {
    return fmt::format("Forecast of {}, {} ahead from the last {}: {}",
                       some_names(transform_.targets()), counted(transform_.future(), "step"),
                       transform_.past(), train.info().name);
  }
  std::string_view is() const override { return "is a table of series (--past)"; }
  std::vector<RefusedSettings> refused() const override {
    return {{TaskSettings::images, "images"},
            {TaskSettings::texts, "texts"},
            {TaskSettings::classes, "classes"}};
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
  void equip(Model& model) const override { model.set_series(transform_); }

  bool learns_classes() const override { return false; }
  std::optional<TaskReport> report(Model& model) const override {
    const bool test = test_.size() > 0;
    const SeriesWindows& windows = test ? test_ : validation_;
    return windows.size() == 0 ? TaskReport()
                               : report_series(model, windows, test ? "test" : "validation");
  }

 private:
  SeriesTransform transform_;
  SeriesWindows test_;
  SeriesWindows validation_;
};

}  // namespace

std::shared_ptr<const Task> task_of_windows(SeriesTask made) {
  return std::make_shared<const Forecasts>(std::move(made));
}

}  // namespace linnet
