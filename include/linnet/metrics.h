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

// Measures of predictions, on the host and in double. Scores are rows of one sample after the
// other. `weights`: what each sample counts, at least 0 (scikit-learn's sample_weight); where they
// are fewer than numbers, each is of as many neighbours; none: all 1. Throws Error for sizes that
// disagree, labels outside the classes, no samples at all, and weights that are all 0, and scores
// that are NaN: no order holds for them. Undefined results are NaN, where it says so.

inline constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

/// Samples whose label is among the k largest of their scores; of equal scores the first counts as
/// larger. Scores (N, C), labels N.
double top_k_accuracy(std::span<const float> scores, std::span<const std::int32_t> labels,
                      std::int64_t k, std::span<const float> weights = {});
/// top_k_accuracy of 1.
double accuracy(std::span<const float> scores, std::span<const std::int32_t> labels,
                std::span<const float> weights = {});

/// Counts (C, C): row the label, column the class predicted (the first of the largest scores).
std::vector<std::int64_t> confusion_matrix(std::span<const float> scores,
                                           std::span<const std::int32_t> labels);

/// precision = right / predicted, recall = right / there, f1 their harmonic mean; 0 where nothing
/// is to be divided by.
struct ClassScore {
  double precision = 0;
  double recall = 0;
  double f1 = 0;
  std::int64_t samples = 0;  ///< of the class
};
struct ClassScores {
  std::vector<ClassScore> classes;
  ClassScore macro;  ///< mean over the classes that occur, as label or as prediction
  ClassScore micro;  ///< from the sums of all counts: each is the accuracy
};
/// Of a confusion matrix (C, C).
ClassScores class_scores(std::span<const std::int64_t> confusion);

/// The mean of -log p[label], p at least 1e-15: probabilities (N, C).
double log_loss(std::span<const float> probabilities, std::span<const std::int32_t> labels,
                std::span<const float> weights = {});
/// exp(log_loss): of how many equally likely classes the choice is as hard.
double perplexity(std::span<const float> probabilities, std::span<const std::int32_t> labels,
                  std::span<const float> weights = {});
/// The mean of log(sum exp(z)) - z[label]: logits z (N, C), however large. Throws Error for a
/// sample without a finite largest logit.
double cross_entropy(std::span<const float> logits, std::span<const std::int32_t> labels,
                     std::span<const float> weights = {});

/// The area under the ROC curve: how likely a positive's score is above a negative's, equal scores
/// counting half (by mid-ranks). Truth in {0, 1}. NaN where one of both does not occur.
double roc_auc(std::span<const float> scores, std::span<const float> truth,
               std::span<const float> weights = {});

struct LabelAuc {
  std::vector<double> labels;  ///< NaN for a label that is always or never there
  double mean = kUndefined;    ///< over the others; NaN if there are none
};
/// Of each column of scores and truth (N, labels).
LabelAuc roc_auc_by_label(std::span<const float> scores, std::span<const float> truth,
                          std::int64_t labels, std::span<const float> weights = {});

double mean_absolute_error(std::span<const float> outputs, std::span<const float> targets,
                           std::span<const float> weights = {});
double root_mean_squared_error(std::span<const float> outputs, std::span<const float> targets,
                               std::span<const float> weights = {});
/// 1 - sum (y - t)^2 / sum (t - mean t)^2, the mean over the `columns` numbers of a sample; columns
/// of a constant target are left out, NaN if there are no others.
double r_squared(std::span<const float> outputs, std::span<const float> targets,
                 std::int64_t columns = 1, std::span<const float> weights = {});

struct MetricsOptions {
  std::int64_t batch = 256;
  std::optional<std::int32_t> ignore_index = {};  ///< samples of this label are left out
};

/// What fits the targets of a data set; all else is NaN or empty. Samples count by their weights,
/// and of targets with lengths the steps that count; counts (samples, confusion and what follows
/// from it) have none.
struct Metrics {
  enum class Kind : std::uint8_t { labels, binary, values };
  Kind kind = Kind::labels;  ///< binary: all values are 0 or 1
  std::int64_t samples = 0;

  // Of labels:
  double accuracy = kUndefined;
  double top5 = kUndefined;                  ///< with more than 5 classes
  double log_loss = kUndefined;              ///< cross_entropy()
  double perplexity = kUndefined;            ///< exp(log_loss)
  std::vector<std::int64_t> confusion = {};  ///< (outputs, outputs), up to 4096 outputs
  ClassScores scores = {};

  LabelAuc auc = {};  ///< of binary values

  // Of other values:
  double r_squared = kUndefined;
  double mae = kUndefined;
  double rmse = kUndefined;
};

/// What is measured, of the first output. Where `data` has labels: logits, what goes into a last
/// Softmax. Where all its values are 0 or 1: scores in the order of the probabilities, which
/// float32 probabilities are too coarse for. Else the output itself. Throws Error where data and
/// network don't fit.
std::vector<float> predictions_of(Model& model, const Dataset& data, std::int64_t batch = 256,
                                  std::optional<std::int32_t> ignore_index = {});
/// Measures what predictions_of() gave for `data`. Throws Error for predictions that are NaN.
Metrics measure(std::span<const float> predictions, const Dataset& data,
                std::optional<std::int32_t> ignore_index = {});
/// The probability of class `index` that the softmax of one sample's logits gives.
double softmax_probability(std::span<const float> logits, std::size_t index);
/// Both, the data's classes counted as the model's (with_class_names()).
Metrics evaluate_metrics(Model& model, const Dataset& data, const MetricsOptions& options = {});

}  // namespace linnet
LINNET_API_END
