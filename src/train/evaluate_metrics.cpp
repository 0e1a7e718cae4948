// SPDX-License-Identifier: Apache-2.0
#include <linnet/metrics.h>

#include <algorithm>

#include "base/check.h"

namespace linnet {
namespace {

constexpr std::size_t kMostClasses = 4096;  // of a confusion matrix

/// Scores and labels without the samples of an ignored label.
struct Labelled {
  std::vector<float> scores;
  std::vector<std::int32_t> labels;
};

Labelled without_ignored(std::span<const float> scores, const Dataset& data,
                         std::optional<std::int32_t> ignored) {
  if (!ignored) return {{scores.begin(), scores.end()}, data.labels};
  const std::size_t classes = scores.size() / data.labels.size();
  Labelled kept;
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    if (data.labels[i] == *ignored) continue;
    const auto row = scores.begin() + static_cast<std::ptrdiff_t>(i * classes);
    kept.scores.insert(kept.scores.end(), row, row + static_cast<std::ptrdiff_t>(classes));
    kept.labels.push_back(data.labels[i]);
  }
  return kept;
}

void measure_labels(Metrics& metrics, std::span<const float> p,
                    std::span<const std::int32_t> labels) {
  metrics.kind = Metrics::Kind::labels;
  metrics.samples = static_cast<std::int64_t>(labels.size());
  metrics.accuracy = accuracy(p, labels);
  if (p.size() / labels.size() > 5) metrics.top5 = top_k_accuracy(p, labels, 5);
  metrics.log_loss = log_loss(p, labels);
  metrics.perplexity = perplexity(p, labels);
  if (p.size() / labels.size() > kMostClasses) return;
  metrics.confusion = confusion_matrix(p, labels);
  metrics.scores = class_scores(metrics.confusion);
}

}  // namespace

std::vector<float> predictions_of(Model& model, const Dataset& data, std::int64_t batch,
                                  std::optional<std::int32_t> ignore_index) {
  data.validate(ignore_index);
  require(data.size() > 0, "the data set '{}' holds no samples", data.name);
  const Shape outputs = model.network().output_shape();
  if (!data.labels.empty()) {
    require(outputs.rank() == 1, "labels want outputs (N, classes); the network gives {} a sample",
            to_string(outputs));
    return model.predict_probabilities(data, batch);
  }
  require(data.value_shape == outputs,
          "the network gives {} a sample but the data set '{}' has values of {}",
          to_string(outputs), data.name, to_string(data.value_shape));
  return model.predict(data, batch);
}

Metrics measure(std::span<const float> predictions, const Dataset& data,
                std::optional<std::int32_t> ignore_index) {
  Metrics metrics;
  if (!data.labels.empty()) {
    const Labelled kept = without_ignored(predictions, data, ignore_index);
    require(!kept.labels.empty(), "every sample of the data set '{}' has the ignored label {}",
            data.name, ignore_index.value_or(0));
    measure_labels(metrics, kept.scores, kept.labels);
    return metrics;
  }
  const std::int64_t columns = data.value_shape.elements();
  metrics.samples = data.size();
  if (std::ranges::all_of(data.values, [](float t) { return t == 0 || t == 1; })) {
    metrics.kind = Metrics::Kind::binary;
    metrics.auc = roc_auc_by_label(predictions, data.values, columns);
    return metrics;
  }
  metrics.kind = Metrics::Kind::values;
  metrics.r_squared = r_squared(predictions, data.values, columns);
  metrics.mae = mean_absolute_error(predictions, data.values);
  metrics.rmse = root_mean_squared_error(predictions, data.values);
  return metrics;
}

Metrics evaluate_metrics(Model& model, const Dataset& data, const MetricsOptions& options) {
  return measure(predictions_of(model, data, options.batch, options.ignore_index), data,
                 options.ignore_index);
}

}  // namespace linnet
