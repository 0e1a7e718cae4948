// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/batch_norm.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

std::vector<ValueType> operands(Shape x) {
  const Shape channels{x[-1]};
  return {f32(std::move(x)), f32(channels), f32(channels), f32(channels), f32(channels)};
}

const std::vector<Fill> kFills{{-2, 3}, {0.5, 1.5}, {-1, 1}, {-1, 1}, {0.5, 2}};
const std::vector<bool> kTrained{true, true, true, false, false};
const std::vector<bool> kRoots{true, false, false};

TEST(BatchNorm, AgreesWithTheReference) {
  const OpPtr op = make_op(BatchNormOp({.epsilon = 1e-3, .momentum = 0.3}));
  check({"batch_norm images", op, operands({3, 2, 5, 4}), kFills, true, kTrained, kRoots});
  check({"batch_norm features", op, operands({7, 3}), kFills, true, kTrained, kRoots});
  check({"batch_norm one channel", op, operands({5, 1}), kFills, true, kTrained, kRoots});
  check({"batch_norm one row", op, operands({1, 4}), kFills, false});
  check({"batch_norm no sample", op, operands({0, 4}), kFills, false});
  check({"batch_norm many tasks", op, operands({40, 31, 17, 13}), kFills, false});
  check({"batch_norm far mean",
         op,
         operands({64, 3}),
         {{1000, 1001}, {0.5, 1.5}},
         false,
         {},
         {},
         2e-4});
}

TEST(BatchNorm, GradientAtManyTasks) {
  const Shape x{40, 31, 17, 13};
  const Shape channels{13};
  check({"batch_norm_grad",
         make_op(BatchNormGradOp()),
         {f32(x), f32(x), f32(channels), f32(channels), f32(channels)},
         kFills,
         false});
}

TEST(BatchNormInference, AgreesWithTheReference) {
  const OpPtr op = make_op(BatchNormInferenceOp({.epsilon = 1e-3}));
  check({"batch_norm_inference", op, operands({3, 2, 5, 4}), kFills, false});
  check({"batch_norm_inference no sample", op, operands({0, 4}), kFills, false});
  check({"batch_norm_inference many tasks", op, operands({40, 31, 17, 13}), kFills, false});
}

TEST(BatchNorm, KeepsItsAttributesAtInference) {
  const OpPtr op = make_op(BatchNormOp({.epsilon = 0.25, .momentum = 0.5}));
  EXPECT_EQ(op->at_inference(op)->attributes(), op->attributes());
}

TEST(BatchNorm, NamesTheLayerAndTheShapes) {
  std::vector<ValueType> types = operands({3, 4});
  types[1] = f32({3});
  EXPECT_EQ(inference_error(make_op(BatchNormOp()), types, "norm"),
            "[batch_norm 'norm'] expected statistics of 4 channels; got x=(3, 4), gamma=(3), "
            "beta=(4), running_mean=(4), running_var=(4)");
  EXPECT_EQ(inference_error(make_op(BatchNormOp({.momentum = 1.5})), operands({3, 4}), "norm"),
            "[batch_norm 'norm'] expected epsilon > 0 and momentum in [0, 1]; got 1e-05 and 1.5");
}

}  // namespace
}  // namespace linnet::testing
