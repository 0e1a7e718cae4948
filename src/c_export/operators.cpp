// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "base/check.h"
#include "c_export/operator_file.h"
#include "c_export/writers.h"
#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/bias_add/bias_add.h"
#include "ops/bin_mean2d/bin_mean2d.h"
#include "ops/channel_scale/channel_scale.h"
#include "ops/concat/concat.h"
#include "ops/conv2d/conv2d.h"
#include "ops/dense/dense.h"
#include "ops/expand/expand.h"
#include "ops/gather/gather.h"
#include "ops/global_pool/global_pool.h"
#include "ops/group_norm/group_norm.h"
#include "ops/pool2d/pool2d.h"
#include "ops/recurrent/recurrent.h"
#include "ops/reduce/reduce.h"
#include "ops/reshape/reshape.h"
#include "ops/slice/slice.h"
#include "ops/softmax/softmax.h"
#include "ops/unary/unary.h"

namespace linnet {

std::vector<float> transposed(const std::vector<float>& matrix, std::int64_t columns) {
  const auto width = static_cast<std::size_t>(columns);
  const std::size_t rows = matrix.size() / width;
  std::vector<float> turned(matrix.size());
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    turned[i % width * rows + i / width] = matrix[i];
  }
  return turned;
}

std::string at_sample(const std::string& place, std::int64_t n, std::int64_t elements) {
  return n == 0 ? place : fmt::format("{} + {}", place, n * elements);
}

namespace {

/// Calls f(place of x, place of y) for each sample of the first operand.
template <class F>
void for_samples(const Written& w, F f) {
  const Shape& x = w.shape_in(0);
  for (std::int64_t n = 0; n < x[0]; ++n) {
    f(at_sample(w.in(0), n, x.sample().elements()),
      at_sample(w.out(), n, w.shape_out().sample().elements()));
  }
}

void write_dense(const Written& w) {
  const std::int64_t features = w.shape_in(DenseOp::w)[1];
  const std::int64_t units = w.shape_in(DenseOp::w)[0];
  const std::int64_t rows = rows_of(w.shape_in(DenseOp::x));
  if (w.is_computed(DenseOp::w)) {
    const MatmulAttrs turned{.transpose_b = true};
    call_matmul(w.file, w.in(DenseOp::x), w.in(DenseOp::w), w.out(),
                MatmulDims(turned, {rows, features}, {units, features}), turned);
    if (w.has(DenseOp::b)) {
      w.file.call("add_bias", fmt::format("{}, {}, {}, {}, {}", w.out(), w.in(DenseOp::b), w.out(),
                                          rows, units));
    }
    return activate_result(w, w.attrs<DenseOp>().activation);
  }
  w.file.call("dense", fmt::format("{}, {}, {}, {}, {}, {}, {}", w.in(DenseOp::x),
                                   w.file.matrix(transposed(w.weight(DenseOp::w), features), units),
                                   w.in_or_none(DenseOp::b), w.out(), rows, features, units));
  activate_result(w, w.attrs<DenseOp>().activation);
}

}  // namespace

void call_conv2d(const Written& w, const Conv2dAttrs& a, const std::vector<float>& all,
                 const std::string& bias) {
  const Shape& x = w.shape_in(Conv2dOp::x);
  const Shape& weight = w.shape_in(Conv2dOp::w);
  const Shape& y = w.shape_out();
  const std::int64_t filters = weight[0] / a.groups;  // of a group
  const std::int64_t taps = weight[1] * weight[2] * weight[3];
  std::vector<float> turned;
  for (std::int64_t g = 0; g < a.groups; ++g) {
    const auto begin = all.begin() + g * filters * taps;
    const auto part = transposed({begin, begin + filters * taps}, taps);
    turned.insert(turned.end(), part.begin(), part.end());
  }
  const std::string matrix = w.file.matrix(turned, filters, false, a.groups);
  for_samples(w, [&](const std::string& from, const std::string& to) {
    w.file.call("conv2d", fmt::format("{}, {}, {}, {}, {}", from, matrix, bias, to,
                                      fmt::join({x[1], x[2], x[3], y[1], y[2], y[3], weight[1],
                                                 weight[2], a.stride_h, a.stride_w, a.dilation_h,
                                                 a.dilation_w, a.pad_top, a.pad_left, a.groups},
                                                ", ")));
  });
  activate_result(w, a.activation);
}

