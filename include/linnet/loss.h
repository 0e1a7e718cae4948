// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// What a training makes small: the mean over a batch's samples (a last smaller batch by its own
/// size), weighted where the data set has weights (Dataset::set_weights()). An epoch's reported
/// loss is the mean of its batches' losses, each counted by its samples or the sum of their
/// weights.
enum class Loss : std::uint8_t {
  automatic,             ///< cross_entropy for labels, mse for values
  cross_entropy,         ///< labels, or a distribution over the outputs (soft labels); logits, or
                         ///< probabilities if the network ends in Softmax
  mse,                   ///< (y - t)^2, over all elements
  mae,                   ///< |y - t|
  binary_cross_entropy,  ///< logits (or the outputs of a last Sigmoid) against values in [0, 1]
  huber,                 ///< d = y - t: d^2 / 2 up to delta, delta (|d| - delta / 2) beyond
  /// Values that are distributions: sum t (log t - log softmax(y)), over the samples (PyTorch's
  /// KLDivLoss, "batchmean", of log_softmax). Logits, or probabilities of a last Softmax.
  kl_divergence,
  /// Labels: sum over the other classes of max(0, 1 - y[label] + y[c]) / classes (PyTorch's
  /// MultiMarginLoss). Values of -1 and 1: max(0, 1 - y t) over all elements (Keras' Hinge).
  hinge,
  cosine,  ///< 1 - cos(y, t) along the last axis (PyTorch's CosineEmbeddingLoss for like pairs)
  /// Lin et al., 2017. Labels: -(1 - p)^gamma log p of the label's p = softmax(y). Values of 0 and
  /// 1: binary, over all elements, with alpha (torchvision's sigmoid_focal_loss).
  focal,
};

/// The names of all losses, in order, as configurations write them: "cross_entropy", ...
std::vector<std::string_view> loss_names();

/// What changes a loss. Throws Error from the training where a loss has no use for an option.
struct LossOptions {
  /// Cross-entropy: takes so much of every target and spreads it over the classes; binary
  /// cross-entropy: over both answers, t (1 - s) + s / 2. In [0, 1).
  double label_smoothing = 0;
  /// One weight for each output, not negative. With labels the mean is sum(w[label] loss) /
  /// sum(w[label]) over the batch; else (soft labels, binary losses) the plain mean of what is
  /// weighted: PyTorch's definitions. For focal and hinge as for cross-entropy.
  std::vector<double> class_weights = {};
  /// Samples of this label count for nothing, neither in loss and gradient nor in the mean. Loss
  /// and gradient of a batch that has no other are 0 (PyTorch's loss is NaN there). It need not be
  /// one of the classes; -100 is PyTorch's. (Evaluation::accuracy counts them as wrong; measure()
  /// leaves them out.)
  std::optional<std::int32_t> ignore_index = {};
  /// Binary cross-entropy: weights of the positive answers, one for each output (of the last axis).
  std::vector<double> positive_weights = {};
  double focal_gamma = 2;     ///< at least 0; 0 is cross-entropy
  double focal_alpha = 0.25;  ///< of the positive answers, 1 - alpha of the others; below 0: none
  double huber_delta = 1;     ///< above 0
  /// Adds l1 * sum |w| and l2 * sum w^2 over all trained weights of two axes or more (no biases, no
  /// scales of normalisations) to the loss of a training, and to the training loss that is
  /// reported; evaluations leave them out. (Optimizer::weight_decay is another thing.)
  double l1 = 0;
  double l2 = 0;

  bool operator==(const LossOptions&) const = default;
};

/// Weights that let every class count alike: samples / (classes * samples of the class), and 0 for
/// a class without samples (scikit-learn's "balanced"). Samples of the ignored label are not
/// counted. Where the classes are not known there is one for each label up to the largest. Throws
/// Error for data without labels.
std::vector<double> balanced_class_weights(const Dataset& data,
                                           std::optional<std::int32_t> ignore_index = {});

}  // namespace linnet
LINNET_API_END
