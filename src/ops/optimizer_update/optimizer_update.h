// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "graph/step.h"
#include "ops/loss_scale/loss_scale.h"

namespace linnet {

/// Says what one element goes through; see optimizer.h for the formulas.
enum class UpdateRule : std::uint8_t {
  sgd,
  momentum,
  nesterov,
  adam,
  adamw,
  rmsprop,
  rmsprop_momentum,
  adagrad,
  lion,
  /// Decays the parameter and leaves the direction of its matrix in the second moment, from where
  /// add_muon() makes a step of it.
  muon,
};
constexpr std::array<std::string_view, 10> enum_names(UpdateRule) {
  return {"sgd",     "momentum",         "nesterov", "adam", "adamw",
          "rmsprop", "rmsprop_momentum", "adagrad",  "lion", "muon"};
}

/// Says how the learning rate's factor follows from StepInfo::schedule_step(); see schedule.h.
enum class Decay : std::uint8_t {
  constant,
  step,
  cosine,
  linear,
  polynomial,
  one_cycle,
  piecewise
};
constexpr std::array<std::string_view, 7> enum_names(Decay) {
  return {"constant", "step", "cosine", "linear", "polynomial", "one_cycle", "piecewise"};
}

/// As many knots as a kernel's argument holds.
inline constexpr std::size_t kMostKnots = 32;

/// Where the factor on the learning rate is given, in rising order; it is linear in between.
struct Knots {
  std::int64_t count = 0;
  double steps[kMostKnots] = {};
  double factors[kMostKnots] = {};
  void add(double step, double factor) {
    steps[count] = step;
    factors[count++] = factor;
  }
  /// Returns steps and factors in turn; of() is the inverse.
  std::vector<double> flat() const;
  static Knots of(const std::vector<double>& flat);
  bool operator==(const Knots&) const = default;
};

/// The numbers of an update, which a kernel takes as an argument. Schedules are in steps.
struct UpdateSettings {
  UpdateRule rule = UpdateRule::sgd;
  double learning_rate = 0.01;
  double momentum = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double alpha = 0.99;
  double epsilon = 1e-8;
  double initial_sum = 0;       ///< adagrad: of squared gradients; its moment is what came later
  double adam_rate = 0;         ///< muon: the learning rate of all but matrices
  std::int64_t iterations = 5;  ///< muon: of Newton and Schulz
  bool normalizes_weights = false;  ///< muon
  double weight_decay = 0;
  double clip_norm = 0;   ///< 0: never
  double clip_value = 0;  ///< 0: never
  Decay decay = Decay::constant;
  std::int64_t warmup_steps = 0;
  std::int64_t every_steps = 1;  ///< step
  std::int64_t total_steps = 1;  ///< where the decay ends, counted from the training's begin
  double rise_steps = 0;         ///< one_cycle: from its begin to the factor 1; may be a fraction
  double gamma = 0.1;            ///< step
  double power = 1;              ///< polynomial
  double start = 1;              ///< one_cycle
  double floor = 0;
  Knots knots = {};  ///< piecewise
  bool operator==(const UpdateSettings&) const = default;
};

/// Elements [begin, end) of the flat arrays, which train with a learning rate and a weight decay of
/// their own.
struct UpdateRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  double rate_factor = 1;
  double weight_decay = 0;
  std::int64_t left_out = 0;  ///< earlier updates, which its bias corrections don't count
  std::int64_t size() const { return end - begin; }
  bool operator==(const UpdateRange&) const = default;
};

/// Ranges begin and end at multiples of so many elements (the last may end where the arrays do):
/// kernels load them at once.
inline constexpr std::int64_t kRangeUnit = 4;

struct OptimizerAttrs {
  UpdateSettings settings;
  /// The elements that train, in order, as {begin, end, begin, end, ...}; the others stay as they
  /// are. Empty: all train, with the settings' weight decay.
  std::vector<std::int64_t> bounds = {};
  std::vector<double> rate_factors = {};    ///< by range, on the learning rate
  std::vector<double> weight_decays = {};   ///< by range, instead of the settings'
  std::vector<std::int64_t> left_out = {};  ///< by range; empty: none of them left an update out
  std::vector<std::int64_t> matrices = {};  ///< muon: where in the arrays each of them begins
  bool guarded = false;  ///< whether a last operand stops the updates; see FiniteCheckOp
  template <class V>
  void fields(V&& visit) {
    visit("rule", settings.rule);
    visit("learning_rate", settings.learning_rate);
    visit("momentum", settings.momentum);
    visit("beta1", settings.beta1);
    visit("beta2", settings.beta2);
    visit("alpha", settings.alpha);
    visit("epsilon", settings.epsilon);
    visit("initial_sum", settings.initial_sum);
    visit("weight_decay", settings.weight_decay);
    visit("clip_norm", settings.clip_norm);
    visit("clip_value", settings.clip_value);
    visit("decay", settings.decay);
    visit("warmup_steps", settings.warmup_steps);
    visit("every_steps", settings.every_steps);
    visit("total_steps", settings.total_steps);
    visit("rise_steps", settings.rise_steps);
    visit("gamma", settings.gamma);
    visit("power", settings.power);
    visit("start", settings.start);
    visit("floor", settings.floor);
    visit("bounds", bounds);
    visit("rate_factors", rate_factors);
    // What ranges left out follows their weight decays: older checkpoints know no field of it.
    std::vector<double> by_range = weight_decays;
    by_range.insert(by_range.end(), left_out.begin(), left_out.end());
    visit("weight_decays", by_range);
    const auto rest = by_range.begin() +
                      static_cast<std::ptrdiff_t>(std::min(by_range.size(), rate_factors.size()));
    weight_decays.assign(by_range.begin(), rest);
    left_out.assign(rest, by_range.end());
    visit("guarded", guarded);
    if (settings.decay == Decay::piecewise) {
      std::vector<double> knots = settings.knots.flat();
      visit("knots", knots);
      settings.knots = Knots::of(knots);
    }
    if (settings.rule != UpdateRule::muon) return;  // checkpoints of other rules know none of these
    visit("adam_rate", settings.adam_rate);
    visit("iterations", settings.iterations);
    visit("normalizes_weights", settings.normalizes_weights);
    visit("matrices", matrices);
  }
  /// Appends a range; joins it to the last one where nothing is between and both train alike.
  void add(const UpdateRange& range);
  bool operator==(const OptimizerAttrs&) const = default;
};