namespace {

void write_conv2d(const Written& w) {
  call_conv2d(w, w.attrs<Conv2dOp>(), w.weight(Conv2dOp::w), w.in_or_none(Conv2dOp::b));
}

template <class O>
void write_pool(const Written& w) {
  const Pool2dAttrs& a = w.attrs<O>();
  const Shape& x = w.shape_in(O::x);
  const Shape& y = w.shape_out();
  for_samples(w, [&](const std::string& from, const std::string& to) {
    w.file.call(O::kName, fmt::format("{}, {}, {}", from, to,
                                      fmt::join({x[1], x[2], x[3], y[1], y[2], a.size_h, a.size_w,
                                                 a.stride_h, a.stride_w, a.pad_top, a.pad_left},
                                                ", ")));
  });
}

void write_bin_mean(const Written& w) {
  const BinMean2dAttrs& a = w.attrs<BinMean2dOp>();
  const Shape& x = w.shape_in(BinMean2dOp::x);
  for_samples(w, [&](const std::string& from, const std::string& to) {
    w.file.call(BinMean2dOp::kName,
                fmt::format("{}, {}, {}", from, to,
                            fmt::join({x[1], x[2], x[3], a.out_h, a.out_w, a.size_h, a.size_w,
                                       a.stride_h, a.stride_w, a.pad_top, a.pad_left},
                                      ", ")));
  });
}

bool are_neighbours(const ReduceAttrs& a) {
  return a.axes.back() - a.axes.front() + 1 == std::ssize(a.axes);
}

void write_reduce(const Written& w) {
  const ReduceAttrs& a = w.attrs<ReduceOp>();
  const Shape& x = w.shape_in(ReduceOp::x);
  const auto first = static_cast<int>(a.axes.front());
  const auto last = static_cast<int>(a.axes.back());
  std::string from = w.in(ReduceOp::x);
  std::int64_t outer = 1;
  std::int64_t count = 1;
  std::int64_t inner = 1;
  if (are_neighbours(a)) {
    for (int i = 0; i < static_cast<int>(x.rank()); ++i) {
      (i < first ? outer : i <= last ? count : inner) *= x[i];
    }
  } else {  // a copy with the axes at the end
    const std::vector<std::int64_t> of_x = strides_of(x);
    std::vector<std::int64_t> dims;
    std::vector<std::int64_t> strides;
    for (const bool reduced : {false, true}) {
      for (int i = 0; i < static_cast<int>(x.rank()); ++i) {
        if ((std::ranges::count(a.axes, i) > 0) != reduced) continue;
        dims.push_back(x[i]);
        strides.push_back(of_x[static_cast<std::size_t>(i)]);
        (reduced ? count : outer) *= x[i];
      }
    }
    write_take(w.file, from, w.file.scratch(), dims, strides);
    from = w.file.scratch();
  }
  constexpr std::array kKinds{'s', 'm', '>', '<'};
  w.file.call(ReduceOp::kName, fmt::format("{}, {}, {}, {}, {}, '{}'", from, w.out(), outer, count,
                                           inner, kKinds[static_cast<std::size_t>(a.kind)]));
}

template <class O>
void write_global_pool(const Written& w) {
  const Shape& x = w.shape_in(O::x);
  for_samples(w, [&](const std::string& from, const std::string& to) {
    w.file.call(O::kName, fmt::format("{}, {}, {}, {}", from, to, x[1] * x[2], x[3]));
  });
}

template <class O>
void write_rows(const Written& w) {
  const Shape& x = w.shape_in(O::x);
  w.file.call(O::kName,
              fmt::format("{}, {}, {}, {}", w.in(O::x), w.out(), rows_of(x), channels_of(x)));
}

/// `residual`: what is added, as arguments, or "".
void scale_channels(const Written& w, const std::vector<float>& scale, std::vector<float> shift,
                    const std::string& residual = "") {
  if (w.file.of_tangents()) shift.assign(shift.size(), 0);
  w.file.call(residual.empty() ? "scale_channels" : "add_scaled_channels",
              fmt::format("{}, {}, {}{}{}, {}, {}, {}", w.in(0), w.file.floats(scale),
                          w.file.floats(shift), residual.empty() ? "" : ", ", residual, w.out(),
                          rows_of(w.shape_in(0)), channels_of(w.shape_in(0))));
}

void write_batch_norm(const Written& w) {
  using Op = BatchNormInferenceOp;
  const auto gamma = w.weight(Op::In::gamma);
  const auto beta = w.weight(Op::In::beta);
  const auto mean = w.weight(Op::In::running_mean);
  const auto variance = w.weight(Op::In::running_var);
  std::vector<float> scale;
  std::vector<float> shift;
  for (std::size_t c = 0; c < gamma.size(); ++c) {
    const double factor = gamma[c] / std::sqrt(variance[c] + w.attrs<Op>().epsilon);
    scale.push_back(static_cast<float>(factor));
    shift.push_back(static_cast<float>(beta[c] - mean[c] * factor));
  }
  scale_channels(w, scale, shift, w.attrs<Op>().residual ? w.in(Op::In::residual) : "");
  activate_result(w, w.attrs<Op>().activation);
}

void write_channel_scale(const Written& w) {
  const ChannelFactors factors(w.attrs<ChannelScaleOp>());
  scale_channels(w, {factors.scale, factors.scale + factors.channels},
                 {factors.shift, factors.shift + factors.channels});
}

void write_bias_add(const Written& w) {
  if (w.file.of_tangents()) return w.file.copy(w.in(0), w.out(), w.shape_out().elements());
  w.file.call("add_bias", fmt::format("{}, {}, {}, {}, {}", w.in(BiasAddOp::x), w.in(BiasAddOp::b),
                                      w.out(), rows_of(w.shape_out()), channels_of(w.shape_out())));
}

void write_group_norm(const Written& w) {
  const GroupNormAttrs& a = w.attrs<GroupNormOp>();
  const GroupNormShape shape = group_norm_shape(a, w.shape_in(GroupNormOp::x));
  w.file.call("group_norm",
              fmt::format("{}, {}, {}, {}, {}, {}, {}, {}, {}f", w.in(GroupNormOp::x),
                          w.in(GroupNormOp::weight), w.in(GroupNormOp::bias), w.out(), shape.rows,
                          shape.pixels, shape.channels, shape.groups, a.epsilon));
}

void write_gather(const Written& w) {
  const Shape& table = w.shape_in(GatherOp::table);
  const std::int64_t width = table.elements() / table[0];
  w.file.call("gather", fmt::format("{}, {}, {}, {}, {}, {}",
                                    w.file.matrix(w.weight(GatherOp::table), width, true),
                                    w.in(GatherOp::indices), w.out(),
                                    w.shape_in(GatherOp::indices).elements(), table[0], width));
}

void write_recurrent(const Written& w) {
  using Op = RecurrentOp;
  const RecurrentAttrs& a = w.attrs<Op>();
  const RecurrentShape s = recurrent_shape(a, w.shape_in(Op::x), w.shape_in(Op::w_hh));
  const std::string_view function = [&] {
    switch (a.cell) {
      case Cell::lstm: return "lstm";
      case Cell::gru: return "gru";
      case Cell::gru_original: return "gru_original";
      case Cell::tanh:
      case Cell::relu: break;
    }
    return "plain_cell";
  }();
  std::string arguments =
      fmt::format("{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}", w.in(Op::x),
                  w.file.matrix(transposed(w.weight(Op::w_ih), s.features), s.columns()),
                  w.file.matrix(transposed(w.weight(Op::w_hh), s.units), s.columns()),
                  w.in_or_none(Op::b_ih), w.in_or_none(Op::b_hh),
                  w.file.at_if_read(w.node.outputs[Op::y]),
                  w.file.at_if_read(w.node.outputs[Op::last]), w.file.scratch(), s.steps,
                  s.features, s.units, a.reverse ? 1 : 0);
  if (function == "plain_cell") arguments += a.cell == Cell::relu ? ", 1" : ", 0";
  w.file.call(function, arguments);
}

void write_concat(const Written& w) {
  const int axis = w.attrs<ConcatOp>().axis;
  std::int64_t inner = 1;
  for (int i = axis + 1; i < static_cast<int>(w.shape_out().rank()); ++i) inner *= w.shape_out()[i];
  const std::int64_t whole = w.shape_out()[axis] * inner;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < w.node.inputs.size(); ++i) {
    const std::int64_t width = w.shape_in(i)[axis] * inner;
    w.file.call("copy_part", fmt::format("{}, {}, {}, {}, {}, {}", w.in(i), w.out(),
                                         w.shape_out().elements() / whole, width, at, whole));
    at += width;
  }
}

