// SPDX-License-Identifier: Apache-2.0
#include "ops/activation/activation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "op_harness.h"
#include "ops/arithmetic/unaligned_cuda_test.h"

namespace linnet::testing {
namespace {

TEST(Activation, AgreesWithTheReference) {
  for (Activation kind : {Activation::none, Activation::relu, Activation::tanh, Activation::sigmoid,
                          Activation::gelu}) {
    const OpPtr op = make_op(ActivationOp({kind}));
    check({"activation small", op, {f32({3, 5})}, {{-3, 3}}, kind != Activation::none});
    check({"activation one", op, {f32({1})}, {{-3, 3}}, kind != Activation::none});
    check({"activation empty", op, {f32({0, 4})}, {}, false});
    check({"activation many tasks", op, {f32({64, 33, 31})}, {{-4, 4}}, false});
    check({"activation saturated", op, {f32({40})}, {{-200, 200}}, false});
  }
}

TEST(Activation, MayLieAnywhere) {
  check_unaligned(make_op(ActivationOp({Activation::tanh})), {f32({3, 7})});
  check_unaligned(make_op(ActivationGradOp({Activation::tanh})), {f32({3, 7}), f32({3, 7})});
}

TEST(Activation, KeepsNaN) {
  for (Activation kind :
       {Activation::relu, Activation::tanh, Activation::sigmoid, Activation::gelu}) {
    Graph graph;
    const Value x = graph.add_value("x", f32({2}), Storage::external, 0);
    const Value y = graph.emit(ActivationOp({kind}), {x}, "activation");
    EXPECT_TRUE(std::isnan(run(graph, {x}, {{std::nan(""), 1}}, {y})[0][0]));
    EXPECT_TRUE(std::isnan(activate(kind, std::nan(""))));
  }
}

TEST(Activation, GeluIsClosedHoweverFarOut) {
  Graph graph;
  const Value x = graph.add_value("x", f32({3}), Storage::external, 0);
  const Value y = graph.emit(ActivationOp({Activation::gelu}), {x}, "gelu");
  EXPECT_EQ(run(graph, {x}, {{-1e2, -1e12, -1e30}}, {y})[0], std::vector<double>(3, 0));
}

TEST(Activation, TheGradientNamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(make_op(ActivationGradOp()), {f32({3, 4}), f32({4})}, "relu"),
            "[activation_grad 'relu'] expected two operands of one type; got dy=(3, 4), y=(4)");
}

}  // namespace
}  // namespace linnet::testing
