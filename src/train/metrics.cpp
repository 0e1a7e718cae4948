// SPDX-License-Identifier: Apache-2.0
#include <linnet/metrics.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace linnet {
namespace {

/// Throws where a number is NaN; `columns`: of a sample.
void require_numbers(std::span<const float> values, std::string_view what, std::size_t columns) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    require(!std::isnan(values[i]), "{} {} of sample {} is NaN", what, i % columns, i / columns);
  }
}

/// Returns the number of classes.
std::size_t require_scores(std::span<const float> scores, std::span<const std::int32_t> labels) {
  require(!labels.empty() && !scores.empty() && scores.size() % labels.size() == 0,
          "expected equally many scores for each sample; got {} scores, {} labels", scores.size(),
          labels.size());
  const std::size_t classes = scores.size() / labels.size();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    require(labels[i] >= 0 && static_cast<std::size_t>(labels[i]) < classes,
            "label {} of sample {} is outside [0, {})", labels[i], i, classes);
  }
  require_numbers(scores, "score", classes);
  return classes;
}

/// Returns the number of samples.
std::size_t require_pairs(std::span<const float> outputs, std::span<const float> targets,
                          std::int64_t columns, std::string_view what) {
  require(columns >= 1 && !outputs.empty() && outputs.size() == targets.size() &&
              outputs.size() % static_cast<std::size_t>(columns) == 0,
          "expected one {} for each target, {} a sample; got {} and {}", what, columns,
          outputs.size(), targets.size());
  require_numbers(outputs, what, static_cast<std::size_t>(columns));
  require_numbers(targets, "target", static_cast<std::size_t>(columns));
  return outputs.size() / static_cast<std::size_t>(columns);
}

/// Holds what each number counts: weights of a sample each, or of its neighbours.
class Weights {
 public:
  Weights(std::span<const float> weights, std::size_t numbers) : weights_(weights) {
    if (weights.empty()) return;
    require(numbers % weights.size() == 0, "expected a weight for each sample; got {} for {}",
            weights.size(), numbers);
    each_ = numbers / weights.size();
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      require(weights[i] >= 0 && std::isfinite(weights[i]), "the weight of sample {} is {}", i,
              weights[i]);
      sum += weights[i];
    }
    require(sum > 0, "all {} weights are 0", weights.size());
  }
  double operator[](std::size_t number) const {
    return weights_.empty() ? 1 : static_cast<double>(weights_[number / each_]);
  }
  bool empty() const { return weights_.empty(); }

 private:
  std::span<const float> weights_;
  std::size_t each_ = 1;
};

/// Returns the mean of value(i) over `count` numbers.
template <class F>
double weighted_mean(std::size_t count, const Weights& weights, F value) {
  double sum = 0;
  double divisor = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (weights[i] == 0) continue;
    sum += weights[i] * value(i);
    divisor += weights[i];
  }
  return sum / divisor;
}

double ratio(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// log(sum exp(z)) in double; the largest is taken out first, so that nothing overflows.
double log_sum_exp(std::span<const float> logits) {
  const double largest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float z : logits) sum += std::exp(z - largest);
  return largest + std::log(sum);
}

ClassScore class_score(std::int64_t right, std::int64_t predicted, std::int64_t there) {
  // 2 p r / (p + r), from the counts.
  return {ratio(right, predicted), ratio(right, there), ratio(2 * right, predicted + there), there};
}

}  // namespace

double top_k_accuracy(std::span<const float> scores, std::span<const std::int32_t> labels,
                      std::int64_t k, std::span<const float> weights) {
  const std::size_t classes = require_scores(scores, labels);
  require(k >= 1, "expected a k of at least 1; got {}", k);
  return weighted_mean(labels.size(), Weights(weights, labels.size()), [&](std::size_t i) {
    const std::span<const float> row = scores.subspan(i * classes, classes);
    const auto label = static_cast<std::size_t>(labels[i]);
    std::int64_t before = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      if (row[c] > row[label] || (row[c] == row[label] && c < label)) ++before;
    }
    return before < k ? 1.0 : 0.0;
  });
}