void write_slice(const Written& w) {
  const SliceAttrs& a = w.attrs<SliceOp>();
  const Shape& x = w.shape_in(SliceOp::x);
  std::int64_t inner = 1;
  for (int i = a.axis + 1; i < static_cast<int>(x.rank()); ++i) inner *= x[i];
  w.file.call("take_part",
              fmt::format("{}, {}, {}, {}, {}, {}", w.in(SliceOp::x), w.out(),
                          x.elements() / (x[a.axis] * inner), (a.end - a.begin) * inner,
                          a.begin * inner, x[a.axis] * inner));
}

void write_copy(const Written& w) { w.file.copy(w.in(0), w.out(), w.shape_out().elements()); }

/// y[i] = formula of x[i].
void write_elements(const Written& w, const std::string& formula) {
  w.file.each(w.shape_out().elements(), {{.value = w.node.inputs[0]}}, w.node.outputs[0], formula);
}

const char* formula_of(Activation kind) {
  switch (kind) {
    case Activation::none: break;
    case Activation::relu: return "x <= 0.0f ? 0.0f : x";  // NaN stays
    case Activation::tanh: return "tanhf(x)";
    case Activation::sigmoid: return "1.0f / (1.0f + expf(-x))";
    case Activation::gelu: return "0.5f * x * (1.0f + erff(x * 0.70710678118654752f))";
  }
  return "x";
}

