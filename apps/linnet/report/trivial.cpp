// SPDX-License-Identifier: Apache-2.0
#include "report/trivial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "data/targets.h"
#include "report/metrics.h"

namespace linnet::command {
namespace {

std::optional<Trivial> majority(const Metrics& test, const Dataset& train) {
  std::vector<std::int64_t> counts(test.scores.classes.size());
  for (const std::int32_t label : labels_of(train)) {
    if (label >= 0 && static_cast<std::size_t>(label) < counts.size()) {
      ++counts[static_cast<std::size_t>(label)];
    }
  }
  const auto most = std::ranges::max_element(counts);
  if (most == counts.end() || *most == 0 || !std::isfinite(test.accuracy)) return std::nullopt;
  const auto place = static_cast<std::size_t>(most - counts.begin());
  const double accuracy =
      static_cast<double>(test.scores.classes[place].samples) / static_cast<double>(test.samples);
  const std::string name = class_name(train.classes(), place);
  const bool beaten = test.accuracy > accuracy;
  Trivial trivial;
  trivial.json = {{"answer", fmt::format("always '{}'", name)},
                  {"accuracy", accuracy},
                  {"beaten", beaten}};
  if (!beaten) {
    trivial.sentence = fmt::format(
        "the model is not better than the answer '{}' for every sample: accuracy {:.2f} %, that "
        "answer {:.2f} %",
        name, 100 * test.accuracy, 100 * accuracy);
  }
  return trivial;
}

std::optional<Trivial> mean(const Metrics& test, const Dataset& train, const Dataset& data) {
  const std::span<const float> learned = values_of(train);
  const std::span<const float> actual = values_of(data);
  const auto columns =
      static_cast<std::size_t>(std::max<std::int64_t>(1, value_shape_of(data).elements()));
  if (learned.empty() || actual.empty() || !std::isfinite(test.rmse)) return std::nullopt;
  std::vector<double> means(columns);
  for (std::size_t i = 0; i < learned.size(); ++i) means[i % columns] += learned[i];
  for (double& one : means)
    one *= static_cast<double>(columns) / static_cast<double>(learned.size());
  double sum = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double error = actual[i] - means[i % columns];
    sum += error * error;
  }
  const double rmse = std::sqrt(sum / static_cast<double>(actual.size()));
  const bool beaten = test.rmse < rmse;
  Trivial trivial;
  trivial.json = {{"answer", "always the training set's mean"},
                  {"rmse", number_json(rmse)},
                  {"beaten", beaten}};
  if (!beaten) {
    trivial.sentence = fmt::format(
        "the model is not better than the training set's mean for every sample: RMSE {:.4g}, the "
        "mean {:.4g}",
        test.rmse, rmse);
  }
  return trivial;
}

}  // namespace

std::optional<Trivial> trivial_answer(const Metrics& test, const Dataset& train,
                                      const Dataset& data) {
  if (test.samples == 0) return std::nullopt;
  switch (test.kind) {
    case Metrics::Kind::labels: return majority(test, train);
    case Metrics::Kind::values: return mean(test, train, data);
    case Metrics::Kind::binary: break;
  }
  return std::nullopt;
}

std::string naive_is_better(const std::vector<SeriesScore>& scores) {
  std::string text;
  for (const SeriesScore& score : scores) {
    const bool seasonal = !score.seasonal.mae.empty();
    const bool by_season = seasonal && score.seasonal.all_mae < score.persistence.all_mae;
    const double naive = by_season ? score.seasonal.all_mae : score.persistence.all_mae;
    if (score.model.all_mae < naive) continue;
    text += fmt::format(
        "{}the forecasts of '{}' are not better than {}: mean absolute error {:.4g}, that {:.4g}",
        text.empty() ? "" : "; ", score.target,
        by_season ? "the value of a season ago" : "the last value", score.model.all_mae, naive);
  }
  return text;
}

}  // namespace linnet::command
