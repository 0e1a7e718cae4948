// SPDX-License-Identifier: Apache-2.0
#include "fusions/bias_activation_grad/bias_activation_grad.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

OpCase op_case(Activation kind, const Shape& saved, bool outer) {
  std::vector<ValueType> inputs{f32(saved), f32(saved)};
  if (outer) inputs = {f32({saved[0], 1}), f32(saved), f32({1, saved[1]})};
  return {.name = "bias_activation_grad",
          .op = make_op(BiasActivationGradOp({kind, outer})),
          .inputs = std::move(inputs),
          .gradient = false};
}

TEST(BiasActivationGrad, AgreesWithTheReference) {
  for (const Activation kind :
       {Activation::relu, Activation::tanh, Activation::sigmoid, Activation::gelu}) {
    check(op_case(kind, {70, 12}, false));
    check(op_case(kind, {70, 12}, true));
  }
  check(op_case(Activation::tanh, {3, 2, 4, 5}, false));
  check(op_case(Activation::tanh, {9, 7}, true));
  check(op_case(Activation::relu, {8}, false));
  check(op_case(Activation::tanh, {0, 8}, false));
  check(op_case(Activation::tanh, {0, 8}, true));
}

/// Chunks of rows, of which the last block adds the sums.
TEST(BiasActivationGrad, ManyRowsAgreeWithTheReference) {
  check(op_case(Activation::tanh, {3000, 20}, false));
  check(op_case(Activation::tanh, {3000, 20}, true));
  check(op_case(Activation::relu, {1500, 9}, true));
  check(op_case(Activation::relu, {6000, 50}, false));   // two rows as one
  check(op_case(Activation::relu, {6001, 50}, false));   // which an odd number does not allow
  check(op_case(Activation::relu, {12000, 25}, false));  // four
  check(op_case(Activation::relu, {3, 1030}, false));    // wide blocks
}

TEST(BiasActivationGrad, NamesTheShapes) {
  EXPECT_NE(inference_error(make_op(BiasActivationGradOp({Activation::tanh, true})),
                            {f32({4, 2}), f32({4, 3}), f32({1, 3})})
                .find("expected a column (N, 1), saved (N, C) and a row (1, C)"),
            std::string::npos);
  EXPECT_NE(inference_error(make_op(BiasActivationGradOp({Activation::relu, false})),
                            {f32({4, 2}), f32({4, 3})})
                .find("expected dy and saved of one shape"),
            std::string::npos);
}

}  // namespace
}  // namespace linnet::testing