double accuracy(std::span<const float> scores, std::span<const std::int32_t> labels,
                std::span<const float> weights) {
  return top_k_accuracy(scores, labels, 1, weights);
}

std::vector<std::int64_t> confusion_matrix(std::span<const float> scores,
                                           std::span<const std::int32_t> labels) {
  const std::size_t classes = require_scores(scores, labels);
  std::vector<std::int64_t> counts(classes * classes);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::span<const float> row = scores.subspan(i * classes, classes);
    const auto predicted = std::ranges::max_element(row) - row.begin();
    ++counts[static_cast<std::size_t>(labels[i]) * classes + static_cast<std::size_t>(predicted)];
  }
  return counts;
}

ClassScores class_scores(std::span<const std::int64_t> confusion) {
  const auto classes = static_cast<std::size_t>(std::llround(std::sqrt(confusion.size())));
  require(classes >= 1 && classes * classes == confusion.size(),
          "expected a confusion matrix (C, C); got {} counts", confusion.size());
  ClassScores result;
  std::int64_t right = 0;
  std::int64_t samples = 0;
  std::int64_t occurring = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    std::int64_t there = 0;
    std::int64_t predicted = 0;
    for (std::size_t other = 0; other < classes; ++other) {
      there += confusion[c * classes + other];
      predicted += confusion[other * classes + c];
    }
    const ClassScore score = class_score(confusion[c * classes + c], predicted, there);
    result.classes.push_back(score);
    right += confusion[c * classes + c];
    samples += there;
    if (there + predicted == 0) continue;
    ++occurring;
    result.macro.precision += score.precision;
    result.macro.recall += score.recall;
    result.macro.f1 += score.f1;
  }
  const auto divisor = static_cast<double>(std::max<std::int64_t>(occurring, 1));
  result.macro.precision /= divisor;
  result.macro.recall /= divisor;
  result.macro.f1 /= divisor;
  result.macro.samples = samples;
  result.micro = class_score(right, samples, samples);
  return result;
}

double log_loss(std::span<const float> probabilities, std::span<const std::int32_t> labels,
                std::span<const float> weights) {
  constexpr double kLeast = 1e-15;
  const std::size_t classes = require_scores(probabilities, labels);
  return weighted_mean(labels.size(), Weights(weights, labels.size()), [&](std::size_t i) {
    const double p = probabilities[i * classes + static_cast<std::size_t>(labels[i])];
    return -std::log(std::max(p, kLeast));
  });
}

double perplexity(std::span<const float> probabilities, std::span<const std::int32_t> labels,
                  std::span<const float> weights) {
  return std::exp(log_loss(probabilities, labels, weights));
}

double cross_entropy(std::span<const float> logits, std::span<const std::int32_t> labels,
                     std::span<const float> weights) {
  const std::size_t classes = require_scores(logits, labels);
  return weighted_mean(labels.size(), Weights(weights, labels.size()), [&](std::size_t i) {
    const std::span<const float> row = logits.subspan(i * classes, classes);
    require(std::isfinite(*std::ranges::max_element(row)),
            "the largest score of sample {} is not finite", i);
    return log_sum_exp(row) - row[static_cast<std::size_t>(labels[i])];
  });
}

double softmax_probability(std::span<const float> logits, std::size_t index) {
  return std::exp(static_cast<double>(logits[index]) - log_sum_exp(logits));
}

