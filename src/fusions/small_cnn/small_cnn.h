// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "fusions/conv2d_pool/conv2d_pool.h"
#include "ops/gather_batch/gather_batch.h"

namespace linnet {

struct SmallCnnAttrs {
  GatherBatchAttrs gather;  ///< of the samples; the targets go through the same order unscaled
  Conv2dPoolAttrs conv_pool;
  bool probabilities = false;  ///< whether the scores are probabilities, or logits
  /// Whether it also adds the batch to the counters of a training, as a MetricsOp of `history`
  /// losses, and stops the training as a FiniteCheckOp of loss and gradients.
  bool finish = false;
  std::int64_t history = 0;
  template <class V>
  void fields(V&& visit) {
    gather.fields(visit);
    conv_pool.fields(
        [&](std::string_view name, auto& field) { visit("conv_" + std::string(name), field); });
    visit("probabilities", probabilities);
    visit("finish", finish);
    visit("history", history);
  }
  bool operator==(const SmallCnnAttrs&) const = default;
};

/// Blocks of a GPU's first kernel, at most: each leaves a part of the convolution's gradient. The
/// same on every device, since the order of that sum follows from it.
inline constexpr std::int64_t kSmallCnnBlocks = 128;

/// What a step has less where one operator stands for several.
struct Saving {
  double operators = 0;  ///< that are not run, with the gradients' ones
  double bytes = 0;      ///< that are not moved
};

/// A whole small network with its loss and the gradients of its parameters, in one operator:
///   softmax_cross_entropy(dense(flatten(conv2d_pool(gather_batch(samples), w, b)), v, c), targets)
/// Operands: samples u8 or f32 (1, H, W, C) and targets i32 (1), which are data sets as of
/// gather_batch; w (C_out, KH, KW, C), b (C_out), v (classes, features), c (classes); where it
/// finishes a step, counters f64 (kCounters + history) and stopped f64 (), both mutated.
/// Outputs: see Out. Which gradients (all, or none) are computed follows from what is read.
class SmallCnnOp final : public OpBase<SmallCnnOp, SmallCnnAttrs> {
 public:
  static constexpr std::string_view kName = "small_cnn";
  enum In : std::uint8_t { samples, targets, w, b, v, c, counters, stopped };
  enum Out : std::uint8_t {
    loss,    ///< f32 (), the mean over the batch
    scores,  ///< f32 (N, classes)
    labels,  ///< i32 (N), the targets of the batch
    dw,      ///< of the loss by w, b, v, c: saved for gradient()
    db,
    dv,
    dc,
  };
  static constexpr std::size_t kInputs = In::c + 1;  ///< without those of the finish
  static constexpr std::size_t kOutputs = Out::dc + 1;
  using OpBase::OpBase;
  bool finds_gradients() const override { return true; }
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  bool mutates(std::size_t input) const override { return input >= In::counters; }
  /// By the parameters, through the loss alone: the saved gradients, as they are where the loss's
  /// own gradient is the constant 1, else times it.
  std::vector<Value> gradient(const GradientArgs& args) const override;
  /// The composition and its derivative, interpreted.
  void reference(const ReferenceArgs& args) const override;
  /// Bytes: the operands, the results, and what the two kernels on CUDA hand from one to the other.
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  /// Over the operators that it stands for, with their gradients. The device's kernels say whether
  /// that is worth it.
  Saving saving(std::span<const ValueType> inputs) const;
};

}  // namespace linnet