/// Returns the ranges of arrays of `length` elements that train: one at least, unless the length is
/// 0.
std::vector<UpdateRange> ranges_of(const OptimizerAttrs& attrs, std::int64_t length);

/// Returns the learning rate at a StepInfo::schedule_step(), warm-up and schedule applied.
double learning_rate_at(const UpdateSettings& settings, std::uint64_t step);

/// Returns how many flat arrays of moments the rule keeps: 0 to 2. All begin with zeros.
constexpr int moments(UpdateRule rule) {
  switch (rule) {
    case UpdateRule::sgd: return 0;
    case UpdateRule::momentum:
    case UpdateRule::nesterov:
    case UpdateRule::rmsprop:
    case UpdateRule::adagrad:
    case UpdateRule::lion: return 1;
    case UpdateRule::adam:
    case UpdateRule::adamw:
    case UpdateRule::rmsprop_momentum:
    case UpdateRule::muon: break;
  }
  return 2;
}

/// The numbers of one step that do not depend on the element: all factors of the update rule.
/// Without initialisers, so that a kernel can keep it in shared memory. T: float or double.
template <class T>
struct UpdateFactorsOf {
  T rate;         ///< of the momentum or gradient term
  T decay;        ///< what the parameter itself is multiplied with (adamw, lion)
  T penalty;      ///< weight decay that is added to the gradient
  T first_keep;   ///< beta1 or the momentum
  T first_add;    ///< what the gradient is multiplied with as it enters the first moment
  T second_keep;  ///< beta2 or alpha
  T second_add;
  T second_scale;  ///< 1 / sqrt(1 - beta2^t), on the root of the second moment
  T epsilon;
  T initial_sum;
  T clip;        ///< on the gradient
  T clip_value;  ///< the gradient's largest magnitude; infinite: any
};
using UpdateFactors = UpdateFactorsOf<float>;
/// What gradients that follow from a scaled loss are divided by (LossScaleOp), with their norm, and
/// the steps that were left out, which bias corrections do not count.
struct GradientScale {
  double scale = 1;
  double skipped = 0;
};
/// Returns the factors of a range. `norm`: the gradients' L2 norm where clip_norm is set, else
/// anything.
UpdateFactors update_factors(const UpdateSettings& settings, const UpdateRange& range,
                             const StepInfo& step, double norm, const GradientScale& scale = {});

/// One step of the update rule over flat arrays of equal length P, all f32. Operands: parameters
/// (mutated), gradients, then one array per moment (mutated), then the gradients' norm () if
/// clip_norm > 0, then perhaps a LossScaleOp's scale, f32 (kLossScaleSize), which the gradients
/// were multiplied with, then `stopped` f64 () if guarded, which leaves all as it is unless it is
/// 0. Elements outside the ranges are neither read nor written.
class OptimizerUpdateOp final : public OpBase<OptimizerUpdateOp, OptimizerAttrs> {
 public:
  static constexpr std::string_view kName = "optimizer_update";
  enum In : std::uint8_t { parameters, gradients, first_moment, second_moment };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  /// Parameters and moments are read and written.
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  /// Returns the place of the gradients' norm, if there is one: after the moments.
  static constexpr std::size_t norm_input(UpdateRule rule) {
    return In::first_moment + static_cast<std::size_t>(moments(rule));
  }
  /// Returns the place of the loss's scale among so many operands; 0: there is none.
  std::size_t scale_input(std::size_t operands) const {
    const std::size_t place =
        norm_input(attrs().settings.rule) + (attrs().settings.clip_norm > 0 ? 1 : 0);
    return operands - (attrs().guarded ? 1 : 0) > place ? place : 0;
  }
  bool mutates(std::size_t input) const override {
    return input == In::parameters ||
           (input >= In::first_moment && input < norm_input(attrs().settings.rule));
  }
};

struct GlobalNormAttrs {
  /// The elements that count, as OptimizerAttrs::bounds; empty: all.
  std::vector<std::int64_t> bounds = {};
  template <class V>
  void fields(V&& visit) {
    visit("bounds", bounds);
  }
  bool operator==(const GlobalNormAttrs&) const = default;
};

std::vector<UpdateRange> ranges_of(const GlobalNormAttrs& attrs, std::int64_t length);

/// sqrt(sum x²) of ranges of a flat f32 array, summed in f64 in a fixed order.
class GlobalNormOp final : public OpBase<GlobalNormOp, GlobalNormAttrs> {
 public:
  static constexpr std::string_view kName = "global_norm";
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { norm };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
