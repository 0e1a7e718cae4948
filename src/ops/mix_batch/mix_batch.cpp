// SPDX-License-Identifier: Apache-2.0
#include "ops/mix_batch/mix_batch.h"

#include <cmath>

#include "graph/registry.h"
#include "ops/mix_batch/formulas.h"

namespace linnet {
namespace {

void check_rule(const MixRule& rule) {
  const auto fits = [](double alpha) { return alpha >= 0 && std::isfinite(alpha); };
  require(fits(rule.mixup) && fits(rule.cutmix) && (rule.mixup > 0 || rule.cutmix > 0),
          "expected an alpha above 0 for mixup or cutmix; got {} and {}", rule.mixup, rule.cutmix);
  require(rule.height >= 1 && rule.width >= 1, "expected images of at least a pixel; got {} x {}",
          rule.height, rule.width);
}

}  // namespace

std::vector<ValueType> MixBatchOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32 &&
              inputs[In::x].shape.rank() >= 1,
          "expected one f32 operand (N, ...); got {}",
          to_string({"x"}, {inputs.begin(), inputs.end()}));
  check_rule(attrs());
  const Shape& x = inputs[In::x].shape;
  require(attrs().cutmix <= 0 || (x.rank() == 4 && x[1] == attrs().height && x[2] == attrs().width),
          "expected images (N, {}, {}, C); got {}", attrs().height, attrs().width,
          to_string(inputs[In::x]));
  return {inputs[In::x]};
}

void MixBatchOp::reference(const ReferenceArgs& args) const {
  const Shape& shape = args.in(In::x).shape;
  const std::int64_t size = shape.sample().elements();
  const std::int64_t channels = attrs().cutmix > 0 ? shape[3] : 1;
  const MixDraw draw = draw_mix(attrs(), args.step);
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    const std::int64_t other = draw.partner(i, shape[0]);
    for (std::int64_t k = 0; k < size; ++k) {
      args.out(Out::y)[i * size + k] =
          draw.mixed(args.in(In::x)[i * size + k], args.in(In::x)[other * size + k], k,
                     attrs().width, channels);
    }
  }
}

std::vector<ValueType> MixTargetsOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::targets].shape.rank() >= 1 &&
              (inputs[In::targets].dtype == DType::f32 ||
               (inputs[In::targets].dtype == DType::i32 && inputs[In::targets].shape.rank() == 1)),
          "expected i32 labels (N) or f32 values (N, ...); got {}",
          to_string({"targets"}, {inputs.begin(), inputs.end()}));
  check_rule(attrs().rule);
  require(attrs().classes >= 1, "expected at least one class; got {}", attrs().classes);
  if (inputs[In::targets].dtype == DType::f32) return {inputs[In::targets]};
  return {{DType::f32, Shape{inputs[In::targets].shape[0], attrs().classes}}};
}

void MixTargetsOp::reference(const ReferenceArgs& args) const {
  const ReferenceTensor& targets = args.in(In::targets);
  const std::int64_t batch = targets.shape[0];
  const MixDraw draw = draw_mix(attrs().rule, args.step);
  const bool labels = args.out(Out::y).shape != targets.shape;
  const std::int64_t size = args.out(Out::y).shape.sample().elements();
  for (std::int64_t i = 0; i < batch; ++i) {
    const std::int64_t other = draw.partner(i, batch);
    for (std::int64_t k = 0; k < size; ++k) {
      args.out(Out::y)[i * size + k] =
          labels
              ? mixed_label(draw, static_cast<std::int64_t>(targets[i]),
                            static_cast<std::int64_t>(targets[other]), k, attrs().classes)
              : draw.share * targets[i * size + k] + (1 - draw.share) * targets[other * size + k];
    }
  }
}

void register_mix_batch(OpRegistry& registry) {
  registry.add<MixBatchOp>();
  registry.add<MixTargetsOp>();
}

}  // namespace linnet
