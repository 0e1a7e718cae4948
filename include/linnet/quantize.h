// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>
#include <linnet/model.h>

#include <cstdint>

LINNET_API_BEGIN
namespace linnet {

/// Says how quantize() finds the ranges of activations.
struct QuantizeOptions {
  /// Samples that are predicted to find the ranges, evenly spaced in the data set, at least 1; all
  /// where it has fewer.
  std::int64_t samples = 500;
  std::int64_t batch = 20;  ///< samples computed at a time, at least 1
};

/// Returns a copy of a model on the CPU whose convolutions and dense layers multiply 8-bit whole
/// numbers at inference. Weights get a scale for each output channel (the largest is 127 steps).
/// What these layers read, and what is added to their results, gets 256 levels between the smallest
/// and the largest value that the samples give. Both are part of the network: the copy saves,
/// loads, predicts and evaluates as any model does. The CPU computes in 8 bits, bias, batch norm,
/// activation and residual included; a GPU, and a training, compute in f32 on rounded numbers, whose
/// gradients pass unchanged. Layers with groups or dilation, and all other operators, stay in f32.
/// Waits. Throws Error for a model without convolutions and dense layers, for one that is
/// quantized, and DataError for data that do not fit the network or give values that are not
/// finite.
Model quantize(const Model& model, const Dataset& data, const QuantizeOptions& options = {});

/// Returns how many convolutions and dense layers of a model multiply 8-bit whole numbers; 0: it is
/// not quantized.
std::int64_t quantized_layers(const Model& model);

}  // namespace linnet
LINNET_API_END
