// SPDX-License-Identifier: Apache-2.0
#include "ops/activation/activation.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(Activation, AgreesWithTheReference) {
  for (Activation kind : {Activation::none, Activation::relu, Activation::tanh,
                          Activation::sigmoid, Activation::gelu}) {
    const OpPtr op = make_op(ActivationOp({kind}));
    check({"activation small", op, {f32({3, 5})}, {{-3, 3}}, kind != Activation::none});
    check({"activation one", op, {f32({1})}, {{-3, 3}}, kind != Activation::none});
    check({"activation empty", op, {f32({0, 4})}, {}, false});
    check({"activation many tasks", op, {f32({64, 33, 31})}, {{-4, 4}}, false});
    check({"activation saturated", op, {f32({40})}, {{-200, 200}}, false});
  }
}

}  // namespace
}  // namespace linnet::testing
