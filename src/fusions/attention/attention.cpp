// SPDX-License-Identifier: Apache-2.0
#include "fusions/attention/attention.h"

#include <algorithm>
#include <cmath>

#include "core/dims.h"
#include "graph/registry.h"

namespace linnet {
namespace {

bool matrices_fit(std::span<const ValueType> inputs) {
  if (inputs.size() != 3) return false;
  const Shape& q = inputs[AttentionOp::In::q].shape;
  const Shape& k = inputs[AttentionOp::In::k].shape;
  const Shape& v = inputs[AttentionOp::In::v].shape;
  const auto leads = [&](const Shape& other) {
    return other.rank() == q.rank() &&
           std::equal(q.dims().begin(), q.dims().end() - 2, other.dims().begin());
  };
  return q.rank() >= 3 && leads(k) && leads(v) && k[-1] == q[-1] && v[-2] == k[-2] && k[-2] >= 1 &&
         k[-1] >= 1 && v[-1] >= 1;
}

bool together_fits(std::span<const ValueType> inputs) {
  if (inputs.size() != 1) return false;
  const Shape& all = inputs.front().shape;
  return all.rank() == 5 && all[2] == 3 && all[1] >= 1 && all[3] >= 1 && all[4] >= 1;
}

/// Matrices (rows, columns) one after the other.
AttentionPlaces dense_places(std::int64_t rows, std::int64_t columns) {
  return {.group = rows * columns, .head = 0, .row = columns};
}

std::vector<Shape> shapes_of(std::span<const ValueType> operands) {
  std::vector<Shape> shapes;
  for (const ValueType& operand : operands) shapes.push_back(operand.shape);
  return shapes;
}

std::vector<Shape> shapes_of(std::span<ReferenceTensor* const> operands) {
  std::vector<Shape> shapes;
  for (const ReferenceTensor* operand : operands) shapes.push_back(operand->shape);
  return shapes;
}

}  // namespace

AttentionDims::AttentionDims(const AttentionAttrs& attrs, std::span<const ValueType> operands)
    : AttentionDims(attrs, shapes_of(operands)) {}

AttentionDims::AttentionDims(const AttentionAttrs& attrs,
                             std::span<ReferenceTensor* const> operands)
    : AttentionDims(attrs, shapes_of(operands)) {}

AttentionDims::AttentionDims(const AttentionAttrs& attrs, const std::vector<Shape>& operands)
    : samples(operands.front()[0]), causal(attrs.causal) {
  const Shape& first = operands.front();
  if (attrs.together) {
    groups = first[0];
    queries = keys = first[1];
    heads = first[3];
    size = width = first[4];
    const std::int64_t part = heads * size;
    const std::int64_t row = 3 * part;
    q = {.group = queries * row, .head = size, .row = row};
    k = v = q;
    k.first = part;
    v.first = 2 * part;
    y = {.group = queries * part, .head = size, .row = part};
    return;
  }
  for (std::size_t axis = 0; axis + 2 < first.rank(); ++axis)
    groups *= first[static_cast<int>(axis)];
  queries = first[-2];
  size = first[-1];
  keys = operands[AttentionOp::In::k][-2];
  width = operands[AttentionOp::In::v][-1];
  q = dense_places(queries, size);
  k = dense_places(keys, size);
  v = dense_places(keys, width);
  y = dense_places(queries, width);
}

std::vector<ValueType> AttentionOp::infer(std::span<const ValueType> inputs) const {
  const std::vector<ValueType> types(inputs.begin(), inputs.end());
  require_f32(inputs);
  if (attrs().together) {
    require(together_fits(inputs), "expected one operand (N, T, 3, heads, size); got {}",
            to_string({}, types));
    const Shape& all = inputs.front().shape;
    return {{DType::f32, {all[0], all[1], all[3], all[4]}}, {DType::f32, {all[0], all[3], all[1]}}};
  }
  require(matrices_fit(inputs),
          "expected queries (N, ..., T, size), keys (N, ..., keys, size) and values (N, ..., keys, "
          "width) with the same leading axes; got {}",
          to_string({"q", "k", "v"}, types));
  std::vector<std::int64_t> dims = dims_of(inputs[In::q].shape);
  dims.back() = inputs[In::v].shape[-1];
  const Shape y(dims);
  dims.pop_back();
  return {{DType::f32, y}, {DType::f32, Shape(dims)}};
}

std::vector<Value> AttentionOp::gradient(const GradientArgs& args) const {
  std::vector<Value> operands = {args.output_gradients[Out::y], args.node.outputs[Out::y],
                                 args.node.outputs[Out::sums]};
  operands.insert(operands.end(), args.node.inputs.begin(), args.node.inputs.end());
  return args.graph.add(std::make_shared<AttentionGradOp>(attrs()), operands, args.node.name);
}

void AttentionOp::reference(const ReferenceArgs& args) const {
  const AttentionDims e(attrs(), args.inputs);
  const ReferenceTensor& q = args.in(In::q);
  const ReferenceTensor& k = attrs().together ? q : args.in(In::k);
  const ReferenceTensor& v = attrs().together ? q : args.in(In::v);
  for (std::int64_t m = 0; m < e.matrices(); ++m) {
    for (std::int64_t i = 0; i < e.queries; ++i) {
      const std::int64_t seen = e.seen(i);
      std::vector<double> weights(static_cast<std::size_t>(seen));
      for (std::int64_t j = 0; j < seen; ++j) {
        double sum = 0;
        for (std::int64_t t = 0; t < e.size; ++t) {
          sum += q[e.begin(e.q, m) + i * e.q.row + t] * k[e.begin(e.k, m) + j * e.k.row + t];
        }
        weights[static_cast<std::size_t>(j)] = attrs().scale * sum;
      }
      const double top = *std::ranges::max_element(weights);
      double total = 0;
      for (double& weight : weights) total += weight = std::exp(weight - top);
      args.out(Out::sums)[m * e.queries + i] = top + std::log(total);
      for (std::size_t j = 0; attrs().dropout > 0 && j < weights.size(); ++j) {
        weights[j] *=
            dropout_mask(dropout_of(attrs()), args.step).of(e.weight(args.step, m, i) + j);
      }
      for (std::int64_t t = 0; t < e.width; ++t) {
        double sum = 0;
        for (std::int64_t j = 0; j < seen; ++j) {
          sum += weights[static_cast<std::size_t>(j)] * v[e.begin(e.v, m) + j * e.v.row + t];
        }
        args.out(Out::y)[e.begin(e.y, m) + i * e.y.row + t] = sum / total;
      }
    }
  }
}

Cost AttentionOp::cost(std::span<const ValueType> inputs,
                       std::span<const ValueType> outputs) const {
  Cost cost = Op::cost(inputs, outputs);
  cost.flops = AttentionDims(attrs(), inputs).flops(1);
  return cost;
}

std::shared_ptr<const Op> AttentionOp::at_inference(std::shared_ptr<const Op> self) const {
  if (attrs().dropout == 0) return self;
  AttentionAttrs without = attrs();
  without.dropout = 0;
  without.stream = 0;
  return std::make_shared<AttentionOp>(without);
}

void register_attention(OpRegistry& registry) { registry.add<AttentionOp>(); }

}  // namespace linnet
