// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>
#include <linnet/model.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

// Metrics of predictions, computed on the host in double precision. Scores are rows, one sample
// after the other. `weights`: what each sample counts, at least 0 (scikit-learn's sample_weight);
// where they are fewer than the numbers, each counts for as many consecutive ones; empty: all 1.
// The functions throw Error for sizes that disagree, labels outside the classes, no samples,
// weights that are all 0, and scores that are NaN. They may be called from several threads at once.

/// Stands for an undefined metric: NaN.
inline constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

/// Returns the share of samples whose label is among their k largest scores, in [0, 1]; of equal
/// scores the first counts as larger. Scores (N, C), labels (N).
double top_k_accuracy(std::span<const float> scores, std::span<const std::int32_t> labels,
                      std::int64_t k, std::span<const float> weights = {});
/// Returns top_k_accuracy() for k = 1.
double accuracy(std::span<const float> scores, std::span<const std::int32_t> labels,
                std::span<const float> weights = {});

/// Returns counts (C, C): the row is the label, the column the predicted class (the first of the
/// largest scores). Scores (N, C), labels (N).
std::vector<std::int64_t> confusion_matrix(std::span<const float> scores,
                                           std::span<const std::int32_t> labels);

/// Holds scores of one class, or means over classes, in [0, 1]; 0 where the divisor is 0.
struct ClassScore {
  double precision = 0;      ///< right predictions / predictions of the class
  double recall = 0;         ///< right predictions / samples of the class
  double f1 = 0;             ///< harmonic mean of precision and recall
  std::int64_t samples = 0;  ///< samples of the class
};
/// Holds the scores of all classes.
struct ClassScores {
  std::vector<ClassScore> classes;  ///< by class
  ClassScore macro;                 ///< mean over the classes that occur, as label or as prediction
  ClassScore micro;                 ///< from the sums of all counts: each equals the accuracy
};
/// Returns the scores that follow from a confusion matrix (C, C). Throws Error unless it is square.
ClassScores class_scores(std::span<const std::int64_t> confusion);

/// Returns the mean of -log p[label], with p at least 1e-15. Probabilities (N, C), labels (N).
double log_loss(std::span<const float> probabilities, std::span<const std::int32_t> labels,
                std::span<const float> weights = {});
/// Returns exp(log_loss()): the number of equally likely classes that would be as hard to tell
/// apart.
double perplexity(std::span<const float> probabilities, std::span<const std::int32_t> labels,
                  std::span<const float> weights = {});
/// Returns the mean of log(sum exp(z)) - z[label], without overflow. Logits z (N, C), labels (N).
/// Throws Error for a sample without a finite largest logit.
double cross_entropy(std::span<const float> logits, std::span<const std::int32_t> labels,
                     std::span<const float> weights = {});

/// Returns the area under the ROC curve: the probability that a positive's score is above a
/// negative's, where equal scores count half (by mid-ranks). Truth in {0, 1}. NaN if there are no
/// positives or no negatives.
double roc_auc(std::span<const float> scores, std::span<const float> truth,
               std::span<const float> weights = {});

/// Holds the area under the ROC curve of several labels.
struct LabelAuc {
  std::vector<double> labels;  ///< by label; NaN for a label that is always or never true
  double mean = kUndefined;    ///< mean over the others; NaN if there are none
};
/// Returns roc_auc() of each column of scores and truth (N, labels).
LabelAuc roc_auc_by_label(std::span<const float> scores, std::span<const float> truth,
                          std::int64_t labels, std::span<const float> weights = {});

/// Returns the mean of |y - t| over all numbers.
double mean_absolute_error(std::span<const float> outputs, std::span<const float> targets,
                           std::span<const float> weights = {});
/// Returns the root of the mean of (y - t)^2 over all numbers.
double root_mean_squared_error(std::span<const float> outputs, std::span<const float> targets,
                               std::span<const float> weights = {});
/// Returns 1 - sum (y - t)^2 / sum (t - mean t)^2, the mean over the `columns` numbers of a sample.
/// Columns of a constant target are left out; NaN if there are no others.
double r_squared(std::span<const float> outputs, std::span<const float> targets,
                 std::int64_t columns = 1, std::span<const float> weights = {});

/// Says how evaluate_metrics() measures.
struct MetricsOptions {
  std::int64_t batch = 256;                       ///< samples computed at a time
  std::optional<std::int32_t> ignore_index = {};  ///< label whose samples are left out
};

/// Holds the metrics that fit the targets of a data set; the others are NaN or empty. Samples count
/// by their weights, and of targets with lengths the steps that count do. Counts (samples,
/// confusion, scores) are unweighted. Labels of steps or pixels count one by one.
struct Metrics {
  /// Names the kind of targets: labels, values that are all 0 or 1, or other values.
  enum class Kind : std::uint8_t { labels, binary, values };
  Kind kind = Kind::labels;  ///< kind of the targets
  std::int64_t samples = 0;  ///< number of samples

  double accuracy = kUndefined;              ///< labels: share of right ones
  double top5 = kUndefined;                  ///< labels: top-5 accuracy, with more than 5 classes
  double log_loss = kUndefined;              ///< labels: cross_entropy()
  double perplexity = kUndefined;            ///< labels: exp(log_loss)
  std::vector<std::int64_t> confusion = {};  ///< labels: (outputs, outputs), up to 4096 outputs
  ClassScores scores = {};                   ///< labels: precision, recall and F1

  LabelAuc auc = {};  ///< binary values: area under the ROC curve by label

  double r_squared = kUndefined;  ///< other values: linnet::r_squared()
  double mae = kUndefined;        ///< other values: mean_absolute_error()
  double rmse = kUndefined;       ///< other values: root_mean_squared_error()
};

/// Returns the numbers of the network's first output for measure(), row-major: for labels logits,
/// the input of a last Softmax; for values that are all 0 or 1 scores in the order of the
/// probabilities, which are too coarse in f32; else the output itself. Waits. Throws DataError
/// where data and network do not fit.
std::vector<float> predictions_of(Model& model, const Dataset& data, std::int64_t batch = 256,
                                  std::optional<std::int32_t> ignore_index = {});
/// Returns the metrics of the predictions that predictions_of() returned for `data`. Throws Error
/// for predictions that are NaN.
Metrics measure(std::span<const float> predictions, const Dataset& data,
                std::optional<std::int32_t> ignore_index = {});
/// Returns the softmax probability of class `index`, from one sample's logits.
double softmax_probability(std::span<const float> logits, std::size_t index);
/// Returns measure() of predictions_of(), with the data's classes numbered as the model's
/// (with_class_names()). Waits.
Metrics evaluate_metrics(Model& model, const Dataset& data, const MetricsOptions& options = {});

}  // namespace linnet
LINNET_API_END
