// SPDX-License-Identifier: Apache-2.0
// Products, comparisons and what else is computed of several numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "c_export/writers.h"
#include "ops/arg_reduce/arg_reduce.h"
#include "ops/causal_mask/causal_mask.h"
#include "ops/compare/compare.h"
#include "ops/conv_transpose2d/conv_transpose2d.h"
#include "ops/cumsum/cumsum.h"
#include "ops/matmul/matmul.h"
#include "ops/one_hot/one_hot.h"
#include "ops/select/select.h"
#include "ops/slice/axis.h"
#include "ops/to_ids/to_ids.h"

namespace linnet {
namespace {

void write_matmul(const Written& w) {
  const MatmulAttrs& a = w.attrs<MatmulOp>();
  const MatmulDims d(a, w.shape_in(MatmulOp::a), w.shape_in(MatmulOp::b));
  call_matmul(w.file, w.in(MatmulOp::a), w.in(MatmulOp::b), w.out(), d, a);
}

}  // namespace

void call_conv_transpose(const Written& w, const Conv2dAttrs& a) {
  using Op = ConvTranspose2dOp;
  const Shape& x = w.shape_in(Op::x);
  const Shape& weight = w.shape_in(Op::w);
  const Shape& y = w.shape_out();
  const std::int64_t taps = weight[1] * weight[2];
  const std::int64_t in = weight[0] / a.groups;
  const std::int64_t units = weight[3];
  const std::vector<float> all = w.weight(Op::w);  // (groups, in, taps, units)
  std::vector<float> turned;                       // (groups, taps, in, units)
  for (std::int64_t g = 0; g < a.groups; ++g) {
    for (std::int64_t t = 0; t < taps; ++t) {
      for (std::int64_t i = 0; i < in; ++i) {
        const auto from = all.begin() + ((g * in + i) * taps + t) * units;
        turned.insert(turned.end(), from, from + units);
      }
    }
  }
  const std::string matrix = w.file.matrix(turned, units, false, a.groups);
  for (std::int64_t n = 0; n < x[0]; ++n) {
    w.file.call("conv_transpose2d",
                fmt::format("{}, {}, {}, {}", at_sample(w.in(Op::x), n, x.sample().elements()),
                            matrix, at_sample(w.out(), n, y.sample().elements()),
                            fmt::join({x[1], x[2], x[3], y[1], y[2], y[3], weight[1], weight[2],
                                       a.stride_h, a.stride_w, a.dilation_h, a.dilation_w,
                                       a.pad_top, a.pad_left, a.groups},
                                      ", ")));
  }
}

namespace {

void write_conv_transpose(const Written& w) {
  call_conv_transpose(w, w.attrs<ConvTranspose2dOp>().conv);
}

void write_arg_reduce(const Written& w) {
  const ArgReduceAttrs& a = w.attrs<ArgReduceOp>();
  const AxisView x = axis_view(w.shape_in(ArgReduceOp::x), a.axis);
  w.file.call(ArgReduceOp::kName,
              fmt::format("{}, {}, {}, {}, {}, {}", w.in(ArgReduceOp::x), w.out(), x.outer, x.dim,
                          x.inner, a.kind == ArgReduction::max ? 1 : 0));
}

void write_cumsum(const Written& w) {
  const CumsumAttrs& a = w.attrs<CumsumOp>();
  const AxisView x = axis_view(w.shape_in(CumsumOp::x), a.axis);
  w.file.call(CumsumOp::kName, fmt::format("{}, {}, {}, {}, {}, {}", w.in(CumsumOp::x), w.out(),
                                           x.outer, x.dim, x.inner, a.reverse ? 1 : 0));
}

void write_causal_mask(const Written& w) {
  const Shape& x = w.shape_in(CausalMaskOp::x);
  w.file.call(CausalMaskOp::kName, fmt::format("{}, {}, {}, {}, {}, {}", w.in(CausalMaskOp::x),
                                               w.out(), x.elements() / (x[-1] * x[-2]), x[-2],
                                               x[-1], c_number(w.attrs<CausalMaskOp>().fill)));
}

void write_one_hot(const Written& w) {
  w.file.call(OneHotOp::kName,
              fmt::format("{}, {}, {}, {}", w.in(OneHotOp::ids), w.out(),
                          w.shape_in(OneHotOp::ids).elements(), w.attrs<OneHotOp>().classes));
}

void write_to_ids(const Written& w) {
  w.file.call(ToIdsOp::kName,
              fmt::format("{}, {}, {}", w.in(ToIdsOp::x), w.out(), w.shape_out().elements()));
}

void write_compare(const Written& w) {
  const CompareAttrs& a = w.attrs<CompareOp>();
  const char* relation = [&] {
    switch (a.kind) {
      case Comparison::greater: return ">";
      case Comparison::greater_equal: return ">=";
      case Comparison::less: return "<";
      case Comparison::less_equal: return "<=";
      case Comparison::equal: return "==";
      case Comparison::not_equal: break;
    }
    return "!=";
  }();
  std::vector<FormulaOperand> operands{{.name = 'a', .value = w.node.inputs[CompareOp::a]}};
  if (w.has(CompareOp::b)) operands.push_back({.name = 'b', .value = w.node.inputs[CompareOp::b]});
  w.file.each(w.shape_out().elements(), operands, w.node.outputs[0],
              fmt::format("a {} {} ? 1.0f : 0.0f", relation,
                          w.has(CompareOp::b) ? "b" : c_number(a.value)));
}

void write_select(const Written& w) {
  const SelectAttrs& a = w.attrs<SelectOp>();
  std::vector<FormulaOperand> operands{{.name = 'c', .value = w.node.inputs[SelectOp::condition]},
                                       {.name = 'a', .value = w.node.inputs[SelectOp::a]}};
  std::string otherwise = c_number(a.value);
  if (w.has(SelectOp::b)) {
    operands.push_back({.name = 'b', .value = w.node.inputs[SelectOp::b]});
    otherwise = "b";
  }
  const bool when = a.when || w.has(SelectOp::b);
  w.file.each(w.shape_out().elements(), operands, w.node.outputs[0],
              fmt::format("c {} 0.0f ? a : {}", when ? "!=" : "==", otherwise));
}

}  // namespace

std::string c_number(double value) {
  if (std::isnan(value)) return "NAN";
  const auto number = static_cast<float>(value);
  if (std::isinf(number)) return number > 0 ? "INFINITY" : "-INFINITY";
  return decimal(number) + "f";
}

void call_matmul(OperatorFile& file, const std::string& a, const std::string& b,
                 const std::string& y, const MatmulDims& dims, const MatmulAttrs& attrs) {
  file.call("matmul",
            fmt::format("{}, {}, {}, {}, {}, {}, {}, {}, {}", a, b, y, dims.products, dims.m,
                        dims.n, dims.k, attrs.transpose_a ? 1 : 0, attrs.transpose_b ? 1 : 0));
}

void add_formula_writers(Writers& all) {
  all[ArgReduceOp::kName] = write_arg_reduce;
  all[CausalMaskOp::kName] = write_causal_mask;
  all[CompareOp::kName] = write_compare;
  all[ConvTranspose2dOp::kName] = write_conv_transpose;
  all[CumsumOp::kName] = write_cumsum;
  all[MatmulOp::kName] = write_matmul;
  all[OneHotOp::kName] = write_one_hot;
  all[SelectOp::kName] = write_select;
  all[ToIdsOp::kName] = write_to_ids;
}

}  // namespace linnet
