// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>
#include <linnet/tensor.h>

#include <cstdint>
#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Encodes each number as its position in each bin: 0 below the bin, 1 above it, and
/// (x - low) / (high - low) inside. A layer after it learns a piecewise-linear function of each
/// number, with thresholds that a plain network finds slowly (the PLE of Gorishniy et al., "On
/// embeddings for numerical features in tabular deep learning", 2022; values outside all bins count
/// as the nearest edge). A bin without width is 0.
struct PiecewiseLinear {
  std::int64_t bins = 0;  ///< number of bins of each feature, at least 1
  /// Edges of the bins, bins + 1 ascending numbers for each feature, those of the first one first.
  /// They are constants: no training changes them.
  std::vector<double> edges = {};
  std::string name = {};  ///< unique in the network; empty: "piecewise_linear_1", ...
  void build(NetworkBuilder& builder) const;
};

/// Returns a PiecewiseLinear whose edges are quantiles of samples (N, features), f32, so that each
/// bin holds about as many of them. A feature of fewer different values than bins has an edge at
/// each of them, and then bins without width. Throws Error for other samples, for fewer than one,
/// and for fewer than one bin.
PiecewiseLinear quantile_bins(const Tensor& samples, std::int64_t bins);

}  // namespace linnet
LINNET_API_END
