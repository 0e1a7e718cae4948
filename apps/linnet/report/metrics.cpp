// SPDX-License-Identifier: Apache-2.0
#include "report/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "report/print.h"

namespace linnet::command {
namespace {

constexpr std::size_t kMostClassesShown = 20;
constexpr std::size_t kNameWidth = 12;

Json to_json(const ClassScore& score) {
  return {{"precision", number_json(score.precision)},
          {"recall", number_json(score.recall)},
          {"f1", number_json(score.f1)},
          {"samples", score.samples}};
}

void add_labels(Json& json, const Metrics& m, const std::vector<std::string>& names) {
  json["accuracy"] = number_json(m.accuracy);
  json["top5_accuracy"] = number_json(m.top5);
  json["log_loss"] = number_json(m.log_loss);
  json["perplexity"] = number_json(m.perplexity);
  if (m.confusion.empty()) return;
  json["macro"] = to_json(m.scores.macro);
  json["micro"] = to_json(m.scores.micro);
  const std::size_t classes = m.scores.classes.size();
  Json by_class = Json::array();
  Json confusion = Json::array();
  for (std::size_t c = 0; c < classes; ++c) {
    Json entry{{"class", class_name(names, c)}};
    entry.update(to_json(m.scores.classes[c]));
    by_class.push_back(std::move(entry));
    const auto row = m.confusion.begin() + static_cast<std::ptrdiff_t>(c * classes);
    confusion.push_back(std::vector<std::int64_t>(row, row + static_cast<std::ptrdiff_t>(classes)));
  }
  json["classes"] = std::move(by_class);
  json["confusion"] = std::move(confusion);
}

std::string percent(double value) { return fmt::format("{:.2f} %", 100 * value); }

/// Rows: labels; columns: predictions, by number.
void add_table(std::vector<std::string>& lines, const Metrics& m,
               const std::vector<std::string>& names) {
  const std::size_t classes = m.scores.classes.size();
  const std::int64_t most = std::ranges::max(m.confusion);
  const std::size_t width = std::max(std::to_string(most).size(), std::to_string(classes).size());
  std::string head = fmt::format("{:<{}}", "label", kNameWidth + 4);
  for (std::size_t c = 0; c < classes; ++c) head += fmt::format(" {:>{}}", c, width);
  lines.push_back(head + "  (predicted)");
  for (std::size_t r = 0; r < classes; ++r) {
    std::string line =
        fmt::format("{:>2} {:<{}.{}} ", r, escaped(class_name(names, r)), kNameWidth, kNameWidth);
    for (std::size_t c = 0; c < classes; ++c) {
      line += fmt::format(" {:>{}}", m.confusion[r * classes + c], width);
    }
    lines.push_back(line);
  }
}

}  // namespace

std::string class_name(const std::vector<std::string>& names, std::size_t index) {
  return index < names.size() ? names[index] : std::to_string(index);
}

Json to_json(const Metrics& metrics, const std::vector<std::string>& class_names) {
  Json json;
  json["samples"] = metrics.samples;
  if (metrics.kind == Metrics::Kind::labels) {
    add_labels(json, metrics, class_names);
  } else if (metrics.kind == Metrics::Kind::binary) {
    json["mean_roc_auc"] = number_json(metrics.auc.mean);
    Json labels = Json::array();
    for (const double auc : metrics.auc.labels) labels.push_back(number_json(auc));
    json["roc_auc"] = std::move(labels);
  } else {
    json["r_squared"] = number_json(metrics.r_squared);
    json["mae"] = number_json(metrics.mae);
    json["rmse"] = number_json(metrics.rmse);
  }
  return json;
}

std::vector<std::string> metrics_lines(const Metrics& metrics,
                                       const std::vector<std::string>& class_names) {
  if (metrics.kind == Metrics::Kind::binary) {
    return {fmt::format("mean ROC AUC of {} labels {:.4f}", metrics.auc.labels.size(),
                        metrics.auc.mean)};
  }
  if (metrics.kind == Metrics::Kind::values) {
    return {
        fmt::format("R² {}, mean absolute error {:.4g}, root mean squared error "
                    "{:.4g}",
                    std::isfinite(metrics.r_squared) ? fmt::format("{:.4f}", metrics.r_squared)
                                                     : "undefined (all true values are equal)",
                    metrics.mae, metrics.rmse)};
  }
  std::string text = "accuracy " + percent(metrics.accuracy);
  if (std::isfinite(metrics.top5)) text += ", top-5 " + percent(metrics.top5);
  if (!metrics.confusion.empty()) {
    text += fmt::format(", macro F1 {:.4f}", metrics.scores.macro.f1);
  }
  std::vector<std::string> lines{text};
  const std::size_t classes = metrics.scores.classes.size();
  if (classes >= 2 && classes <= kMostClassesShown) add_table(lines, metrics, class_names);
  return lines;
}

void warn_of_seen(double share) {
  if (share == 0) return;
  print_note(
      "warning: about {:.0f} % of these samples were in the training set of the "
      "model, so the metrics are too good for new data",
      100 * share);
}

}  // namespace linnet::command
