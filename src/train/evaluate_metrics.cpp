// SPDX-License-Identifier: Apache-2.0
#include <linnet/metrics.h>
#include <linnet/table_transform.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "data/lengths.h"
#include "data/targets.h"
#include "model/check_values.h"
#include "model/output_form.h"
#include "train/log_odds.h"
#include "train/metrics_of_model.h"

namespace linnet {
namespace {

constexpr std::size_t kMostClasses = 4096;  // of a confusion matrix

/// Scores, labels and perhaps weights, of samples or of their steps or pixels, that count.
struct Labelled {
  std::vector<float> scores;
  std::vector<std::int32_t> labels;
  std::vector<float> weights;
};

/// Without padding and ignored labels. `weights`: of the samples, or of their steps; none: all 1.
Labelled counted_labels(std::span<const float> scores, const Column& target,
                        std::span<const float> weights, std::optional<std::int32_t> ignored) {
  const std::span<const std::int32_t> labels = target.data.as<std::int32_t>();
  std::vector<bool> counts(labels.size());
  for_each_counted<std::int32_t>(target,
                                 [&](std::span<const std::int32_t> part, std::size_t first) {
                                   for (std::size_t i = 0; i < part.size(); ++i) {
                                     counts[first + i] = part[i] != ignored;
                                   }
                                   return false;
                                 });
  const std::size_t classes = scores.size() / labels.size();
  const std::size_t each = weights.empty() ? 1 : labels.size() / weights.size();
  Labelled kept;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (!counts[i]) continue;
    const auto row = scores.begin() + static_cast<std::ptrdiff_t>(i * classes);
    kept.scores.insert(kept.scores.end(), row, row + static_cast<std::ptrdiff_t>(classes));
    kept.labels.push_back(labels[i]);
    if (!weights.empty()) kept.weights.push_back(weights[i / each]);
  }
  return kept;
}

void measure_labels(Metrics& metrics, const Labelled& kept) {
  const std::span<const float> logits = kept.scores;
  const std::span<const std::int32_t> labels = kept.labels;
  metrics.kind = Metrics::Kind::labels;
  metrics.samples = static_cast<std::int64_t>(labels.size());
  metrics.accuracy = accuracy(logits, labels, kept.weights);
  if (logits.size() / labels.size() > 5) {
    metrics.top5 = top_k_accuracy(logits, labels, 5, kept.weights);
  }
  metrics.log_loss = cross_entropy(logits, labels, kept.weights);
  metrics.perplexity = std::exp(metrics.log_loss);
  if (logits.size() / labels.size() > kMostClasses) return;
  metrics.confusion = confusion_matrix(logits, labels);
  metrics.scores = class_scores(metrics.confusion);
}

bool are_binary(std::span<const float> values) {
  return std::ranges::all_of(values, [](float t) { return t == 0 || t == 1; });
}

/// Returns the values of the first target, 0 for those of steps that don't count: in `counted`, or
/// where they lie.
std::span<const float> counted_values(const Dataset& data, std::vector<float>& counted) {
  const std::span<const float> values = values_of(data);
  if (values.empty() || !data.targets()[0].has_lengths()) return values;
  counted.assign(values.size(), 0);
  for_each_counted<float>(data.targets()[0], [&](std::span<const float> part, std::size_t first) {
    std::ranges::copy(part, counted.begin() + static_cast<std::ptrdiff_t>(first));
    return false;
  });
  return counted;
}

/// Returns what each value of the first target counts, of the samples or of their steps; none: all
/// alike.
std::vector<float> weights_of_values(const Dataset& data) {
  std::vector<float> weights;
  if (data.weights().elements() > 0) {
    const std::span<const float> given = data.weights().as<float>();
    weights.assign(given.begin(), given.end());
  }
  const Column& target = data.targets()[0];
  if (!target.has_lengths()) return weights;
  const auto steps = static_cast<std::size_t>(target.record()[0]);
  const std::span<const std::int32_t> lengths = target.lengths.as<std::int32_t>();
  std::vector<float> of_steps(lengths.size() * steps);
  const std::size_t each = weights.empty() ? 1 : of_steps.size() / weights.size();
  for (std::size_t i = 0; i < of_steps.size(); ++i) {
    if (static_cast<std::int32_t>(i % steps) >= lengths[i / steps]) continue;
    of_steps[i] = weights.empty() ? 1 : weights[i / each];
  }
  return of_steps;
}

/// `as_values`: 0 and 1 are values and no labels.
Metrics measured(std::span<const float> predictions, const Dataset& data,
                 std::optional<std::int32_t> ignore_index, bool as_values) {
  const Dataset read = with_first_target_read(data);
  const std::span<const std::int32_t> labels = all_labels_of(read);
  std::vector<float> counted;
  const std::span<const float> values = counted_values(read, counted);
  Metrics metrics;
  if (!labels.empty()) {
    const std::span<const float> weights = data.weights().as<float>();
    const Labelled kept = counted_labels(predictions, read.targets()[0], weights, ignore_index);
    require(!kept.labels.empty(), "no label of the data set '{}' counts in the metrics{}",
            data.info().name,
            ignore_index ? fmt::format(": each is the ignored label {}", *ignore_index) : "");
    measure_labels(metrics, kept);
    return metrics;
  }
  const std::int64_t columns = value_shape_of(read).elements();
  const std::vector<float> weights = weights_of_values(read);
  metrics.samples = data.size();
  if (!as_values && are_binary(values)) {
    metrics.kind = Metrics::Kind::binary;
    metrics.auc = roc_auc_by_label(predictions, values, columns, weights);
    return metrics;
  }
  metrics.kind = Metrics::Kind::values;
  metrics.r_squared = r_squared(predictions, values, columns, weights);
  metrics.mae = mean_absolute_error(predictions, values, weights);
  metrics.rmse = root_mean_squared_error(predictions, values, weights);
  return metrics;
}

}  // namespace

