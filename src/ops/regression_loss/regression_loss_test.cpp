// SPDX-License-Identifier: Apache-2.0
#include "ops/regression_loss/regression_loss.h"

#include <gtest/gtest.h>

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
    check({"regression_loss_grad many tasks", make_op(RegressionLossGradOp({kind})),
           {f32({300, 333}), f32({300, 333}), f32({})}, {}, false});
  }
}

TEST(RegressionLoss, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(make_op(RegressionLossOp()), {f32({8, 5}), f32({8, 1})}, "loss"),
            "[regression_loss 'loss'] expected outputs and targets of one shape; got y=(8, 5), "
            "target=(8, 1)");
}

}  // namespace
}  // namespace linnet::testing
