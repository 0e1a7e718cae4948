// SPDX-License-Identifier: Apache-2.0
#include "tasks/table/novelty.h"

#include <fmt/format.h>
#include <linnet/intervals.h>

#include <algorithm>
#include <span>
#include <vector>

#include "base/counted.h"
#include "model/intervals.h"

namespace linnet {
namespace {

constexpr double kShare = 0.95;

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
  const Tensor predicted = model.predict(data.test).to(DType::f32);
  const std::span<const float> all = predicted.as<float>();
  const auto above =
      std::ranges::count_if(all, [&](float novelty) { return novelty > *threshold; });
  report.json["test_above"] = above;
  report.json["test_rows"] = all.size();
  report.lines.push_back(
      fmt::format("linnet: {} of {} above it", above, counted(std::ssize(all), "test row")));
  return report;
}

}  // namespace linnet
