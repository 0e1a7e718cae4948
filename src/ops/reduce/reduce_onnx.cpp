// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "base/check.h"
#include "onnx/rules.h"
#include "ops/reduce/reduce.h"

namespace linnet::onnx {
namespace {

using Reducing = std::function<Expression(const Expression&, const Axes&)>;

void write_reduce(Exporter& e, const Node& node, const Op& op) {
  const ReduceAttrs& a = dynamic_cast<const ReduceOp&>(op).attrs();
  const Value x = node.inputs[ReduceOp::In::x];
  // Without the channels among what stays in place, the order of the rest differs.
  const Form form = a.keep_dims ? e.images_or_plain(x) : Form::plain;
  Dims axes;
  for (const std::int64_t axis : a.axes) axes.push_back(axis_in(form, axis, e.shape(x).rank()));
  std::ranges::sort(axes);
  const std::string_view name = a.kind == Reduction::sum    ? "ReduceSum"
                                : a.kind == Reduction::mean ? "ReduceMean"
                                : a.kind == Reduction::max  ? "ReduceMax"
                                                            : "ReduceMin";
  e.set(node.outputs[ReduceOp::Out::y], form,
        e.reduced(node, name, e.in(x, form), axes, a.keep_dims));
}

Axes places_of(const Axis& axis) {
  Axes places;
  for (const int place : axis) places.push_back(place - 1);
  std::ranges::sort(places);
  return places;
}

/// Returns what is reduced: floats, and whole numbers where the result is one of them or a sum.
Trace reduced_value(NodeImport& n) {
  const bool picks = n.op() == "ReduceMax" || n.op() == "ReduceMin";
  if (!picks && n.op() != "ReduceSum" && n.op() != "ReduceProd") return n.floats(0);
  if (!picks) require_arithmetic(n, n.input(0).type());
  n.trace(0);  // checks that it is one
  Trace x = *n.with_numbers(n.input(0)).trace;
  x.e = n.scoped(x.e);
  return x;
}

Operator reduction(Reducing f, std::int64_t axes_input_from) {
  return {[f, axes_input_from](NodeImport& n) {
            Trace x = reduced_value(n);
            std::vector<std::int64_t> axes;
            if (n.opset() < axes_input_from)
              axes = n.integers("axes");
            else if (n.has(1))
              axes = n.integers(1);
            const bool keep = n.integer("keepdims", 1) != 0;
            const bool none =
                n.opset() >= axes_input_from && n.integer("noop_with_empty_axes", 0) != 0;
            if (axes.empty() && none) {
              n.refuse("noop_with_empty_axes without axes is not supported");
            }
            std::vector<bool> reduced(x.axes.size(), axes.empty());
            for (const std::int64_t axis : axes) {
              reduced[static_cast<std::size_t>(n.axis(axis, x.axes.size()))] = true;
            }
            Axis all;
            for (std::size_t i = 0; i < x.axes.size(); ++i) {
              if (!reduced[i]) continue;
              require<DataError>(std::ranges::find(x.axes[i], 0) == x.axes[i].end(),
                                 "would reduce axis {}, the batch", i);
              all.insert(all.end(), x.axes[i].begin(), x.axes[i].end());
            }
            if (all.empty() && !reduced.empty()) {  // axes of 1 alone
              for (std::size_t i = 0; i < reduced.size() && all.empty(); ++i) {
                if (!reduced[i]) continue;
                x = merged(x, static_cast<int>(i));
                all = x.axes[i];
              }
            }
            if (all.empty()) n.refuse("expected an operand with axes; got a single number");
            n.give(without(x, f(x.e, places_of(all)), reduced, keep, x.type));
          },
          "not over the batch"};
}

}  // namespace

void register_reduce_onnx(Rules& all) {
  all.exports["reduce"] = write_reduce;
  const auto kept = [](auto f) {
    return [f](const Expression& x, const Axes& axes) { return f(x, axes); };
  };
  all.imports["ReduceSum"] = reduction(kept([](auto& x, auto& a) { return sum(x, a); }), 13);
  all.imports["ReduceMean"] = reduction(kept([](auto& x, auto& a) { return mean(x, a); }), 18);
  all.imports["ReduceMax"] = reduction(kept([](auto& x, auto& a) { return max(x, a); }), 18);
  all.imports["ReduceMin"] = reduction(kept([](auto& x, auto& a) { return min(x, a); }), 18);
  all.imports["ReduceProd"] = reduction(kept([](auto& x, auto& a) { return prod(x, a); }), 18);
  all.imports["ReduceL1"] = reduction(kept([](auto& x, auto& a) { return sum(abs(x), a); }), 18);
  all.imports["ReduceL2"] =
      reduction(kept([](auto& x, auto& a) { return sqrt(sum(square(x), a)); }), 18);
  all.imports["ReduceSumSquare"] =
      reduction(kept([](auto& x, auto& a) { return sum(square(x), a); }), 18);
  all.imports["ReduceLogSum"] =
      reduction(kept([](auto& x, auto& a) { return log(sum(x, a)); }), 18);
  all.imports["ReduceLogSumExp"] =
      reduction(kept([](auto& x, auto& a) { return log_sum_exp(x, a); }), 18);
}

}  // namespace linnet::onnx
