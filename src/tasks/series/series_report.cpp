// SPDX-License-Identifier: Apache-2.0
#include "tasks/series/series_report.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "base/counted.h"
#include "html/html_plot.h"
#include "model/intervals.h"
#include "tasks/series/series_chart.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

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

std::string mase_text(double mase, int digits = 3) {
  return std::isfinite(mase) ? fmt::format("{:.{}f}", mase, digits) : std::string("–");
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

/// Says how good forecasts are beside the last value and that of a season ago.
Rivals rivals_of(const std::vector<SeriesScore>& scores, const std::string& part,
                 std::int64_t windows) {
  Rivals found;
  found.table = {.title = fmt::format("Result ({} set)", part),
                 .header = {"forecast", "mean absolute error", "root mean squared error", "MASE"}};
  for (const SeriesScore& score : scores) {
    const bool seasonal = !score.seasonal.mae.empty();
    const bool by_season = seasonal && score.seasonal.all_mae < score.persistence.all_mae;
    const double naive = by_season ? score.seasonal.all_mae : score.persistence.all_mae;
    const char* name = by_season ? "the value of a season ago" : "the last value";
    if (!(score.model.all_mae < naive)) {
      found.worse += fmt::format(
          "{}the forecasts of '{}' are not better than {}: mean absolute error {}, that {}",
          found.worse.empty() ? "" : "; ", score.target, name, short_value(score.model.all_mae),
          short_value(naive));
    }
    found.verdict +=
        fmt::format("{}the forecasts of '{}' miss by {} on average ({} {} windows), {} by {}",
                    found.verdict.empty() ? "" : "; ", score.target,
                    short_value(score.model.all_mae), grouped(std::to_string(windows)), part, name,
                    short_value(naive));
    const auto add = [&](const char* of, const ForecastErrors& errors) {
      found.table.rows.push_back(
          {scores.size() > 1 ? fmt::format("{} of '{}'", of, score.target) : of,
           short_value(errors.all_mae), short_value(errors.all_rmse), mase_text(errors.mase, 4)});
    };
    add("this model", score.model);
    add("the last value", score.persistence);
    if (seasonal) add("the value of a season ago", score.seasonal);
  }
  return found;
}

/// How often the intervals of a target's forecasts held its true values.
struct Coverage {
  double measured = 0;
  std::vector<double> by_step = {};
  std::vector<double> half_widths = {};  ///< of each step
};

/// Returns nothing where the model has too few errors of held-out windows.
std::optional<Coverage> coverage_of(const Model& model, const SeriesWindows& windows,
                                    std::size_t target, std::span<const double> forecasts) {
  const HeldOutErrors& errors = held_out_errors(model);
  if (errors.samples < samples_for_interval(kReportedCoverage)) return {};
  Coverage found{.half_widths = interval_half_widths(model, kReportedCoverage,
                                                     model.series().targets()[target])};
  const auto steps = std::ssize(found.half_widths);
  for (std::int64_t step = 0; step < steps; ++step) {
    double held = 0;
    for (std::int64_t window = 0; window < windows.size(); ++window) {
      const double error = forecasts[static_cast<std::size_t>(window * steps + step)] -
                           windows.actual(window, step, target);
      if (std::abs(error) <= found.half_widths[static_cast<std::size_t>(step)]) ++held;
    }
    found.by_step.push_back(held / static_cast<double>(windows.size()));
    found.measured += found.by_step.back() / static_cast<double>(steps);
  }
  return found;
}

Json to_json(const Coverage& of) {
  return {{"wanted", kReportedCoverage},
          {"measured", of.measured},
          {"measured_by_step", of.by_step},
          {"half_width_by_step", of.half_widths}};
}

std::string coverage_text(const Coverage& of) {
  return fmt::format(
      "{:g} % intervals: ±{:.4g} in the first step, ±{:.4g} in the last, hold {:.1f} "
      "% of the true values",
      100 * kReportedCoverage, of.half_widths.front(), of.half_widths.back(), 100 * of.measured);
}

}  // namespace

TaskReport report_series(Model& model, const SeriesWindows& windows, const std::string& part) {
  const std::vector<Tensor> forecasts = forecast_windows(model, windows);
  const std::vector<SeriesScore> scores = evaluate_series(model, windows);
  const SeriesTransform& series = model.series();
  TaskReport report;
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
    const Tensor wide = forecasts[i].to(DType::f64);
    report.html += series_chart(windows, i, score.target, seasonal ? series.season() : 1,
                                wide.as<double>(), series.future());
    tables += table_html(score, series.season());
    // The validation set gave the intervals.
    const std::optional<Coverage> coverage =
        part == "validation" ? std::nullopt : coverage_of(model, windows, i, wide.as<double>());
    if (!coverage) continue;
    report.json["targets"].back()["interval"] = to_json(*coverage);
    report.lines.push_back(coverage_text(*coverage));
    tables += fmt::format("<p class=\"note\">{}.</p>\n", coverage_text(*coverage));
  }
  report.html += tables;
  report.rivals = rivals_of(scores, part, windows.size());
  return report;
}

}  // namespace linnet
