// SPDX-License-Identifier: Apache-2.0
#include "ops/optimizer_update/optimizer_update.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "graph/registry.h"

namespace linnet {

double learning_rate_at(const OptimizerAttrs& attrs, std::uint64_t step) {
  const auto s = static_cast<double>(step);
  const auto warmup = static_cast<double>(attrs.warmup_steps);
  if (s < warmup) return attrs.learning_rate * (s + 1) / warmup;
  switch (attrs.schedule) {
    case Schedule::Kind::constant: return attrs.learning_rate;
    case Schedule::Kind::step:
      return attrs.learning_rate *
             std::pow(attrs.gamma, std::floor(s / static_cast<double>(attrs.every_steps)));
    case Schedule::Kind::cosine: {
      const double span = std::max(static_cast<double>(attrs.total_steps) - warmup, 1.0);
      const double progress = std::min((s - warmup) / span, 1.0);
      const double factor = 0.5 * (1 + std::cos(std::numbers::pi * progress));
      return attrs.learning_rate * (attrs.floor + (1 - attrs.floor) * factor);
    }
  }
  return attrs.learning_rate;
}

int moments(const OptimizerAttrs& attrs) {
  switch (attrs.kind) {
    case Optimizer::Kind::sgd: return attrs.momentum != 0 ? 1 : 0;
    case Optimizer::Kind::adam:
    case Optimizer::Kind::adamw: return 2;
    case Optimizer::Kind::rmsprop: return attrs.momentum != 0 ? 2 : 1;
  }
  return 0;
}

UpdateFactors update_factors(const OptimizerAttrs& attrs, std::uint64_t step, double norm) {
  const double rate = learning_rate_at(attrs, step);
  UpdateFactors f;
  f.rate = static_cast<float>(rate);
  f.penalty = static_cast<float>(attrs.weight_decay);
  f.first_keep = static_cast<float>(attrs.momentum);
  f.epsilon = static_cast<float>(attrs.epsilon);
  if (attrs.clip_norm > 0 && norm > attrs.clip_norm) {
    f.clip = static_cast<float>(attrs.clip_norm / norm);
  }
  if (attrs.kind == Optimizer::Kind::rmsprop) {
    f.second_keep = static_cast<float>(attrs.alpha);
    f.second_add = static_cast<float>(1 - attrs.alpha);
  }
  if (attrs.kind == Optimizer::Kind::adam || attrs.kind == Optimizer::Kind::adamw) {
    const auto t = static_cast<double>(step + 1);
    f.rate = static_cast<float>(rate / (1 - std::pow(attrs.beta1, t)));
    f.first_keep = static_cast<float>(attrs.beta1);
    f.first_add = static_cast<float>(1 - attrs.beta1);
    f.second_keep = static_cast<float>(attrs.beta2);
    f.second_add = static_cast<float>(1 - attrs.beta2);
    f.second_scale = static_cast<float>(1 / std::sqrt(1 - std::pow(attrs.beta2, t)));
  }
  if (attrs.kind == Optimizer::Kind::adamw) {
    f.decay = static_cast<float>(1 - rate * attrs.weight_decay);
    f.penalty = 0;
  }
  return f;
}

std::vector<ValueType> OptimizerUpdateOp::infer(std::span<const ValueType> inputs) const {
  const std::size_t arrays = 2 + static_cast<std::size_t>(moments(attrs()));
  const std::size_t expected = arrays + (attrs().clip_norm > 0 ? 1 : 0);
  bool fits = inputs.size() == expected;
  for (std::size_t i = 0; fits && i < arrays; ++i) {
    fits = inputs[i].dtype == DType::f32 && inputs[i].shape == inputs[0].shape;
  }
  require(fits, "expected {} operands of equal shape; got {}", expected,
          to_string({"parameters", "gradients", "moment", "moment", "norm"},
                    {inputs.begin(), inputs.end()}));
  return {};
}

void OptimizerUpdateOp::reference(const ReferenceArgs& args) const {
  const int count = moments(attrs());
  const double norm = attrs().clip_norm > 0 ? args.in(2 + static_cast<std::size_t>(count))[0] : 0;
  const UpdateFactors f = update_factors(attrs(), args.step.step, norm);
  for (std::size_t i = 0; i < args.in(0).data.size(); ++i) {
    double& p = args.in(0).data[i];
    const double g = args.in(1).data[i] * f.clip + f.penalty * p;
    switch (attrs().kind) {
      case Optimizer::Kind::sgd: {
        double direction = g;
        if (count > 0) {
          double& v = args.in(2).data[i];
          v = f.first_keep * v + g;
          direction = attrs().nesterov ? g + f.first_keep * v : v;
        }
        p -= f.rate * direction;
        break;
      }
      case Optimizer::Kind::adam:
      case Optimizer::Kind::adamw: {
        double& m = args.in(2).data[i];
        double& v = args.in(3).data[i];
        m = f.first_keep * m + f.first_add * g;
        v = f.second_keep * v + f.second_add * g * g;
        p = p * f.decay - f.rate * m / (std::sqrt(v) * f.second_scale + f.epsilon);
        break;
      }
      case Optimizer::Kind::rmsprop: {
        double& v = args.in(2).data[i];
        v = f.second_keep * v + f.second_add * g * g;
        double direction = g / (std::sqrt(v) + f.epsilon);
        if (count > 1) {
          double& m = args.in(3).data[i];
          m = f.first_keep * m + direction;
          direction = m;
        }
        p -= f.rate * direction;
        break;
      }
    }
  }
}

std::vector<ValueType> GlobalNormOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[0].dtype == DType::f32, "expected one f32 operand");
  return {{DType::f32, Shape{}}};
}

void GlobalNormOp::reference(const ReferenceArgs& args) const {
  double sum = 0;
  for (double x : args.in(0).data) sum += x * x;
  args.out(0)[0] = std::sqrt(sum);
}

void register_optimizer_update(OpRegistry& registry) {
  registry.add<OptimizerUpdateOp>();
  registry.add<GlobalNormOp>();
}

}  // namespace linnet
