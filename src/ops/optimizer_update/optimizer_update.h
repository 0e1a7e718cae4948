// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/optimizer.h>

#include <array>
#include <cstdint>

#include "graph/graph.h"
#include "graph/step.h"

namespace linnet {

constexpr std::array<std::string_view, 4> enum_names(Optimizer::Kind) {
  return {"sgd", "adam", "adamw", "rmsprop"};
}
constexpr std::array<std::string_view, 3> enum_names(Schedule::Kind) {
  return {"constant", "step", "cosine"};
}

/// An Optimizer with its schedule resolved to steps.
struct OptimizerAttrs {
  Optimizer::Kind kind = Optimizer::Kind::sgd;
  double learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double alpha = 0.99;
  double weight_decay = 0;
  double clip_norm = 0;
  Schedule::Kind schedule = Schedule::Kind::constant;
  std::int64_t warmup_steps = 0;
  std::int64_t every_steps = 1;
  std::int64_t total_steps = 1;
  double gamma = 0.1;
  double floor = 0;
  template <class V>
  void fields(V&& visit) {
    visit("kind", kind);
    visit("learning_rate", learning_rate);
    visit("momentum", momentum);
    visit("nesterov", nesterov);
    visit("beta1", beta1);
    visit("beta2", beta2);
    visit("epsilon", epsilon);
    visit("alpha", alpha);
    visit("weight_decay", weight_decay);
    visit("clip_norm", clip_norm);
    visit("schedule", schedule);
    visit("warmup_steps", warmup_steps);
    visit("every_steps", every_steps);
    visit("total_steps", total_steps);
    visit("gamma", gamma);
    visit("floor", floor);
  }
  bool operator==(const OptimizerAttrs&) const = default;
};

/// The learning rate of a step, warm-up and schedule applied.
double learning_rate_at(const OptimizerAttrs& attrs, std::uint64_t step);

/// How many flat arrays of moments the rule keeps: 0 to 2.
int moments(const OptimizerAttrs& attrs);

/// The numbers of one step that do not depend on the element: all factors of the update rule.
/// Without initialisers, so that a kernel can keep it in shared memory.
struct UpdateFactors {
  float rate;         ///< of the momentum or gradient term
  float decay;        ///< what the parameter itself is multiplied with (adamw)
  float penalty;      ///< weight decay that is added to the gradient
  float first_keep;   ///< beta1 or the momentum
  float first_add;    ///< what the gradient is multiplied with as it enters the first moment
  float second_keep;  ///< beta2 or alpha
  float second_add;
  float second_scale;  ///< 1 / sqrt(1 - beta2^t), on the root of the second moment
  float epsilon;
  float clip;  ///< on the gradient
};
/// `norm`: the gradients' L2 norm where clip_norm is set, else anything.
UpdateFactors update_factors(const OptimizerAttrs& attrs, const StepInfo& step, double norm);

/// One step of the update rule over flat arrays of equal length P, all f32. Operands: parameters
/// (mutated), gradients, then one array per moment (mutated), then the gradients' norm () if
/// clip_norm > 0.
class OptimizerUpdateOp final : public OpBase<OptimizerUpdateOp, OptimizerAttrs> {
 public:
  static constexpr std::string_view kName = "optimizer_update";
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  bool mutates(std::size_t input) const override {
    return input == 0 || (input >= 2 && input < 2 + static_cast<std::size_t>(moments(attrs())));
  }
};

/// sqrt(sum x²) of a flat f32 array, summed in f64 in a fixed order.
class GlobalNormOp final : public OpBase<GlobalNormOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "global_norm";
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