void write_activation(const Written& w) {
  write_elements(w, formula_of(w.attrs<ActivationOp>().kind));
}

/// Returns the formula of y from x.
std::string formula_of(const OperatorFile& file, const UnaryAttrs& a) {
  const std::string alpha = c_number(a.alpha);
  switch (a.kind) {
    case Unary::exp: return "expf(x)";
    case Unary::log: return "logf(x)";
    case Unary::log1p: return "log1pf(x)";
    case Unary::sqrt: return "sqrtf(x)";
    case Unary::rsqrt: return file.quotient("1.0f", "sqrtf(x)");
    case Unary::square: return "x * x";
    case Unary::abs: return "fabsf(x)";
    case Unary::sign: return "x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x";
    case Unary::sin: return "sinf(x)";
    case Unary::cos: return "cosf(x)";
    case Unary::reciprocal: return file.quotient("1.0f", "x");
    case Unary::pow: return fmt::format("powf(x, {})", alpha);
    case Unary::clip:
      return fmt::format("x < {0} ? {0} : x > {1} ? {1} : x", alpha, c_number(a.beta));
    case Unary::leaky_relu: return fmt::format("x > 0.0f ? x : {} * x", alpha);
    case Unary::elu: return fmt::format("x > 0.0f ? x : {} * expm1f(x)", alpha);
    case Unary::selu:
      return fmt::format("{} * (x > 0.0f ? x : {} * expm1f(x))", c_number(kSeluScale),
                         c_number(kSeluAlpha));
    case Unary::silu: return "x / (1.0f + expf(-x))";
    case Unary::softplus:
      return fmt::format("(fmaxf({0} * x, 0.0f) + log1pf(expf(-fabsf({0} * x)))) / {0}", alpha);
    case Unary::hard_sigmoid: return "x <= -3.0f ? 0.0f : x >= 3.0f ? 1.0f : (x + 3.0f) / 6.0f";
    case Unary::hard_swish: return "x <= -3.0f ? 0.0f : x >= 3.0f ? x : x * (x + 3.0f) / 6.0f";
    case Unary::gelu_tanh:
      return "0.5f * x * (1.0f + tanhf(0.79788456080286536f * (x + 0.044715f * x * x * x)))";
    case Unary::expm1: return "expm1f(x)";
    case Unary::erf: return "erff(x)";
    case Unary::floor: return "floorf(x)";
    case Unary::ceil: return "ceilf(x)";
    case Unary::round: return "nearbyintf(x)";
  }
  return "x";
}

