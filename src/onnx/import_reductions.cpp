// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>

#include <algorithm>

#include "base/check.h"
#include "onnx/node_import.h"

namespace linnet::onnx {
namespace {

using Reduction = std::function<Expression(const Expression&, const Axes&)>;

Axes places_of(const Axis& axis) {
  Axes places;
  for (const int place : axis) places.push_back(place - 1);
  std::ranges::sort(places);
  return places;
}

/// Returns what is left of `x` where the expression has lost these axes; ONNX's stay as 1 or go.
Trace without(const Trace& x, const Expression& y, const std::vector<bool>& reduced, bool keep,
              Type type) {
  std::vector<int> gone;
  for (std::size_t i = 0; i < x.axes.size(); ++i) {
    if (reduced[i]) gone.insert(gone.end(), x.axes[i].begin(), x.axes[i].end());
  }
  Trace out{y, {}, type, 0};
  for (std::size_t i = 0; i < x.axes.size(); ++i) {
    if (reduced[i] && !keep) continue;
    out.axes.emplace_back();
    for (const int place : x.axes[i]) {
      if (reduced[i]) continue;
      const auto before = std::ranges::count_if(gone, [&](int other) { return other < place; });
      out.axes.back().push_back(place - static_cast<int>(before));
    }
  }
  return out;
}

Operator reduction(Reduction f, std::int64_t axes_input_from) {
  return {[f, axes_input_from](NodeImport& n) {
            Trace x = n.floats(0);
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

void arg(NodeImport& n, bool largest) {
  const Trace x = n.floats(0);
  const int axis = n.axis(n.integer("axis", 0), x.axes.size());
  const bool keep = n.integer("keepdims", 1) != 0;
  require<DataError>(n.integer("select_last_index", 0) == 0, "select_last_index is not supported");
  const Trace one = merged(x, axis);
  const std::int64_t place = one.axes[static_cast<std::size_t>(axis)].front() - 1;
  std::vector<bool> reduced(x.axes.size(), false);
  reduced[static_cast<std::size_t>(axis)] = true;
  Trace y =
      without(one, largest ? argmax(one.e, place) : argmin(one.e, place), reduced, keep, Type::i64);
  y.below = dims_of(x)[static_cast<std::size_t>(axis)];
  n.give(std::move(y));
}

/// A function along one axis; before opset 13, along all axes from it on as one.
void along_axis(NodeImport& n,
                const std::function<Expression(const Expression&, std::int64_t)>& f) {
  Trace x = n.floats(0);
  const bool flattens = n.opset() < 13;
  const int axis = n.axis(n.integer("axis", flattens ? 1 : -1), x.axes.size());
  if (!flattens) {
    x = merged(x, axis);
    x.e = f(x.e, x.axes[static_cast<std::size_t>(axis)].front() - 1);
    n.give(std::move(x));
    return;
  }
  Trace flat = x;
  flat.axes.resize(static_cast<std::size_t>(axis));
  flat.axes.emplace_back();
  for (std::size_t i = static_cast<std::size_t>(axis); i < x.axes.size(); ++i) {
    flat.axes.back().insert(flat.axes.back().end(), x.axes[i].begin(), x.axes[i].end());
  }
  flat = merged(flat, axis);
  flat.e = f(flat.e, flat.axes.back().front() - 1);
  n.give(reshaped(flat, dims_of(x), kTemplateBatch));
}

void running_sum(NodeImport& n) {
  Trace x = *n.with_numbers(n.trace(0)).trace;
  require_arithmetic(n, x.type);
  const int axis = n.axis(n.whole(1), x.axes.size());
  const bool exclusive = n.integer("exclusive", 0) != 0;
  const bool reverse = n.integer("reverse", 0) != 0;
  x = merged(x, axis);
  const Expression y = cumsum(x.e, x.axes[static_cast<std::size_t>(axis)].front() - 1, reverse);
  n.give(n.as(x, exclusive ? y - x.e : y));
}

}  // namespace

Trace ids_of_numbers(NodeImport& n, const Trace& numbers, std::int64_t rows) {
  const std::int64_t sample = numbers.e.shape().elements();
  require<DataError>(rows <= kMostComputed / std::max<std::int64_t>(sample, 1),
                     "looking {} computed ids up in {} rows is too much: expected at most 2^24 "
                     "comparisons a sample",
                     sample, rows);
  const Aligned both = beside_numbers(n, numbers, rows);
  Trace hits{equal(both.operands[0], both.operands[1]), both.axes, Type::f32, 0};
  std::vector<bool> reduced(hits.axes.size(), false);
  reduced.back() = true;
  const std::int64_t place = hits.axes.back().front() - 1;
  Trace ids = without(hits, argmax(hits.e, place), reduced, false, Type::i64);
  ids.below = rows;
  return ids;
}

Trace masked_rows(const NodeImport& n) {
  const NodeProto* softmax = n.network().producer(n.node().inputs.at(0));
  require<DataError>(softmax != nullptr && softmax->op_type == "Softmax" && n.opset() >= 13,
                     "infinities of a mask are supported before a Softmax alone, whose rows are "
                     "asked for NaN");
  const auto asked = std::ranges::find(softmax->attributes, "axis", &Attribute::name);
  Trace scores = *n.network().find(softmax->inputs.at(0))->trace;
  scores.e = n.scoped(scores.e);
  const int axis = n.axis(asked == softmax->attributes.end() ? -1 : asked->i, scores.axes.size());
  scores = merged(scores, axis);
  const Axis place = scores.axes[static_cast<std::size_t>(axis)];
  std::vector<bool> reduced(scores.axes.size(), false);
  reduced[static_cast<std::size_t>(axis)] = true;
  constexpr double kMasked = -1e38;  // scores with the infinity of a mask are below
  return without(scores, max(scores.e, places_of(place)) < kMasked, reduced, true, Type::boolean);
}

void add_reductions(Operators& all) {
  const auto kept = [](auto f) {
    return [f](const Expression& x, const Axes& axes) { return f(x, axes); };
  };
  all["ReduceSum"] = reduction(kept([](auto& x, auto& a) { return sum(x, a); }), 13);
  all["ReduceMean"] = reduction(kept([](auto& x, auto& a) { return mean(x, a); }), 18);
  all["ReduceMax"] = reduction(kept([](auto& x, auto& a) { return max(x, a); }), 18);
  all["ReduceMin"] = reduction(kept([](auto& x, auto& a) { return min(x, a); }), 18);
  all["ReduceProd"] = reduction(kept([](auto& x, auto& a) { return prod(x, a); }), 18);
  all["ReduceL1"] = reduction(kept([](auto& x, auto& a) { return sum(abs(x), a); }), 18);
  all["ReduceL2"] = reduction(kept([](auto& x, auto& a) { return sqrt(sum(square(x), a)); }), 18);
  all["ReduceSumSquare"] = reduction(kept([](auto& x, auto& a) { return sum(square(x), a); }), 18);
  all["ReduceLogSum"] = reduction(kept([](auto& x, auto& a) { return log(sum(x, a)); }), 18);
  all["ReduceLogSumExp"] = reduction(kept([](auto& x, auto& a) { return log_sum_exp(x, a); }), 18);
  all["ArgMax"] = {[](NodeImport& n) { arg(n, true); }, "not over the batch"};
  all["ArgMin"] = {[](NodeImport& n) { arg(n, false); }, "not over the batch"};
  all["Softmax"] = {[](NodeImport& n) {
                      along_axis(n,
                                 [](const Expression& x, std::int64_t a) { return softmax(x, a); });
                    },
                    "not along the batch"};
  all["LogSoftmax"] = {[](NodeImport& n) {
                         along_axis(n, [](const Expression& x, std::int64_t a) {
                           return log_softmax(x, a);
                         });
                       },
                       "not along the batch"};
  all["CumSum"] = {running_sum, "not along the batch"};
}

}  // namespace linnet::onnx
