// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <span>

#include "fusions/attention/attention.h"
#include "graph/registry.h"

namespace linnet {
namespace {

using In = AttentionGradOp::In;
using Out = AttentionGradOp::Out;

/// The operands of the attention itself.
std::span<const ValueType> operands_of(std::span<const ValueType> inputs) {
  return inputs.subspan(std::min<std::size_t>(In::q, inputs.size()));
}

/// One matrix of the reference: its operands and results as rows of numbers.
class Matrix {
 public:
  Matrix(const AttentionDims& e, const AttentionAttrs& attrs, const ReferenceArgs& args,
         std::int64_t m)
      : e_(e), attrs_(attrs), args_(args), m_(m) {}

  void run() const {
    for (std::int64_t i = 0; i < e_.queries; ++i) {
      const double own = sum(e_.width, [&](std::int64_t t) { return dy(i, t) * y(i, t); });
      for (std::int64_t j = 0; j < e_.seen(i); ++j) {
        const double score =
            attrs_.scale * sum(e_.size, [&](std::int64_t t) { return q(i, t) * k(j, t); });
        const double weight = std::exp(score - args_.in(In::sums)[m_ * e_.queries + i]);
        const double factor = kept(i, j);
        const double reached = sum(e_.width, [&](std::int64_t t) { return dy(i, t) * v(j, t); });
        const double slope = attrs_.scale * weight * (factor * reached - own);
        for (std::int64_t t = 0; t < e_.width; ++t)
          at(Out::dv, e_.v, j, t) += factor * weight * dy(i, t);
        for (std::int64_t t = 0; t < e_.size; ++t) {
          at(Out::dq, e_.q, i, t) += slope * k(j, t);
          at(Out::dk, e_.k, j, t) += slope * q(i, t);
        }
      }
    }
  }

 private:
  template <class F>
  static double sum(std::int64_t n, F f) {
    double total = 0;
    for (std::int64_t t = 0; t < n; ++t) total += f(t);
    return total;
  }
  /// The dropout's factor of a weight.
  double kept(std::int64_t i, std::int64_t j) const {
    if (attrs_.dropout == 0) return 1;
    const std::uint64_t element = e_.weight(args_.step, m_, i) + static_cast<std::uint64_t>(j);
    return dropout_mask(dropout_of(attrs_), args_.step).of(element);
  }
  std::int64_t place(const AttentionPlaces& of, std::int64_t row, std::int64_t t) const {
    return e_.begin(of, m_) + row * of.row + t;
  }
  double dy(std::int64_t i, std::int64_t t) const { return args_.in(In::dy)[place(e_.y, i, t)]; }
  double y(std::int64_t i, std::int64_t t) const { return args_.in(In::y)[place(e_.y, i, t)]; }
  double q(std::int64_t i, std::int64_t t) const { return args_.in(In::q)[place(e_.q, i, t)]; }
  double k(std::int64_t j, std::int64_t t) const {
    return args_.in(attrs_.together ? In::q : In::k)[place(e_.k, j, t)];
  }
  double v(std::int64_t j, std::int64_t t) const {
    return args_.in(attrs_.together ? In::q : In::v)[place(e_.v, j, t)];
  }
  double& at(Out out, const AttentionPlaces& of, std::int64_t row, std::int64_t t) const {
    return args_.out(attrs_.together ? Out::dq : out)[place(of, row, t)];
  }

  const AttentionDims& e_;
  const AttentionAttrs& attrs_;
  const ReferenceArgs& args_;
  std::int64_t m_;
};

}  // namespace

std::vector<ValueType> AttentionGradOp::infer(std::span<const ValueType> inputs) const {
  const std::span<const ValueType> operands = operands_of(inputs);
  const std::vector<ValueType> results = AttentionOp(attrs()).infer(operands);
  require(inputs[In::dy] == results[AttentionOp::Out::y] &&
              inputs[In::y] == results[AttentionOp::Out::y] &&
              inputs[In::sums] == results[AttentionOp::Out::sums],
          "expected dy and y as the attention's result {} and sums {}; got {}",
          to_string({}, {results[AttentionOp::Out::y]}),
          to_string({}, {results[AttentionOp::Out::sums]}),
          to_string({}, {inputs.begin(), inputs.end()}));
  return {operands.begin(), operands.end()};
}

void AttentionGradOp::reference(const ReferenceArgs& args) const {
  const AttentionDims e(attrs(), std::span(args.inputs).subspan(In::q));
  for (ReferenceTensor* output : args.outputs) std::ranges::fill(output->data, 0);
  for (std::int64_t m = 0; m < e.matrices(); ++m) {
    Matrix(e, attrs(), args, m).run();
  }
}

Cost AttentionGradOp::cost(std::span<const ValueType> inputs,
                           std::span<const ValueType> outputs) const {
  Cost cost = Op::cost(inputs, outputs);
  // Scores and slopes again, and three gradients: 5 products, of which FLOPs count 2.5 pairs.
  cost.flops = AttentionDims(attrs(), operands_of(inputs)).flops(2.5);
  return cost;
}

void register_attention_grad(OpRegistry& registry) { registry.add<AttentionGradOp>(); }

}  // namespace linnet