double roc_auc(std::span<const float> scores, std::span<const float> truth,
               std::span<const float> weights) {
  const std::size_t n = require_pairs(scores, truth, 1, "score");
  const Weights weight(weights, n);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return scores[i]; });
  double positives = 0;
  double negatives = 0;
  double won = 0;  // weights of the pairs in which the positive's score is above
  for (std::size_t begin = 0; begin < n;) {
    std::size_t end = begin;
    double positive = 0;  // of the scores that are equal
    double negative = 0;
    for (; end < n && scores[order[end]] == scores[order[begin]]; ++end) {
      const float t = truth[order[end]];
      require(t == 0 || t == 1, "expected a truth of 0 or 1; got {} for sample {}", t, order[end]);
      (t == 1 ? positive : negative) += weight[order[end]];
    }
    won += positive * (negatives + negative / 2);
    positives += positive;
    negatives += negative;
    begin = end;
  }
  if (positives == 0 || negatives == 0) return kUndefined;
  return won / (positives * negatives);
}

LabelAuc roc_auc_by_label(std::span<const float> scores, std::span<const float> truth,
                          std::int64_t labels, std::span<const float> weights) {
  const std::size_t n = require_pairs(scores, truth, labels, "score");
  const auto columns = static_cast<std::size_t>(labels);
  const Weights weight(weights, scores.size());
  LabelAuc result;
  double sum = 0;
  std::int64_t defined = 0;
  std::vector<float> column_scores(n);
  std::vector<float> column_truth(n);
  std::vector<float> column_weights(weight.empty() ? 0 : n);
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t i = 0; i < n; ++i) {
      column_scores[i] = scores[i * columns + c];
      column_truth[i] = truth[i * columns + c];
      if (!weight.empty()) column_weights[i] = static_cast<float>(weight[i * columns + c]);
    }
    const bool counts =
        weight.empty() || std::ranges::any_of(column_weights, [](float w) { return w > 0; });
    result.labels.push_back(counts ? roc_auc(column_scores, column_truth, column_weights)
                                   : kUndefined);
    if (std::isnan(result.labels.back())) continue;
    sum += result.labels.back();
    ++defined;
  }
  if (defined > 0) result.mean = sum / static_cast<double>(defined);
  return result;
}

double mean_absolute_error(std::span<const float> outputs, std::span<const float> targets,
                           std::span<const float> weights) {
  const std::size_t n = require_pairs(outputs, targets, 1, "output");
  return weighted_mean(n, Weights(weights, n), [&](std::size_t i) {
    return std::abs(static_cast<double>(outputs[i]) - static_cast<double>(targets[i]));
  });
}

double root_mean_squared_error(std::span<const float> outputs, std::span<const float> targets,
                               std::span<const float> weights) {
  const std::size_t n = require_pairs(outputs, targets, 1, "output");
  return std::sqrt(weighted_mean(n, Weights(weights, n), [&](std::size_t i) {
    const double d = static_cast<double>(outputs[i]) - static_cast<double>(targets[i]);
    return d * d;
  }));
}

double r_squared(std::span<const float> outputs, std::span<const float> targets,
                 std::int64_t columns, std::span<const float> weights) {
  const std::size_t n = require_pairs(outputs, targets, columns, "output");
  const Weights weight(weights, outputs.size());
  const auto step = static_cast<std::size_t>(columns);
  double sum = 0;
  std::int64_t defined = 0;
  for (std::size_t c = 0; c < step; ++c) {
    double mean = 0;
    double divisor = 0;
    for (std::size_t i = 0; i < n; ++i) {
      mean += weight[i * step + c] * static_cast<double>(targets[i * step + c]);
      divisor += weight[i * step + c];
    }
    if (divisor == 0) continue;
    mean /= divisor;
    double residual = 0;
    double spread = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double t = targets[i * step + c];
      const double d = static_cast<double>(outputs[i * step + c]) - t;
      residual += weight[i * step + c] * d * d;
      spread += weight[i * step + c] * (t - mean) * (t - mean);
    }
    if (spread == 0) continue;
    sum += 1 - residual / spread;
    ++defined;
  }
  return defined > 0 ? sum / static_cast<double>(defined) : kUndefined;
}

}  // namespace linnet
