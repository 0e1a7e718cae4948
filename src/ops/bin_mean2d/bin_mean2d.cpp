// SPDX-License-Identifier: Apache-2.0
#include "ops/bin_mean2d/bin_mean2d.h"

#include "graph/registry.h"
#include "ops/bin_mean2d/bins.h"

namespace linnet {
namespace {

/// Calls f(output index, input index, pixels of the bin) for every pixel of every bin.
template <class F>
void for_pixels(const BinShape& s, F f) {
  for (std::int64_t out = 0; out < s.outputs(); ++out) {
    const std::int64_t c = out % s.c;
    const std::int64_t j = out / s.c % s.columns.count;
    const std::int64_t i = out / s.c / s.columns.count % s.rows.count;
    const std::int64_t n = out / s.c / s.columns.count / s.rows.count;
    const BinRange rows = s.rows.pixels(i);
    const BinRange columns = s.columns.pixels(j);
    for (std::int64_t h = rows.begin; h < rows.end; ++h) {
      for (std::int64_t w = columns.begin; w < columns.end; ++w) {
        f(out, ((n * s.rows.dim + h) * s.columns.dim + w) * s.c + c,
          static_cast<double>(rows.size() * columns.size()));
      }
    }
  }
}

bool fits(const Bins& bins) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;  // a file may say anything; no overflow
  if (bins.dim < 1 || bins.count < 1 || bins.dim >= kMost || bins.count >= kMost) return false;
  if (bins.size == 0) return true;
  return bins.size > 0 && bins.size < kMost && bins.stride >= 1 && bins.stride < kMost &&
         bins.pad >= 0 && bins.pad < bins.size &&
         (bins.count - 1) * bins.stride - bins.pad < bins.dim;
}

}  // namespace

BinShape bin_shape(const BinMean2dAttrs& a, const Shape& x) {
  const BinShape s{.n = x[0],
                   .c = x[3],
                   .rows = {x[1], a.out_h, a.size_h, a.stride_h, a.pad_top},
                   .columns = {x[2], a.out_w, a.size_w, a.stride_w, a.pad_left}};
  require(fits(s.rows) && fits(s.columns),
          "expected bins that all hold a pixel; got ({}, {}) bins of ({}, {}), strides ({}, {}), "
          "padding ({}, {}) for x={}",
          a.out_h, a.out_w, a.size_h, a.size_w, a.stride_h, a.stride_w, a.pad_top, a.pad_left,
          to_string(x));
  return s;
}

BinShape bin_shape(const BinMean2dGradAttrs& attrs, const Shape& dy) {
  return bin_shape(attrs.bins, {dy[0], attrs.in_h, attrs.in_w, dy[3]});
}

std::vector<ValueType> BinMean2dOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32 &&
              inputs[In::x].shape.rank() == 4,
          "expected images (N, H, W, C); got {}", to_string({"x"}, {inputs.begin(), inputs.end()}));
  const BinShape s = bin_shape(attrs(), inputs[In::x].shape);
  return {{DType::f32, Shape{s.n, s.rows.count, s.columns.count, s.c}}};
}

std::vector<Value> BinMean2dOp::gradient(const GradientArgs& args) const {
  const Shape x = args.graph.shape(args.node.inputs[In::x]);
  return {args.graph.emit(BinMean2dGradOp({attrs(), x[1], x[2]}), {args.output_gradients[Out::y]},
                          args.node.name)};
}

void BinMean2dOp::reference(const ReferenceArgs& args) const {
  for (double& y : args.out(Out::y).data) y = 0;
  for_pixels(bin_shape(attrs(), args.in(In::x).shape),
             [&](std::int64_t out, std::int64_t in, double pixels) {
               args.out(Out::y)[out] += args.in(In::x)[in] / pixels;
             });
}

std::vector<ValueType> BinMean2dGradOp::infer(std::span<const ValueType> inputs) const {
  const std::string got = to_string({"dy"}, {inputs.begin(), inputs.end()});
  require(inputs.size() == 1 && inputs[In::dy].dtype == DType::f32 &&
              inputs[In::dy].shape.rank() == 4,
          "expected dy (N, OH, OW, C); got {}", got);
  const BinShape s = bin_shape(attrs(), inputs[In::dy].shape);
  const Shape dy{s.n, s.rows.count, s.columns.count, s.c};
  require(inputs[In::dy].shape == dy, "expected dy={}; got {}", to_string(dy), got);
  return {{DType::f32, Shape{s.n, s.rows.dim, s.columns.dim, s.c}}};
}

std::vector<Value> BinMean2dGradOp::gradient(const GradientArgs& args) const {
  return {
      args.graph.emit(BinMean2dOp(attrs().bins), {args.output_gradients[Out::dx]}, args.node.name)};
}

void BinMean2dGradOp::reference(const ReferenceArgs& args) const {
  for (double& dx : args.out(Out::dx).data) dx = 0;
  for_pixels(bin_shape(attrs(), args.in(In::dy).shape),
             [&](std::int64_t out, std::int64_t in, double pixels) {
               args.out(Out::dx)[in] += args.in(In::dy)[out] / pixels;
             });
}

void register_bin_mean2d(OpRegistry& registry) {
  registry.add<BinMean2dOp>();
  registry.add<BinMean2dGradOp>();
}

}  // namespace linnet
