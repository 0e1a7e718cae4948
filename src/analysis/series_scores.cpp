// SPDX-License-Identifier: Apache-2.0
// Forecasts of series, and what they are worth beside simple ones.
#include "analysis/series_scores.h"

#include <linnet/intervals.h>
#include <linnet/series_task.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/check.h"
#include "model/output_form.h"
#include "series/window_contents.h"

namespace linnet {
namespace {

/// Adds up the errors of a target's forecasts, step by step.
class ErrorSums {
 public:
  explicit ErrorSums(std::int64_t steps)
      : absolute_(static_cast<std::size_t>(steps)), squared_(static_cast<std::size_t>(steps)) {}

  void add(std::int64_t step, double error) {
    absolute_[static_cast<std::size_t>(step)] += std::abs(error);
    squared_[static_cast<std::size_t>(step)] += error * error;
  }

  ForecastErrors errors(std::int64_t windows, double naive_error) const {
    const auto count = static_cast<double>(windows);
    ForecastErrors errors;
    double squared = 0;
    for (std::size_t i = 0; i < absolute_.size(); ++i) {
      errors.mae.push_back(absolute_[i] / count);
      errors.rmse.push_back(std::sqrt(squared_[i] / count));
      errors.all_mae += errors.mae.back() / static_cast<double>(absolute_.size());
      squared += squared_[i] / count / static_cast<double>(absolute_.size());
    }
    errors.all_rmse = std::sqrt(squared);
    errors.mase =
        naive_error > 0 ? errors.all_mae / naive_error : std::numeric_limits<double>::quiet_NaN();
    return errors;
  }

 private:
  std::vector<double> absolute_;
  std::vector<double> squared_;
};

SeriesScore score_of(const SeriesWindows& windows, std::size_t target,
                     std::span<const float> forecasts) {
  const SeriesRecord& record = *windows.contents()->record;
  const std::int64_t steps = record.future;
  ErrorSums model(steps);
  ErrorSums persistence(steps);
  ErrorSums seasonal(steps);
  bool season = true;
  const double offset = record.targets[target].offset;  // of the model's outputs
  for (std::int64_t window = 0; window < windows.size(); ++window) {
    const double last = windows.persistence(window, target);
    for (std::int64_t step = 0; step < steps; ++step) {
      const double actual = windows.actual(window, step, target);
      const double naive = windows.seasonal_naive(window, step, target);
      model.add(step, offset + forecasts[static_cast<std::size_t>(window * steps + step)] - actual);
      persistence.add(step, last - actual);
      season = season && !std::isnan(naive);
      if (season) seasonal.add(step, naive - actual);
    }
  }
  const double naive_error = record.targets[target].naive_error;
  SeriesScore score{.target = record.inputs[target].column};
  score.model = model.errors(windows.size(), naive_error);
  score.persistence = persistence.errors(windows.size(), naive_error);
  if (season) score.seasonal = seasonal.errors(windows.size(), naive_error);
  return score;
}

void require_series(const Model& model) {
  require(!model.series().empty(), "the model does not forecast series; set_series() says how");
}

}  // namespace

namespace {

/// f32 (N, future) of each target, less its offset.
std::vector<Tensor> outputs_of(Model& model, const SeriesWindows& windows, std::int64_t batch) {
  require_series(model);
  require(windows.size() > 0, "there are no windows to forecast");
  std::vector<Tensor> forecasts;
  const std::vector<Column> outputs = model.predict_all(windows.data(), batch);
  for (const std::string& target : model.series().targets()) {
    forecasts.push_back(std::ranges::find(outputs, target, &Column::name)->data.to(DType::f32));
    const std::span<const float> values = forecasts.back().as<float>();
    const auto bad = std::ranges::find_if(values, [](float v) { return !std::isfinite(v); });
    require(bad == values.end(),
            "the forecasts of '{}' are not finite: its values or the weights are NaN, infinite or "
            "huge",
            target);
  }
  return forecasts;
}

}  // namespace

std::vector<Tensor> forecast_windows(Model& model, const SeriesWindows& windows,
                                     std::int64_t batch) {
  std::vector<Tensor> forecasts = outputs_of(model, windows, batch);
  for (std::size_t i = 0; i < forecasts.size(); ++i) {
    forecasts[i] = with_offsets(forecasts[i], {model.series().record()->targets[i].offset});
  }
  return forecasts;
}

std::vector<SeriesScore> evaluate_series(Model& model, const SeriesWindows& windows,
                                         std::int64_t batch) {
  const std::vector<Tensor> forecasts = outputs_of(model, windows, batch);
  const SeriesTransform& series = model.series();
  const SeriesRecord& record = *windows.contents()->record;
  require(record.future == series.future() && record.targets.size() == forecasts.size(),
          "the windows forecast {} steps of {} targets; the model {} of {}", record.future,
          record.targets.size(), series.future(), forecasts.size());
  std::vector<SeriesScore> scores;
  for (std::size_t i = 0; i < forecasts.size(); ++i) {
    scores.push_back(score_of(windows, i, forecasts[i].as<float>()));
  }
  return scores;
}

std::vector<ForecastStep> forecast(Model& model, const Table& rows, double interval) {
  require_series(model);
  return forecast_of(model, read_series(rows, model.series().record(), true), interval);
}

std::vector<ForecastStep> forecast_of(Model& model,
                                      const std::shared_ptr<const WindowContents>& contents,
                                      double interval) {
  std::vector<std::vector<double>> widths;  // of each target and step; empty: none is wanted
  for (const std::string& target : model.series().targets()) {
    if (interval != 0) widths.push_back(interval_half_widths(model, interval, target));
  }
  const std::int64_t future = model.series().future();
  auto starts = std::make_shared<std::vector<std::int64_t>>();
  for (const WindowContents::Part& part : contents->parts) {
    starts->push_back(part.first + part.rows - future - model.series().past());
  }
  const SeriesWindows windows(contents, std::move(starts));
  const std::vector<Tensor> forecasts = outputs_of(model, windows, 256);
  const SeriesRecord& record = *model.series().record();
  std::vector<ForecastStep> steps;
  for (std::int64_t window = 0; window < windows.size(); ++window) {
    for (std::int64_t step = 0; step < future; ++step) {
      steps.push_back({.place = windows.place(window, step)});
      for (std::size_t i = 0; i < forecasts.size(); ++i) {
        const float output =
            forecasts[i].as<float>()[static_cast<std::size_t>(window * future + step)];
        const double value = record.targets[i].offset + output;
        steps.back().values.push_back(value);
        if (widths.empty()) continue;
        steps.back().low.push_back(value - widths[i][static_cast<std::size_t>(step)]);
        steps.back().high.push_back(value + widths[i][static_cast<std::size_t>(step)]);
      }
    }
  }
  return steps;
}

}  // namespace linnet
