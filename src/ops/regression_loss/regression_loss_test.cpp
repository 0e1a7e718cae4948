// SPDX-License-Identifier: Apache-2.0
#include "ops/regression_loss/regression_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(RegressionLoss, AgreesWithTheReference) {
  for (RegressionLoss kind : {RegressionLoss::mse, RegressionLoss::mae}) {
    const OpPtr op = make_op(RegressionLossOp({kind}));
    check({"regression_loss", op, {f32({3, 5}), f32({3, 5})}});
    check({"regression_loss one", op, {f32({1}), f32({1})}});
    check({"regression_loss no sample", op, {f32({0, 4}), f32({0, 4})}, {}, false});
    check({"regression_loss many tasks", op, {f32({300, 333}), f32({300, 333})}, {}, false});
    check({"regression_loss large", op, {f32({40}), f32({40})}, {{-1e15, 1e15}}, false});
    check({"regression_loss_grad many tasks",
           make_op(RegressionLossGradOp({kind})),
           {f32({300, 333}), f32({300, 333}), f32({})},
           {},
           false});
    check({"regression_loss_grad on target",
           make_op(RegressionLossGradOp({kind})),
           {f32({5}), f32({5}), f32({})},
           {{2, 2}},
           false});
  }
}

TEST(RegressionLoss, ANaNHasANaNGradient) {
  for (RegressionLoss kind : {RegressionLoss::mse, RegressionLoss::mae}) {
    Graph graph;
    const Value y = graph.add_value("y", f32({2}), Storage::external, 0);
    const Value t = graph.add_value("t", f32({2}), Storage::external, 1);
    const Value dloss = graph.add_value("dloss", f32({}), Storage::external, 2);
    const Value dy = graph.emit(RegressionLossGradOp({kind}), {y, t, dloss}, "loss");
    EXPECT_TRUE(
        std::isnan(run(graph, {y, t, dloss}, {{std::nan(""), 1}, {0, 0}, {1}}, {dy})[0][0]));
  }
}

TEST(RegressionLoss, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(make_op(RegressionLossOp()), {f32({8, 5}), f32({8, 1})}, "loss"),
            "[regression_loss 'loss'] expected outputs and targets of one shape; got y=(8, 5), "
            "target=(8, 1)");
  EXPECT_EQ(inference_error(make_op(RegressionLossOp()), {i32({8}), i32({8})}, "loss"),
            "[regression_loss 'loss'] expected outputs and targets of one shape; got y=(8), "
            "target=(8)");
}

}  // namespace
}  // namespace linnet::testing
