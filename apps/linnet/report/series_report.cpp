// SPDX-License-Identifier: Apache-2.0
#include "report/series_report.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/counted.h"
#include "report/html_report.h"
#include "report/series_chart.h"

namespace linnet::command {
namespace {

constexpr std::int64_t kMostStepsShown = 8;

using Named = std::vector<std::pair<std::string, const ForecastErrors*>>;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json to_json(const ForecastErrors& errors) {
  return {{"mae", errors.all_mae},
          {"rmse", errors.all_rmse},
          {"mase", number(errors.mase)},
          {"mae_by_step", errors.mae},
          {"rmse_by_step", errors.rmse}};
}

Named named(const SeriesScore& score, std::int64_t season) {
  Named all{{"model", &score.model}, {"persistence", &score.persistence}};
  if (!score.seasonal.mae.empty()) {
    all.emplace_back(fmt::format("seasonal naive ({})", season), &score.seasonal);
  }
  return all;
}

/// The steps whose errors lines show: all, or some evenly.
std::vector<std::size_t> shown_steps(std::size_t steps) {
  std::vector<std::size_t> shown;
  const auto most = static_cast<std::size_t>(kMostStepsShown);
  if (steps <= most) {
    for (std::size_t i = 0; i < steps; ++i) shown.push_back(i);
    return shown;
  }
  for (std::size_t i = 0; i < most; ++i) shown.push_back(i * (steps - 1) / (most - 1));
  return shown;
}

std::string mase_text(double mase) {
  return std::isfinite(mase) ? fmt::format("{:.3f}", mase) : std::string("–");
}

void add_lines(std::vector<std::string>& lines, const SeriesScore& score, std::int64_t season,
               std::int64_t windows, const std::string& part) {
  const std::vector<std::size_t> steps = shown_steps(score.model.mae.size());
  lines.push_back(fmt::format("{} forecasts of '{}': {} of {}", part, score.target,
                              counted(windows, "window"), counted(score.model.mae.size(), "step")));
  std::string head = fmt::format("{:<22}{:>9}{:>9}{:>8}  MAE of step", "", "MAE", "RMSE", "MASE");
  for (const std::size_t step : steps) head += fmt::format("{:>8}", step + 1);
  lines.push_back(head);
  for (const auto& [name, errors] : named(score, season)) {
    // "–" is three bytes and one column.
    const std::string mase = mase_text(errors->mase);
    const std::size_t width = std::isfinite(errors->mase) ? 8 : 10;
    std::string line = fmt::format("{:<22}{:>#9.4g}{:>#9.4g}{:>{}}{:13}", name, errors->all_mae,
                                   errors->all_rmse, mase, width, "");
    for (const std::size_t step : steps) line += fmt::format("{:>#8.4g}", errors->mae[step]);
    lines.push_back(line);
  }
}

/// A row a step, two columns for each kind of forecast.
std::string table_html(const SeriesScore& score, std::int64_t season) {
  const Named all = named(score, season);
  std::string out = fmt::format(
      "<section><h2>Errors of {}</h2>\n<p class=\"note\">In the unit of the column. MASE: the mean "
      "absolute error, divided by that of the seasonal naive forecast in the training set.</p>\n"
      "<div class=\"wide\"><table class=\"rows\"><thead><tr><th>step</th>",
      html_text(score.target));
  for (const auto& [name, errors] : all) {
    out += fmt::format("<th>{0}: MAE</th><th>{0}: RMSE</th>", html_text(name));
  }
  out += "</tr></thead><tbody>\n";
  for (std::size_t step = 0; step < score.model.mae.size(); ++step) {
    out += fmt::format("<tr><td>{}</td>", step + 1);
    for (const auto& [name, errors] : all) {
      out += fmt::format("<td>{}</td><td>{}</td>", short_value(errors->mae[step]),
                         short_value(errors->rmse[step]));
    }
    out += "</tr>\n";
  }
  out += "<tr><td>all</td>";
  for (const auto& [name, errors] : all) {
    out += fmt::format("<td><b>{}</b></td><td><b>{}</b></td>", short_value(errors->all_mae),
                       short_value(errors->all_rmse));
  }
  out += "</tr>\n<tr><td>MASE</td>";
  for (const auto& [name, errors] : all) {
    out += fmt::format("<td>{}</td><td></td>", mase_text(errors->mase));
  }
  return out + "</tr>\n</tbody></table></div></section>\n";
}

}  // namespace

SeriesReport report_series(Model& model, const SeriesWindows& windows, const std::string& part) {
  const std::vector<Tensor> forecasts = forecast_windows(model, windows);
  const std::vector<SeriesScore> scores = evaluate_series(model, windows);
  const SeriesTransform& series = model.series();
  SeriesReport report;
  report.json = {{"windows", windows.size()},
                 {"past", series.past()},
                 {"future", series.future()},
                 {"season", series.season()},
                 {"targets", Json::array()}};
  std::string tables;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const SeriesScore& score = scores[i];
    const bool seasonal = !score.seasonal.mae.empty();
    report.json["targets"].push_back(
        {{"target", score.target},
         {"model", to_json(score.model)},
         {"persistence", to_json(score.persistence)},
         {"seasonal_naive", seasonal ? to_json(score.seasonal) : Json(nullptr)}});
    add_lines(report.lines, score, series.season(), windows.size(), part);
    if (!seasonal && series.season() > 1) {
      report.lines.push_back(
          fmt::format("the first windows have no values a season of {} steps ago: the seasonal "
                      "naive forecast is left out",
                      series.season()));
    }
    report.html += series_chart(windows, i, score.target, seasonal ? series.season() : 1,
                                forecasts[i].to(DType::f64).as<double>(), series.future());
    tables += table_html(score, series.season());
  }
  report.html += tables;
  report.rivals = rivals_of(scores, part, windows.size());
  return report;
}

}  // namespace linnet::command
