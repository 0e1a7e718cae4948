// SPDX-License-Identifier: Apache-2.0
#include "tasks/table/novelty.h"

#include <fmt/format.h>
#include <linnet/intervals.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/counted.h"
#include "base/percentile.h"
#include "model/intervals.h"

namespace linnet {
namespace {

constexpr double kShare = 0.95;
constexpr std::size_t kMostListed = 10;

std::vector<float> novelties(Model& model, const Dataset& rows) {
  const Tensor predicted = model.predict(rows).to(DType::f32);
  return {predicted.as<float>().begin(), predicted.as<float>().end()};
}

std::int64_t count_above(const std::vector<float>& all, double threshold) {
  return std::ranges::count_if(all, [&](float novelty) { return novelty > threshold; });
}

}  // namespace

std::optional<double> novelty_threshold(const Model& model) {
  // The target of each row is 0, so that its novelty is its error.
  if (held_out_errors(model).samples < samples_for_interval(kShare)) return std::nullopt;
  return interval_half_widths(model, kShare).front();
}

TaskReport report_of_novelty(Model& model, const Splits& data) {
  TaskReport report{.key = "novelty"};
  const std::optional<double> threshold = novelty_threshold(model);
  if (!threshold) {
    report.lines.push_back(
        fmt::format("linnet: no threshold of novelty: it takes at least {} validation rows; got {}",
                    samples_for_interval(kShare), data.validation.size()));
    return report;
  }
  report.json = {{"threshold", *threshold}, {"share", kShare}};
  report.lines.push_back(
      fmt::format("linnet: threshold of novelty {:.4g}: {:g} % of the validation rows are below",
                  *threshold, 100 * kShare));
  if (data.test.size() == 0) return report;
  const std::vector<float> all = novelties(model, data.test);
  const std::int64_t above = count_above(all, *threshold);
  report.json["test_above"] = above;
  report.json["test_rows"] = all.size();
  report.lines.push_back(
      fmt::format("linnet: {} of {} above it", above, counted(std::ssize(all), "test row")));
  return report;
}

TaskReport score_of_novelty(Model& model, const Dataset& rows) {
  std::vector<float> all = novelties(model, rows);
  std::vector<double> sorted(all.begin(), all.end());
  std::ranges::sort(sorted);
  const double median = percentile(sorted, 0.5);
  TaskReport report{.key = "novelty", .json = {{"rows", all.size()}, {"median", median}}};
  report.lines.push_back(fmt::format("{}: {}, median novelty {:.4g}", rows.info().name,
                                     counted(std::ssize(all), "row"), median));
  if (const std::optional<double> threshold = novelty_threshold(model)) {
    const std::int64_t above = count_above(all, *threshold);
    report.json["threshold"] = *threshold;
    report.json["above"] = above;
    report.lines.push_back(
        fmt::format("{} of them ({:.1f} %) above the threshold {:.4g}, which {:g} % of rows like "
                    "those of the training do not exceed",
                    above, 100.0 * static_cast<double>(above) / static_cast<double>(all.size()),
                    *threshold, 100 * kShare));
  }
  report.json["most_novel"] = nlohmann::ordered_json::array();
  report.lines.emplace_back("the most novel rows:");
  for (std::size_t i = 0; i < std::min(all.size(), kMostListed); ++i) {
    const auto most = std::ranges::max_element(all);
    const auto row = most - all.begin() + 1;
    report.json["most_novel"].push_back({{"row", row}, {"novelty", *most}});
    report.lines.push_back(fmt::format("  row {}: {:.4g}", row, *most));
    *most = -1;  // below every novelty
  }
  return report;
}

}  // namespace linnet
