// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cpu/kernel.h"
#include "ops/conv2d/conv2d.h"

namespace linnet::cpu {

/// What follows the sums of a forward convolution.
struct ConvTail {
  bool bias = false;
  Activation activation = Activation::none;
  bool residual = false;       ///< whether kResidual, of y's shape, is added before the activation
  bool keeps_weights = false;  ///< their packing costs nothing: it is done once, not in each run
};

/// The operand that ConvTail::residual adds, after Conv2dOp's own.
inline constexpr std::size_t kResidual = Conv2dOp::In::b + 1;

/// One way to compute convolutions. Operands are those of Conv2dOp (x, w, [b] -> y),
/// Conv2dGradInputOp (dz, w -> dx) and Conv2dGradWeightOp (x, dz -> dw). Each function is null
/// where the engine does not take the shape; every shape has the im2col engine.
struct ConvEngine {
  std::string_view name;  ///< one word
  std::optional<Kernel> (*forward)(const ConvShape& shape, const ConvTail& tail);
  std::optional<Kernel> (*grad_input)(const ConvShape& shape);
  std::optional<Kernel> (*grad_weight)(const ConvShape& shape);
  bool adds_residual = false;  ///< whether forward() takes a tail with one
};

/// 1x1 kernels at stride 1 without padding and groups: matrix products on the images themselves.
const ConvEngine& pointwise_engine();
/// Images of fewer pixels than the kernel has taps: products of whole images. Of many images, no
/// groups.
const ConvEngine& whole_image_engine();
/// 3x3 kernels at stride 1 by Winograd's F(2x2, 3x3): 16 products where others have 36, each result
/// a few roundings further from the exact one. From 16 channels on, of many pixels.
const ConvEngine& winograd_engine();
/// Matrix products on patches that are gathered block by block. Takes everything.
const ConvEngine& im2col_engine();
/// Sums in registers over patches that are read where they lie; no groups, no dilation.
const ConvEngine& direct_engine();
/// Few filters on short patches: neighbouring pixels as one of more channels. Forward alone.
const ConvEngine& joined_pixels_engine();
/// groups == C == C_out: loops over pixels, vectors over channels.
const ConvEngine& depthwise_engine();
/// Groups of 2 or 4 channels (weights' gradients: 8 too) that read and write as many and fill
/// vectors; no dilation.
const ConvEngine& grouped_engine();
/// oneDNN's convolutions, one sequential primitive a block of samples.
const ConvEngine& onednn_engine();
/// Returns the same on operands 0 and 1 in bfloat16; none where the processor has no such
/// arithmetic.
const ConvEngine& onednn_bf16_engine();

/// Gives an engine's kernel of a forward convolution, for ConvTail::keeps_weights.
using PrepareForward =
    std::function<std::optional<Kernel>(const ConvEngine& engine, bool keeps_weights)>;
/// Returns every engine as a candidate for a forward convolution, the one that is fastest as a rule
/// first. Packed weights are kept where they are fixed and packing counts.
std::vector<Candidate> forward_candidates(const ConvShape& shape, bool fixed_weights,
                                          const PrepareForward& prepare);

/// Nanoseconds of one core for `flops` at a cautious 40 GFLOP/s.
inline double conv_cost(double flops) { return flops / 40; }

/// Returns how many partial weight gradients are worth it: more than 16 only where adding them
/// costs less than a 64th of the work. Further tasks are better parts of the weights,
/// share_tasks().
inline int partial_gradients(const ConvShape& shape, std::int64_t items, double cost_each) {
  const std::int64_t weights = shape.weights();
  const auto cheap = static_cast<std::int64_t>(static_cast<double>(items) * cost_each / 16);
  return partial_tasks(items, cost_each, weights,
                       std::clamp<std::int64_t>(cheap, 16 * weights, kPartialFloats));
}

/// Returns in how many parts of its result each of `partials` sums is computed, each a task, where
/// there are at most `most` that are worth reading the operands again for.
inline int share_tasks(int partials, std::int64_t items, double cost_each, std::int64_t most) {
  constexpr std::int64_t kManyItems = 1 << 20;  // tasks_for() must not be bounded by the items
  const double cost = static_cast<double>(items) * cost_each;
  const int worth = tasks_for(kManyItems, cost / static_cast<double>(kManyItems));
  return static_cast<int>(
      std::clamp<std::int64_t>(worth / partials, 1, std::max<std::int64_t>(most, 1)));
}

}  // namespace linnet::cpu
