// SPDX-License-Identifier: Apache-2.0
#include "fusions/int8/pool_int8.h"

#include "graph/registry.h"

namespace linnet {
namespace {

void require_levels(std::span<const ValueType> inputs) {
  require(inputs.size() == 1 && inputs[kFirst].dtype == DType::u8 &&
              inputs[kFirst].shape.rank() == 4,
          "expected levels (N, H, W, C) of u8; got {}",
          to_string({"x"}, {inputs.begin(), inputs.end()}));
}

}  // namespace

std::vector<ValueType> MaxPoolInt8Op::infer(std::span<const ValueType> inputs) const {
  require_levels(inputs);
  const PoolShape s = pool_shape(attrs(), inputs[In::x].shape);
  return {{DType::u8, Shape{s.n, s.oh, s.ow, s.c}}};
}

void MaxPoolInt8Op::reference(const ReferenceArgs& args) const {
  ReferenceTensor winner = args.out(Out::y);
  MaxPool2dOp(attrs()).reference({args.inputs, std::array{&args.out(Out::y), &winner}, args.step});
}

std::vector<ValueType> GlobalAvgPoolInt8Op::infer(std::span<const ValueType> inputs) const {
  require_levels(inputs);
  check_levels(attrs());
  const Shape& x = inputs[In::x].shape;
  require(x[1] * x[2] > 0, "expected images with a pixel; got x={}", to_string(x));
  return {{DType::f32, Shape{x[0], x[3]}}};
}

void GlobalAvgPoolInt8Op::reference(const ReferenceArgs& args) const {
  const Shape& x = args.in(In::x).shape;
  const std::int64_t pixels = x[1] * x[2];
  for (std::int64_t i = 0; i < args.out(Out::y).shape.elements(); ++i) {
    double sum = 0;
    for (std::int64_t p = 0; p < pixels; ++p) {
      sum += attrs().value_of(args.in(In::x)[(i / x[3] * pixels + p) * x[3] + i % x[3]]);
    }
    args.out(Out::y)[i] = sum / static_cast<double>(pixels);
  }
}

void register_pool_int8(OpRegistry& registry) {
  registry.add<MaxPoolInt8Op>();
  registry.add<GlobalAvgPoolInt8Op>();
}

}  // namespace linnet
