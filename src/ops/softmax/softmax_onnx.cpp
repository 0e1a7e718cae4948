// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/check.h"
#include "onnx/rules.h"
#include "ops/softmax/softmax.h"

namespace linnet::onnx {
namespace {

void write_softmax(Exporter& e, const Node& node, std::string_view op) {
  e.set(node.outputs.front(), Form::plain,
        e.file().node(op, {e.in(node.inputs.front(), Form::plain)}, node.name,
                      {{"axis", std::int64_t{-1}}}));
}

/// A function along one axis; before opset 13, along all axes from it on as one.
void read_softmax(NodeImport& n,
                  const std::function<Expression(const Expression&, std::int64_t)>& f) {
  Trace x = n.floats(0);
  const bool flattens = n.opset() < 13;
  const int axis = n.axis(n.integer("axis", flattens ? 1 : -1), x.axes.size());
  if (!flattens) {
    x = merged(x, axis);
    x.e = f(x.e, place_of(x, axis));
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
  flat.e = f(flat.e, place_of(flat, axis));
  n.give(reshaped(flat, dims_of(x), kTemplateBatch));
}

/// 1 for the largest element of an axis, the first of equal ones, else 0.
void read_hardmax(NodeImport& n) {
  require<DataError>(n.opset() >= 13, "before opset 13 is not supported");
  const Trace x = n.floats(0);
  const int axis = n.axis(n.integer("axis", -1), x.axes.size());
  const int batch = batch_axis(x);
  require<DataError>(axis != batch && (batch < 0 || is_batch(x, batch)),
                     "would compare the samples of a batch");
  std::vector<int> order;
  for (int i = 0; i < static_cast<int>(x.axes.size()); ++i) {
    if (i != batch && i != axis) order.push_back(i);
  }
  order.push_back(axis);
  const Expression e = arranged(x, order);
  n.give(from_rows(x, one_hot(argmax(e), e.shape()[-1]), order));
}

}  // namespace

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
  std::vector<bool> reduced(scores.axes.size(), false);
  reduced[static_cast<std::size_t>(axis)] = true;
  constexpr double kMasked = -1e38;  // scores with the infinity of a mask are below
  return without(scores, max(scores.e, {place_of(scores, axis)}) < kMasked, reduced, true,
                 Type::boolean);
}

void register_softmax_onnx(Rules& all) {
  all.exports["softmax"] = [](Exporter& e, const Node& node, const Op& /*op*/) {
    write_softmax(e, node, "Softmax");
  };
  all.exports["log_softmax"] = [](Exporter& e, const Node& node, const Op& /*op*/) {
    write_softmax(e, node, "LogSoftmax");
  };
  all.imports["Hardmax"] = {read_hardmax, "from opset 13 on; not along the batch"};
  all.imports["Softmax"] = {[](NodeImport& n) {
                              read_softmax(n, [](const Expression& x, std::int64_t a) {
                                return softmax(x, a);
                              });
                            },
                            "not along the batch"};
  all.imports["LogSoftmax"] = {[](NodeImport& n) {
                                 read_softmax(n, [](const Expression& x, std::int64_t a) {
                                   return log_softmax(x, a);
                                 });
                               },
                               "not along the batch"};
}

}  // namespace linnet::onnx