void write_unary(const Written& w) { write_elements(w, formula_of(w.file, w.attrs<UnaryOp>())); }

void write_scale(const Written& w) {
  const ScaleAttrs& a = w.attrs<ScaleOp>();
  const double beta = w.file.of_tangents() ? 0 : a.beta;
  write_elements(w, fmt::format("{} * x + {}", c_number(a.alpha), c_number(beta)));
}

}  // namespace

void activate_result(const Written& w, Activation kind) {
  const Value y = w.node.outputs[0];
  if (kind != Activation::none) {
    w.file.each(w.shape_out().elements(), {{.value = y}}, y, formula_of(kind));
  }
}

void add_to_result(const Written& w, Value other) {
  const Value y = w.node.outputs[0];
  w.file.each(w.shape_out().elements(), {{.name = 'a', .value = y}, {.name = 'b', .value = other}},
              y, "a + b");
}

std::string index_of_b(const Shape& a, const Shape& b) {
  std::string index;
  std::int64_t stride_a = 1;
  std::int64_t stride_b = 1;
  const int shift = static_cast<int>(a.rank()) - static_cast<int>(b.rank());
  for (int axis = static_cast<int>(a.rank()) - 1; axis >= shift;) {
    // A run of axes that b has, or of those along which it is repeated.
    const auto repeated = [&](int i) { return b[i - shift] == 1 && a[i] != 1; };
    const bool skip = repeated(axis);
    std::int64_t run = 1;
    for (; axis >= shift && repeated(axis) == skip; --axis) run *= a[axis];
    if (!skip) {
      std::string part = stride_a == 1 ? "i" : fmt::format("i / {}", stride_a);
      if (stride_a * run < a.elements()) part += fmt::format(" % {}", run);
      if (stride_b != 1) part = fmt::format("({}) * {}", part, stride_b);
      index += (index.empty() ? "" : " + ") + part;
      stride_b *= run;
    }
    stride_a *= run;
  }
  return index.empty() ? "0" : index;
}