bool predicts_values(const Model& model) {
  const TableTarget kind = model.table().target_kind();
  return !model.table().empty() && (kind == TableTarget::value || kind == TableTarget::novelty) &&
         model.answers() != Answers::labels;
}

Metrics measure(std::span<const float> predictions, const Dataset& data,
                std::optional<std::int32_t> ignore_index) {
  return measured(predictions, data, ignore_index, false);
}

Metrics measure_for(const Model& model, std::span<const float> predictions, const Dataset& data,
                    std::optional<std::int32_t> ignore_index) {
  return measured(predictions, data, ignore_index, predicts_values(model));
}

std::vector<float> predictions_of(Model& model, const Dataset& data, std::int64_t batch,
                                  std::optional<std::int32_t> ignore_index) {
  require(data.size() > 0, "the data set '{}' holds no samples", data.info().name);
  require(!data.targets().empty(), "the data set '{}' has no targets", data.info().name);
  data.check_labels(ignore_index);
  const NetworkDefinition& network = model.network().definition();
  check_training_values(network, data);
  const LastLayer last = last_layer(network.graph, network.outputs[0].value);
  const Shape outputs = network.output_sample();
  const auto predicted = [&](OutputForm form) {
    const Tensor scores = predict_in_form(model, data, batch, form);
    const std::span<const float> elements = scores.as<float>();
    return std::vector<float>(elements.begin(), elements.end());
  };
  if (!all_labels_of(data).empty()) {
    const Shape record = data.targets()[0].record();
    require(record.rank() > 0 || outputs.rank() == 1,
            "expected outputs (N, classes) for labels; the network gives {} a sample",
            to_string(outputs));
    require(outputs.rank() == record.rank() + 1 &&
                std::ranges::equal(outputs.dims().first(record.rank()), record.dims()),
            "expected an axis of classes after labels of {} a sample; the network gives {}",
            to_string(record), to_string(outputs));
    // Cross-entropy takes what a last Sigmoid gives for logits.
    const bool plain = last == LastLayer::sigmoid;
    return predicted(plain ? OutputForm::plain : OutputForm::logits);
  }
  require(value_shape_of(data) == outputs,
          "the network gives {} a sample but the data set '{}' has values of {}",
          to_string(outputs), data.info().name, to_string(value_shape_of(data)));
  const Dataset read = with_first_target_read(data);
  std::vector<float> counted;
  if (predicts_values(model) || !are_binary(counted_values(read, counted))) {
    const bool shares = model.answers() == Answers::labels;  // learned by binary cross-entropy
    return predicted(shares ? OutputForm::sigmoid : OutputForm::plain);
  }
  std::vector<float> scores = predicted(OutputForm::logits);
  const bool classes = last == LastLayer::softmax || last == LastLayer::log_softmax;
  if (classes && outputs[-1] > 1) to_log_odds(scores, static_cast<std::size_t>(outputs[-1]));
  return scores;
}

Metrics evaluate_metrics(Model& model, const Dataset& data, const MetricsOptions& options) {
  const Dataset read = with_first_target_read(data);
  const Dataset named = with_class_names(read, model.class_names());
  const std::vector<float> scores =
      predictions_of(model, read, options.batch, options.ignore_index);
  return measure_for(model, scores, named, options.ignore_index);
}

}  // namespace linnet
