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

/// Names a loss, which a training minimises. y is the network's output, t the target. The loss of a
/// batch is the mean over its samples (the last, smaller batch by its own size), weighted where the
/// data set has weights (Dataset::set_weights()); of labels of steps or pixels the mean over all of
/// these, classes along the last axis of y. An epoch's reported loss is the mean of its batches'
/// losses, each counted by its samples or their weights; an evaluation's is that of the whole set.
enum class Loss : std::uint8_t {
  /// cross_entropy for labels, binary_cross_entropy for values of 0 and 1 in a column for each
  /// class
  /// (Dataset::classes()), as of X-rays, mse for other values
  automatic,
  /// -log softmax(y)[label], or -sum t log softmax(y) for targets that are distributions. Takes
  /// logits, or probabilities if the network ends in Softmax. PyTorch's CrossEntropyLoss.
  cross_entropy,
  mse,  ///< (y - t)^2, mean over all elements. PyTorch's MSELoss.
  mae,  ///< |y - t|, mean over all elements. PyTorch's L1Loss.
  /// -t log s(y) - (1 - t) log(1 - s(y)), s the sigmoid, mean over all elements; t in [0, 1]. Of
  /// labels, t is 0 or 1 for one output, else 1 for the label's output and 0 for the others. Takes
  /// logits, or the outputs of a last Sigmoid. PyTorch's BCEWithLogitsLoss.
  binary_cross_entropy,
  /// d^2 / 2 up to delta, delta (|d| - delta / 2) beyond, with d = y - t; mean over all elements.
  /// PyTorch's HuberLoss.
  huber,
  /// sum t (log t - log softmax(y)), mean over the samples, for values that are distributions.
  /// Takes logits, or probabilities of a last Softmax. PyTorch's KLDivLoss ("batchmean") of
  /// log_softmax.
  kl_divergence,
  /// Labels: sum over the other classes c of max(0, 1 - y[label] + y[c]) / classes (PyTorch's
  /// MultiMarginLoss). Values of -1 and 1: max(0, 1 - y t), mean over all elements (Keras' Hinge).
  hinge,
  /// 1 - cos(y, t) along the last axis. PyTorch's CosineEmbeddingLoss for pairs that are alike.
  cosine,
  /// Labels: -(1 - p)^gamma log p with p = softmax(y)[label]. Values of 0 and 1: binary, mean over
  /// all elements, with alpha, as torchvision's sigmoid_focal_loss. Lin et al., "Focal loss for
  /// dense object detection", 2017.
  focal,
  /// |y - t|^p, p the exponent, mean over all elements. Below p = 2, which is mse, outliers count
  /// less; p = 1 is mae. OpenNN's Minkowski error.
  minkowski,
  /// q (t - y) where the target is above the output, (1 - q) (y - t) below, mean over all elements:
  /// a share q of the targets is then below the outputs. Half of mae at q = 0.5. The pinball loss
  /// of Koenker and Bassett, "Regression quantiles", 1978.
  quantile,
  /// mse divided by the variance of the targets, about the mean of all their elements: 1 - R^2.
  /// What a Trainer evaluates is divided by the variance of the training set that it has read;
  /// linnet::evaluate() takes that of its own data. OpenNN's normalized squared error. Throws
  /// DataError where these targets are all alike, and where they come from a source of records.
  normalized_squared_error,
};

/// Returns the names of all losses, in the order of Loss, as configurations write them:
/// "cross_entropy", ...
std::vector<std::string_view> loss_names();

/// Modifies a loss. The training throws Error where a loss does not take an option that is set.
struct LossOptions {
  /// Label smoothing s, in [0, 1). Cross-entropy spreads s of every target over the classes; binary
  /// cross-entropy uses t (1 - s) + s / 2. PyTorch's and Keras' definitions.
  double label_smoothing = 0;
  /// Weight of each output, at least 0; empty: 1. With labels the loss is sum(w[label] loss) /
  /// sum(w[label]) over the batch; else (soft labels, binary losses, mse, mae) the plain mean of
  /// the weighted losses. PyTorch's definitions; focal and hinge follow cross-entropy.
  std::vector<double> class_weights = {};
  /// Label whose samples are left out of loss, gradient and mean; it need not be one of the
  /// classes. PyTorch's default is -100, here there is none. A batch of ignored samples only has
  /// loss and gradient 0 (PyTorch's loss is NaN there). Evaluation::accuracy counts such samples as
  /// wrong; measure() leaves them out.
  std::optional<std::int32_t> ignore_index = {};
  /// Weight of the positive answers in binary cross-entropy, one for each output (last axis);
  /// empty:
  /// 1. PyTorch's pos_weight.
  std::vector<double> positive_weights = {};
  double focal_gamma = 2;  ///< exponent gamma of the focal loss, at least 0; 0 is cross-entropy
  /// Weight of the positive answers in the binary focal loss, 1 - alpha of the others; below 0:
  /// none. torchvision's default.
  double focal_alpha = 0.25;
  double huber_delta = 1;  ///< delta of the Huber loss, above 0. PyTorch's default.
  /// Adds l1 * sum |w| over all trained weights of two axes or more (no biases, no scales of
  /// normalisations) to the loss of a training and to its reported loss; evaluations leave it out.
  /// At least 0.
  double l1 = 0;
  /// Adds l2 * sum w^2 over the same weights. At least 0. Differs from an optimizer's weight_decay,
  /// which changes gradients or updates and no loss.
  double l2 = 0;
  double minkowski_exponent = 1.5;  ///< exponent p of the Minkowski error, at least 1. OpenNN's.
  double quantile = 0.5;  ///< q of the quantile loss, in (0, 1); 0.9: nine of ten targets are below

  /// Returns whether all fields are equal.
  bool operator==(const LossOptions&) const = default;
};

/// Returns weights that make every class count alike: samples / (classes * samples of the class), 0
/// for a class without samples (scikit-learn's "balanced"). Samples of the ignored label are not
/// counted. Where the classes are unknown, there is one for each label up to the largest. Throws
/// Error for data without labels.
std::vector<double> balanced_class_weights(const Dataset& data,
                                           std::optional<std::int32_t> ignore_index = {});

}  // namespace linnet
LINNET_API_END
