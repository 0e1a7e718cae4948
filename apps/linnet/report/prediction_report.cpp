// SPDX-License-Identifier: Apache-2.0
#include "report/prediction_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "model/intervals.h"
#include "table/values.h"

namespace linnet::command {
namespace {

constexpr std::size_t kMostPoints = 101;    // of a curve in JSON
constexpr std::size_t kMostDrawn = 300;     // of a curve in a page
constexpr std::size_t kMostDots = 1500;     // of a plot
constexpr std::size_t kMostWorstLines = 5;  // on the terminal

/// At most `most` places in [0, count), the first and the last among them.
std::vector<std::size_t> places(std::size_t count, std::size_t most) {
  std::vector<std::size_t> chosen;
  const std::size_t points = std::min(count, most);
  for (std::size_t i = 0; i < points; ++i) {
    chosen.push_back(points > 1 ? i * (count - 1) / (points - 1) : 0);
  }
  return chosen;
}

/// Returns a value with that many digits, more where it is large.
std::string value_text(double value, int digits) {
  constexpr int kMost = 15;
  const double size = std::log10(std::max(std::abs(value), 1.0));
  return fmt::format("{:.{}g}", value, std::clamp(static_cast<int>(size) + 4, digits, kMost));
}

double area(const ClassReport& of) { return of.curve.roc_area(); }

Json calibration_json(const Calibration& calibration) {
  Json bins = Json::array();
  for (const CalibrationBin& bin : calibration.bins) {
    bins.push_back({{"low", bin.low},
                    {"high", bin.high},
                    {"predicted", bin.predicted},
                    {"observed", bin.observed},
                    {"samples", bin.samples}});
  }
  return bins;
}

Json class_json(const ClassReport& of, const std::optional<MistakeCost>& cost) {
  Json json{{"class", of.name},
            {"positives", of.curve.positives},
            {"negatives", of.curve.negatives},
            {"roc_auc", number_json(area(of))},
            {"roc_auc_limits",
             {number_json(of.curve.roc_limits().first), number_json(of.curve.roc_limits().second)}},
            {"average_precision", number_json(of.curve.average_precision())}};
  if (!of.calibration.bins.empty()) {
    json["expected_calibration_error"] = number_json(of.calibration.expected_error);
    json["brier"] = number_json(of.calibration.brier);
  }
  if (cost) {
    const ThresholdChoice choice = cheapest_threshold(of.curve, *cost);
    json["threshold"] = {{"threshold", number_json(choice.threshold)},
                         {"false_positive_cost", cost->false_positive},
                         {"false_negative_cost", cost->false_negative},
                         {"cost", choice.cost},
                         {"true_positives", choice.true_positives},
                         {"false_positives", choice.false_positives},
                         {"true_negatives", choice.true_negatives},
                         {"false_negatives", choice.false_negatives}};
  }
  Json points = Json::array();
  for (const std::size_t i : places(of.curve.thresholds.size(), kMostPoints)) {
    points.push_back({{"threshold", number_json(of.curve.thresholds[i])},
                      {"false_positive_rate", number_json(of.curve.false_positive_rate(i))},
                      {"recall", number_json(of.curve.recall(i))},
                      {"precision", number_json(of.curve.precision(i))},
                      {"share", number_json(of.curve.share(i))},
                      {"lift", number_json(of.curve.lift(i))}});
  }
  json["curve"] = std::move(points);
  if (!of.calibration.bins.empty()) json["calibration"] = calibration_json(of.calibration);
  return json;
}

Json value_json(const ValueReport& of, const SampleNames& names) {
  Json worst = Json::array();
  for (const WorstPrediction& one : of.worst) {
    worst.push_back({{names.what(), names.number(one.sample)},
                     {"actual", one.actual},
                     {"predicted", one.predicted}});
  }
  return {{"target", of.name},
          {"r_squared", number_json(of.r_squared)},
          {"mae", number_json(of.mae)},
          {"rmse", number_json(of.rmse)},
          {"residuals",
           {{"least", of.residuals.least},
            {"most", of.residuals.most},
            {"counts", of.residuals.counts}}},
          {"worst", std::move(worst)}};
}

std::string threshold_text(float threshold) {
  return std::isfinite(threshold) ? fmt::format("from {:.4f} on", threshold) : "never";
}

/// "predict '>50K' from 0.1640 on: a sample costs 0.2311 (4,012 true positives, ...)".
std::string choice_line(const ClassReport& of, const MistakeCost& cost) {
  const ThresholdChoice choice = cheapest_threshold(of.curve, cost);
  return fmt::format(
      "predict '{}' {}: mean cost {:.4f} with FP={:g}, FN={:g} ({:g} true positives, {:g} false "
      "positives, {:g} false negatives, {:g} true negatives)",
      of.name, threshold_text(choice.threshold), choice.cost, cost.false_positive,
      cost.false_negative, choice.true_positives, choice.false_positives, choice.false_negatives,
      choice.true_negatives);
}

using Points = std::vector<std::array<double, 2>>;

template <class X, class Y>
ReportSeries curve_series(const std::vector<ClassReport>& classes, std::size_t c, Points before,
                          X x, Y y) {
  const ThresholdCurve& curve = classes[c].curve;
  ReportSeries series{.name = classes.size() > 1 ? classes[c].name : "",
                      .colour = c,
                      .points = std::move(before)};
  for (const std::size_t i : places(curve.thresholds.size(), kMostDrawn)) {
    series.points.push_back({x(curve, i), y(curve, i)});
  }
  return series;
}

ReportSeries reference(Points points, std::string name = "") {
  return {.name = std::move(name),
          .form = ReportSeries::Form::dashed,
          .colour = kGreyColour,
          .points = std::move(points)};
}

/// One plot of all classes.
template <class X, class Y>
ReportPlot class_plot(ReportPlot plot, const std::vector<ClassReport>& classes,
                      const Points& before, X x, Y y) {
  for (std::size_t c = 0; c < classes.size(); ++c) {
    plot.series.push_back(curve_series(classes, c, before, x, y));
  }
  return plot;
}

void add_reliability(Report& page, const std::vector<ClassReport>& classes,
                     const Calibration& predicted_class) {
  ReportPlot plot{.title = "Calibration",
                  .note = "A probability means what it says where the points lie on the diagonal.",
                  .x_name = "mean probability",
                  .y_name = "share observed",
                  .series = {reference({{0, 0}, {1, 1}})}};
  const auto add = [&](const Calibration& of, std::string name, std::size_t colour) {
    ReportSeries line{.name = std::move(name), .colour = colour};
    for (const CalibrationBin& bin : of.bins) line.points.push_back({bin.predicted, bin.observed});
    ReportSeries dots = line;
    dots.name.clear();
    dots.form = ReportSeries::Form::dots;
    if (!line.points.empty()) plot.series.push_back(std::move(line));
    plot.series.push_back(std::move(dots));
  };
  if (!predicted_class.bins.empty()) {
    add(predicted_class, "predicted class", 0);
  } else {
    for (std::size_t c = 0; c < classes.size(); ++c) {
      add(classes[c].calibration, classes.size() > 1 ? classes[c].name : "", c);
    }
  }
  if (plot.series.size() > 1) page.plots.push_back(std::move(plot));
}

std::string figure(double value) {
  return std::isfinite(value) ? fmt::format("{:.4f}", value) : std::string("–");
}

/// Returns the area under the ROC curve, with limits of 95 % where they are known.
std::string area_text(const ClassReport& of) {
  const auto [lower, upper] = of.curve.roc_limits();
  if (!std::isfinite(lower)) return figure(area(of));
  return fmt::format("{:.4f} (95 %: {:.4f} to {:.4f})", area(of), lower, upper);
}

void add_class_table(Report& page, const ShownReport& shown) {
  ReportTable table{.title = "Classes",
                    .header = {"class", "samples", "ROC AUC", "average precision",
                               "calibration error", "Brier score"}};
  if (shown.cost) {
    table.note = fmt::format(
        "Threshold: predict the class from this probability on, where a false positive costs {:g}, "
        "a false negative {:g}.",
        shown.cost->false_positive, shown.cost->false_negative);
    table.header.insert(table.header.end(), {"threshold", "mean cost"});
  }
  for (const ClassReport& of : shown.report.classes) {
    std::vector<std::string> row{of.name,
                                 grouped(fmt::format("{:g}", of.curve.positives)),
                                 area_text(of),
                                 figure(of.curve.average_precision()),
                                 figure(of.calibration.expected_error),
                                 figure(of.calibration.brier)};
    if (shown.cost) {
      const ThresholdChoice choice = cheapest_threshold(of.curve, *shown.cost);
      row.push_back(std::isfinite(choice.threshold) ? figure(choice.threshold) : "never");
      row.push_back(figure(choice.cost));
    }
    table.rows.push_back(std::move(row));
  }
  page.tables.push_back(std::move(table));
}

void add_classes(Report& page, const ShownReport& shown) {
  const std::vector<ClassReport>& classes = shown.report.classes;
  using Curve = ThresholdCurve;
  const auto recall = [](const Curve& c, std::size_t i) { return c.recall(i); };
  const auto share = [](const Curve& c, std::size_t i) { return c.share(i); };
  const std::string one = classes.size() == 1 ? fmt::format(" of '{}'", classes[0].name) : "";
  ReportPlot roc{.title = "ROC curve" + one,
                 .note = classes.size() == 1 ? fmt::format("Area {}.", area_text(classes[0]))
                                             : "Each class against the others.",
                 .x_name = "false-positive rate",
                 .y_name = "recall",
                 .series = {reference({{0, 0}, {1, 1}})}};
  page.plots.push_back(class_plot(
      std::move(roc), classes, {{0, 0}},
      [](const Curve& c, std::size_t i) { return c.false_positive_rate(i); }, recall));
  ReportPlot precision{.title = "Precision and recall" + one,
                       .note = classes.size() == 1
                                   ? fmt::format("Average precision {}.",
                                                 figure(classes[0].curve.average_precision()))
                                   : "Each class against the others.",
                       .x_name = "recall",
                       .y_name = "precision"};
  page.plots.push_back(class_plot(std::move(precision), classes, {}, recall,
                                  [](const Curve& c, std::size_t i) { return c.precision(i); }));
  add_reliability(page, classes, shown.report.predicted_class);
  ReportPlot gain{.title = "Gain" + one,
                  .note = "Share of the class found among the samples of the highest scores.",
                  .x_name = "share of the samples",
                  .y_name = "share found",
                  .series = {reference({{0, 0}, {1, 1}}, "random choice")}};
  page.plots.push_back(class_plot(std::move(gain), classes, {{0, 0}}, share, recall));
  ReportPlot lift{.title = "Lift" + one,
                  .note = "How many times as many as a random choice would find.",
                  .x_name = "share of the samples",
                  .y_name = "lift",
                  .series = {reference({{0, 1}, {1, 1}})}};
  page.plots.push_back(class_plot(std::move(lift), classes, {}, share,
                                  [](const Curve& c, std::size_t i) { return c.lift(i); }));
  add_class_table(page, shown);
}

void add_values(Report& page, const ValueReport& of, const SampleNames& names, bool alone) {
  const std::string what = alone ? "" : fmt::format(" of '{}'", of.name);
  ReportSeries predicted{.form = ReportSeries::Form::dots};
  ReportSeries residuals{.form = ReportSeries::Form::dots};
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  double least_output = least;
  double most_output = most;
  for (const std::size_t i : places(of.actual.size(), kMostDots)) {
    const double actual = of.actual[i];
    const double output = of.predicted[i];
    predicted.points.push_back({actual, output});
    residuals.points.push_back({output, actual - output});
    least = std::min(least, actual);
    most = std::max(most, actual);
    least_output = std::min(least_output, output);
    most_output = std::max(most_output, output);
  }
  page.plots.push_back({.title = "Predicted against actual" + what,
                        .note = fmt::format("R² {}.", figure(of.r_squared)),
                        .x_name = "actual",
                        .y_name = "predicted",
                        .series = {reference({{least, least}, {most, most}}), predicted}});
  page.plots.push_back({.title = "Residuals" + what,
                        .note = "Actual less predicted.",
                        .x_name = "predicted",
                        .y_name = "residual",
                        .series = {reference({{least_output, 0}, {most_output, 0}}), residuals}});
  ReportSeries bars{.form = ReportSeries::Form::bars};
  const auto bins = static_cast<double>(of.residuals.counts.size());
  const double width = (of.residuals.most - of.residuals.least) / bins;
  for (std::size_t b = 0; b < of.residuals.counts.size(); ++b) {
    bars.points.push_back({of.residuals.least + (static_cast<double>(b) + 0.5) * width,
                           static_cast<double>(of.residuals.counts[b])});
  }
  if (width > 0) {
    page.plots.push_back({.title = "Histogram of the residuals" + what,
                          .note = fmt::format("Mean absolute error {}, root mean squared error "
                                              "{}.",
                                              short_value(of.mae), short_value(of.rmse)),
                          .x_name = "residual",
                          .y_name = "samples",
                          .series = {bars}});
  }
  ReportTable table{.title = "Worst predictions" + what,
                    .header = {names.what(), "actual", "predicted", "residual"}};
  for (const WorstPrediction& one : of.worst) {
    constexpr std::size_t kGrouped = 5;  // digits; years have four
    table.rows.push_back({std::to_string(names.number(one.sample)),
                          grouped(value_text(one.actual, 6), kGrouped),
                          grouped(value_text(one.predicted, 6), kGrouped),
                          grouped(fmt::format("{:.4g}", one.actual - one.predicted), kGrouped)});
  }
  page.tables.push_back(std::move(table));
}

}  // namespace

bool has_probabilities(const Model& model) {
  const Answers answers = model.answers();
  return answers == Answers::classes || answers == Answers::labels;
}

MistakeCost cost_of(const std::string& text) {
  const std::size_t comma = text.find(',');
  std::optional<double> positive;
  std::optional<double> negative;
  for (const std::string& part :
       {text.substr(0, comma), comma == std::string::npos ? "" : text.substr(comma + 1)}) {
    const bool is_positive = part.starts_with("FP=");
    if (!is_positive && !part.starts_with("FN=")) continue;
    const std::optional<double> value = number_of(std::string_view(part).substr(3), '.');
    if (value && std::isfinite(*value) && *value >= 0) (is_positive ? positive : negative) = value;
  }
  require(positive && negative,
          "--cost is what a false positive and a false negative cost, e.g. FP=1,FN=5; got '{}'",
          text);
  return {*positive, *negative};
}

Json to_json(const ShownReport& shown) {
  Json json{{"samples", shown.report.samples}};
  for (const ClassReport& of : shown.report.classes) {
    json["classes"].push_back(class_json(of, shown.cost));
  }
  if (!shown.report.predicted_class.bins.empty()) {
    json["expected_calibration_error"] = shown.report.predicted_class.expected_error;
    json["calibration"] = calibration_json(shown.report.predicted_class);
  }
  for (std::size_t i = 0; i < shown.report.values.size(); ++i) {
    Json target = value_json(shown.report.values[i], shown.names);
    if (!shown.intervals.empty()) target["interval"] = to_json(shown.intervals[i]);
    json["targets"].push_back(std::move(target));
  }
  return json;
}

std::vector<std::string> report_lines(const ShownReport& shown) {
  std::vector<std::string> lines;
  const std::vector<ClassReport>& classes = shown.report.classes;
  for (const ClassReport& of : classes) {
    std::string line = fmt::format("'{}': ROC AUC {}, average precision {}", of.name, area_text(of),
                                   figure(of.curve.average_precision()));
    if (!of.calibration.bins.empty()) {
      line += fmt::format(", calibration error {}, Brier score {}",
                          figure(of.calibration.expected_error), figure(of.calibration.brier));
    }
    lines.push_back(std::move(line));
  }
  if (!shown.report.predicted_class.bins.empty()) {
    lines.push_back(fmt::format("predicted class: calibration error {}",
                                figure(shown.report.predicted_class.expected_error)));
  }
  if (shown.cost) {
    for (const ClassReport& of : classes) lines.push_back(choice_line(of, *shown.cost));
  }
  for (std::size_t v = 0; v < shown.report.values.size(); ++v) {
    const ValueReport& of = shown.report.values[v];
    if (shown.report.values.size() > 1) {
      lines.push_back(
          fmt::format("'{}': R² {}, mean absolute error {:.4g}, root mean squared "
                      "error {:.4g}",
                      of.name, figure(of.r_squared), of.mae, of.rmse));
    }
    if (!shown.intervals.empty()) {
      lines.push_back(interval_line(shown.intervals[v], shown.report.samples));
    }
    std::string line = "largest residuals:";
    for (std::size_t i = 0; i < std::min(of.worst.size(), kMostWorstLines); ++i) {
      const WorstPrediction& one = of.worst[i];
      line += fmt::format("{} {} {} ({}, predicted {})", i > 0 ? "," : "", shown.names.what(),
                          shown.names.number(one.sample), value_text(one.actual, 5),
                          value_text(one.predicted, 5));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

Json to_json(const IntervalScore& score) {
  return {{"wanted", score.wanted}, {"measured", score.measured}, {"half_width", score.half_width}};
}

std::vector<IntervalScore> interval_scores(const Model& model, const PredictionReport& report) {
  const HeldOutErrors& errors = held_out_errors(model);
  const bool enough = errors.samples >= samples_for_interval(kReportedCoverage);
  if (report.values.empty() || !enough) return {};
  const OutputErrors& first = errors.outputs.front();
  const bool fits = first.output == model.network().output_names().front() &&
                    first.quantiles.size() == report.values.size();
  if (!fits) return {};
  const std::vector<double> half_widths = interval_half_widths(model, kReportedCoverage);
  std::vector<IntervalScore> scores;
  for (std::size_t i = 0; i < half_widths.size(); ++i) {
    const ValueReport& of = report.values[i];
    double held = 0;
    for (std::size_t row = 0; row < of.actual.size(); ++row) {
      if (std::abs(of.actual[row] - of.predicted[row]) <= half_widths[i]) ++held;
    }
    scores.push_back({.wanted = kReportedCoverage,
                      .measured = held / static_cast<double>(of.actual.size()),
                      .half_width = half_widths[i]});
  }
  return scores;
}

std::string interval_line(const IntervalScore& score, std::int64_t samples) {
  return fmt::format("{:g} % intervals: ±{:.4g}, hold {:.1f} % of {} values", 100 * score.wanted,
                     score.half_width, 100 * score.measured, grouped(std::to_string(samples)));
}

void add_predictions(Report& page, const ShownReport& shown) {
  if (!shown.report.classes.empty()) add_classes(page, shown);
  for (const ValueReport& of : shown.report.values) {
    add_values(page, of, shown.names, shown.report.values.size() == 1);
  }
  if (shown.intervals.empty()) return;
  ReportTable table{.title = "Prediction intervals",
                    .note =
                        "Half-widths follow from the errors on the validation set: "
                        "linnet predict --interval.",
                    .header = {"target", "coverage asked for", "coverage measured", "half-width"}};
  for (std::size_t i = 0; i < shown.intervals.size(); ++i) {
    const IntervalScore& score = shown.intervals[i];
    table.rows.push_back({shown.report.values[i].name, fmt::format("{:g} %", 100 * score.wanted),
                          fmt::format("{:.1f} %", 100 * score.measured),
                          fmt::format("{:.4g}", score.half_width)});
  }
  page.tables.push_back(std::move(table));
}

}  // namespace linnet::command
