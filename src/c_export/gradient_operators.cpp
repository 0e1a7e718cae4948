// SPDX-License-Identifier: Apache-2.0
// Operators that derivatives add to a network: hessian(), jacobian(), gradient().
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "c_export/writers.h"
#include "graph/add.h"
#include "ops/activation/activation.h"
#include "ops/dense/dense.h"
#include "ops/global_pool/global_pool.h"
#include "ops/pool2d/pool2d.h"
#include "ops/reduce/reduce.h"
#include "ops/slice/axis.h"
#include "ops/slice/slice.h"
#include "ops/softmax/softmax.h"

namespace linnet {
namespace {

void write_add(const Written& w) {
  w.file.each(w.shape_out().elements(),
              {{.name = 'a', .value = w.node.inputs[AddOp::a]},
               {.name = 'b', .value = w.node.inputs[AddOp::b]}},
              w.node.outputs[0], "a + b");
}

/// dx = d times the slope at `name`, the second operand.
void times_slope(const Written& w, char name, const std::string& slope) {
  std::vector<FormulaOperand> operands{{.name = 'd', .value = w.node.inputs[0]}};
  if (slope.find(name) != std::string::npos) {
    operands.push_back({.name = name, .value = w.node.inputs[1]});
  }
  w.file.each(w.shape_out().elements(), operands, w.node.outputs[0],
              fmt::format("d * ({})", slope));
}

void write_activation_grad(const Written& w) {
  const Activation kind = w.attrs<ActivationGradOp>().kind;
  times_slope(w, slope_from_output(kind) ? 'y' : 'x', activation_slope(kind));
}

void write_unary_grad(const Written& w) {
  const UnaryAttrs& a = w.attrs<UnaryGradOp>();
  // Those that follow from y; unary_slope() writes all by x.
  switch (a.kind) {
    case Unary::exp: return times_slope(w, 'y', "y");
    case Unary::sqrt: return times_slope(w, 'y', w.file.quotient("0.5f", "y"));
    case Unary::rsqrt: return times_slope(w, 'y', "-0.5f * y * y * y");
    case Unary::reciprocal: return times_slope(w, 'y', "-y * y");
    default: break;
  }
  const std::string slope = unary_slope(w.file, a);
  times_slope(w, 'x', slope.empty() ? "0.0f" : slope);
}

template <class O>
void write_softmax_grad(const Written& w) {
  const Shape& y = w.shape_out();
  w.file.call(O::kName == SoftmaxGradOp::kName ? "softmax_tangent" : "log_softmax_grad",
              fmt::format("{}, {}, {}, {}, {}", w.in(O::y), w.in(O::dy), w.out(), rows_of(y),
                          channels_of(y)));
}

void write_dense_grad(const Written& w) {
  using Op = DenseGradInputOp;
  const Shape& weight = w.shape_in(Op::w);
  const std::int64_t rows = rows_of(w.shape_in(Op::dz));
  if (w.is_computed(Op::w)) {
    return call_matmul(w.file, w.in(Op::dz), w.in(Op::w), w.out(),
                       MatmulDims({}, {rows, weight[0]}, weight), {});
  }
  w.file.call("dense", fmt::format("{}, {}, {}, {}, {}, {}, {}", w.in(Op::dz),
                                   w.file.matrix(w.weight(Op::w), weight[1]), w.file.nothing(),
                                   w.out(), rows, weight[0], weight[1]));
}

void write_conv2d_grad(const Written& w) {
  call_conv_transpose(w, w.attrs<Conv2dGradInputOp>().conv);
}

void write_avg_pool_grad(const Written& w) {
  const Pool2dAttrs& a = w.attrs<AvgPool2dGradOp>().pool;
  const Shape& y = w.shape_in(0);
  const Shape& x = w.shape_out();
  for (std::int64_t n = 0; n < x[0]; ++n) {
    w.file.call("avg_pool2d_grad",
                fmt::format("{}, {}, {}", at_sample(w.in(0), n, y.sample().elements()),
                            at_sample(w.out(), n, x.sample().elements()),
                            fmt::join({x[1], x[2], x[3], y[1], y[2], a.size_h, a.size_w, a.stride_h,
                                       a.stride_w, a.pad_top, a.pad_left},
                                      ", ")));
  }
}

/// dx = `factor` times dy, which has dimension 1 along the axes that are repeated.
void repeat(const Written& w, const Shape& dy, double factor) {
  w.file.each(w.shape_out().elements(),
              {{.value = w.node.inputs[0], .index = index_of_b(w.shape_out(), dy)}},
              w.node.outputs[0], factor == 1 ? "x" : fmt::format("{} * x", c_number(factor)));
}

void write_global_pool_grad(const Written& w) {
  const Shape& x = w.shape_out();
  repeat(w, {x[0], 1, 1, x[3]}, 1 / static_cast<double>(x[1] * x[2]));
}

void write_reduce_grad(const Written& w) {
  const ReduceGradAttrs& a = w.attrs<ReduceGradOp>();
  std::vector<std::int64_t> dims = dims_of(w.shape_out());
  double count = 1;
  for (const std::int64_t axis : a.axes) {
    std::int64_t& dim = dims[static_cast<std::size_t>(axis)];
    count *= static_cast<double>(dim);
    dim = 1;
  }
  repeat(w, Shape(dims), a.kind == Reduction::mean ? 1 / count : 1);
}

void write_slice_grad(const Written& w) {
  const SliceGradAttrs& a = w.attrs<SliceGradOp>();
  const AxisView dy = axis_view(w.shape_in(0), a.axis);
  w.file.call("pad",
              fmt::format("{}, {}, {}, {}, {}, {}, 0.0f", w.in(0), w.out(), dy.outer,
                          a.begin * dy.inner, dy.row(), (a.dim - a.begin - dy.dim) * dy.inner));
}

}  // namespace

void add_gradient_writers(Writers& all) {
  all[ActivationGradOp::kName] = write_activation_grad;
  all[AddOp::kName] = write_add;
  all[AvgPool2dGradOp::kName] = write_avg_pool_grad;
  all[Conv2dGradInputOp::kName] = write_conv2d_grad;
  all[DenseGradInputOp::kName] = write_dense_grad;
  all[GlobalAvgPoolGradOp::kName] = write_global_pool_grad;
  all[LogSoftmaxGradOp::kName] = write_softmax_grad<LogSoftmaxGradOp>;
  all[ReduceGradOp::kName] = write_reduce_grad;
  all[SliceGradOp::kName] = write_slice_grad;
  all[SoftmaxGradOp::kName] = write_softmax_grad<SoftmaxGradOp>;
  all[UnaryGradOp::kName] = write_unary_grad;
}

}  // namespace linnet