namespace {

void write_arithmetic(const Written& w) {
  const auto formula = [&]() -> std::string {
    switch (w.attrs<ArithmeticOp>().kind) {
      case Arithmetic::add: return "a + b";
      case Arithmetic::subtract: return "a - b";
      case Arithmetic::multiply: return "a * b";
      case Arithmetic::divide: return w.file.quotient("a", "b");
      case Arithmetic::maximum: return "a > b || a != a ? a : b";
      case Arithmetic::minimum: return "a < b || a != a ? a : b";
      case Arithmetic::exceeds: return "a > b ? 1.0f : a == b ? 0.5f : 0.0f";
    }
    return "a";
  }();
  w.file.each(
      w.shape_out().elements(),
      {{.name = 'a', .value = w.node.inputs[0]},
       {.name = 'b', .value = w.node.inputs[1], .index = index_of_b(w.shape_in(0), w.shape_in(1))}},
      w.node.outputs[0], formula);
}

void write_expand(const Written& w) {
  w.file.each(w.shape_out().elements(),
              {{.value = w.node.inputs[0], .index = index_of_b(w.shape_out(), w.shape_in(0))}},
              w.node.outputs[0], "x");
}

const Writers& writers() {
  static const Writers kWriters = [] {
    Writers all{
        {ActivationOp::kName, write_activation},
        {ArithmeticOp::kName, write_arithmetic},
        {AvgPool2dOp::kName, write_pool<AvgPool2dOp>},
        {BatchNormInferenceOp::kName, write_batch_norm},
        {BiasAddOp::kName, write_bias_add},
        {BinMean2dOp::kName, write_bin_mean},
        {ChannelScaleOp::kName, write_channel_scale},
        {ConcatOp::kName, write_concat},
        {Conv2dOp::kName, write_conv2d},
        {CopyOp::kName, write_copy},
        {DenseOp::kName, write_dense},
        {ExpandOp::kName, write_expand},
        {GatherOp::kName, write_gather},
        {GlobalAvgPoolOp::kName, write_global_pool<GlobalAvgPoolOp>},
        {GlobalMaxPoolOp::kName, write_global_pool<GlobalMaxPoolOp>},
        {GroupNormOp::kName, write_group_norm},
        {LogSoftmaxOp::kName, write_rows<LogSoftmaxOp>},
        {MaxPool2dOp::kName, write_pool<MaxPool2dOp>},
        {RecurrentOp::kName, write_recurrent},
        {ReduceOp::kName, write_reduce},
        {ScaleOp::kName, write_scale},
        {SliceOp::kName, write_slice},
        {SoftmaxOp::kName, write_rows<SoftmaxOp>},
        {UnaryOp::kName, write_unary},
    };
    add_formula_writers(all);
    add_gradient_writers(all);
    add_layout_writers(all);
    add_level_writers(all);
    register_operator_writers(all);
    return all;
  }();
  return kWriters;
}

}  // namespace

void write_operator(OperatorFile& file, const Node& node) {
  const auto writer = writers().find(node.op->name());
  if (writer == writers().end()) {
    std::vector<std::string_view> known;
    for (const auto& [name, function] : writers()) known.push_back(name);
    fail("[{} '{}'] cannot be written as {}; expected one of {}", node.op->name(), node.name,
         file.language(), fmt::join(known, ", "));
  }
  writer->second({file, node});
}

bool can_write(const Op& op) { return writers().contains(op.name()); }

std::size_t scratch_of(const Graph& graph, const Node& node) {
  if (const auto* reduce = dynamic_cast<const ReduceOp*>(node.op.get())) {
    const Shape& x = graph.shape(node.inputs[ReduceOp::x]);
    return are_neighbours(reduce->attrs()) ? 0 : static_cast<std::size_t>(x.elements());
  }
  const auto* recurrent = dynamic_cast<const RecurrentOp*>(node.op.get());
  if (recurrent == nullptr) return 0;
  const auto units = static_cast<std::size_t>(graph.shape(node.inputs[RecurrentOp::w_hh])[1]);
  const auto gates = static_cast<std::size_t>(cell_gates(recurrent->attrs().cell));
  return units * (1 + 2 * gates + (recurrent->attrs().cell == Cell::lstm ? 1 : 0));
}

}  // namespace linnet
