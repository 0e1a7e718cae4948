// SPDX-License-Identifier: Apache-2.0
#include "ops/element_loss/element_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/differentiate.h"
#include "op_harness.h"

namespace linnet::testing {
namespace {

/// Operands in which no kink lies within a central difference, as good as always.
std::vector<Fill> fills(ElementLoss kind) {
  switch (kind) {
    case ElementLoss::binary_cross_entropy: return {{-4, 4}, {0, 1}};
    case ElementLoss::hinge: return {{-3, 3}, {-1, 1}};
    case ElementLoss::cross_entropy:
    case ElementLoss::kl_divergence:
    case ElementLoss::focal: return {{-5, -0.01}, {0, 1}};
    case ElementLoss::log_sigmoid: return {{-6, 6}, {0, 1}};
    default: return {{-3, 3}};
  }
}

class EveryElementLoss : public ::testing::TestWithParam<ElementLoss> {};

TEST_P(EveryElementLoss, AgreesWithTheReference) {
  const ElementLoss kind = GetParam();
  const std::string name(enum_names(ElementLoss{})[static_cast<std::size_t>(kind)]);
  const auto operands = [&](const Shape& shape) {
    return std::vector<ValueType>(has_targets(kind) ? 2 : 1, f32(shape));
  };
  const std::vector<bool> by_outputs{true, false};
  for (double parameter : {2.0, 0.7}) {
    const OpPtr op = make_op(ElementLossOp({kind, parameter}));
    const OpPtr rows = make_op(ElementLossOp({kind, parameter, LossMean::rows, 0.5}));
    const OpPtr sum = make_op(ElementLossOp({kind, parameter, LossMean::none, 3}));
    check({name, op, operands({3, 5}), fills(kind), true, by_outputs});
    check({name + " rows", rows, operands({2, 3, 4}), fills(kind), true, by_outputs});
    check({name + " sum", sum, operands({7}), fills(kind), true, by_outputs});
    check({name + " no sample", rows, operands({0, 4}), {}, false});
    check({name + " many tasks", op, operands({300, 333}), fills(kind), false});
    std::vector<ValueType> of_gradient{f32({})};
    for (const ValueType& type : operands({300, 333})) of_gradient.push_back(type);
    std::vector<Fill> with_dloss = fills(kind);
    with_dloss.insert(with_dloss.begin(), Fill{});
    check({name + "_grad many tasks", make_op(ElementLossGradOp({kind, parameter})), of_gradient,
           with_dloss, false});
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, EveryElementLoss,
    ::testing::Values(ElementLoss::squared_error, ElementLoss::absolute_error,
                      ElementLoss::binary_cross_entropy, ElementLoss::huber, ElementLoss::hinge,
                      ElementLoss::cross_entropy, ElementLoss::kl_divergence, ElementLoss::focal,
                      ElementLoss::log_sigmoid, ElementLoss::absolute, ElementLoss::square),
    [](const auto& info) {
      return std::string(enum_names(ElementLoss{})[static_cast<std::size_t>(info.param)]);
    });

/// Loss and dy.
std::vector<std::vector<double>> loss_and_slope(const ElementLossAttrs& attrs, double y, double t) {
  Graph graph;
  const Value dloss = graph.add_value("dloss", f32({}), Storage::external, 0);
  const Value out = graph.add_value("y", f32({1}), Storage::external, 1);
  const Value target = graph.add_value("t", f32({1}), Storage::external, 2);
  const Value loss = graph.emit(ElementLossOp(attrs), {out, target}, "loss");
  const Value dy = graph.emit(ElementLossGradOp(attrs), {dloss, out, target}, "loss");
  const std::vector<std::vector<double>> data{{1}, {y}, {t}};
  compare_with_reference(graph, {dloss, out, target}, data, {loss, dy});
  return run(graph, {dloss, out, target}, data, {loss, dy});
}

TEST(ElementLoss, LargeAndEqualOperands) {
  for (ElementLoss kind : {ElementLoss::squared_error, ElementLoss::absolute_error}) {
    check(
        {"large", make_op(ElementLossOp({kind})), {f32({40}), f32({40})}, {{-1e15, 1e15}}, false});
    check({"on target",
           make_op(ElementLossGradOp({kind})),
           {f32({}), f32({5}), f32({5})},
           {{2, 2}},
           false});
  }
  const ElementLossAttrs binary{ElementLoss::binary_cross_entropy};
  check({"certain",
         make_op(ElementLossOp(binary)),
         {f32({40}), f32({40})},
         {{-1e4, 1e4}, {0, 1}},
         false});
  check({"certain gradient",
         make_op(ElementLossGradOp(binary)),
         {f32({}), f32({100, 333}), f32({100, 333})},
         {{-1, 1}, {-200, 200}, {0, 1}},
         false});
}

TEST(ElementLoss, IsNotDifferentiableByItsTargets) {
  Graph graph;
  const Value y = graph.add_value("y", f32({2}), Storage::external, 0);
  const Value t = graph.add_value("t", f32({2}), Storage::external, 1);
  const Value loss = graph.emit(ElementLossOp(), {y, t}, "loss");
  try {
    differentiate(graph, loss, std::span(&t, 1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "[element_loss 'loss'] is not differentiable by the targets");
  }
}

TEST(ElementLoss, HoldsAtItsEdges) {
  const auto expect = [](const ElementLossAttrs& attrs, double y, double t, double loss,
                         double slope) {
    const auto got = loss_and_slope(attrs, y, t);
    EXPECT_NEAR(got[0][0], loss, 1e-5 * std::abs(loss)) << y << ' ' << t;
    EXPECT_NEAR(got[1][0], slope, 1e-5 * std::abs(slope)) << y << ' ' << t;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  expect({ElementLoss::huber, 1}, 4, 1, 2.5, 1);
  expect({ElementLoss::huber, 1}, 1, 4, 2.5, -1);
  expect({ElementLoss::huber, 1}, 1, 0.5, 0.125, 0.5);
  expect({ElementLoss::hinge}, 1, 1, 0, 0);
  expect({ElementLoss::hinge}, -2, 1, 3, -1);
  expect({ElementLoss::cross_entropy}, -infinity, 0, 0, 0);
  expect({ElementLoss::focal, 2}, -infinity, 0, 0, 0);
  expect({ElementLoss::focal, 0.5}, 0, 1, 0, 0);  // p = 1
  expect({ElementLoss::focal, 2}, -100, 1, 100, -1);
  expect({ElementLoss::log_sigmoid, 2}, -1e4, 1, 1e4, -1);
  expect({ElementLoss::log_sigmoid, 2}, 1e4, 1, 0, 0);
  expect({ElementLoss::log_sigmoid, 0}, 0, 1, std::log(2.0), -0.5);
}

TEST(ElementLoss, ANaNHasANaNGradient) {
  for (ElementLoss kind :
       {ElementLoss::squared_error, ElementLoss::absolute_error, ElementLoss::binary_cross_entropy,
        ElementLoss::huber, ElementLoss::hinge, ElementLoss::focal, ElementLoss::log_sigmoid}) {
    const auto got = loss_and_slope({kind}, std::nan(""), 1);
    EXPECT_TRUE(std::isnan(got[0][0]) && std::isnan(got[1][0])) << static_cast<int>(kind);
  }
}

TEST(ElementLoss, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(make_op(ElementLossOp()), {f32({8, 5}), f32({8, 1})}, "loss"),
            "[element_loss 'loss'] expected outputs and targets of one shape; got y=(8, 5), "
            "target=(8, 1)");
}

}  // namespace
}  // namespace linnet::testing
