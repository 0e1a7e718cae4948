// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/layers.h>
#include <linnet/model.h>

#include "data_sets.h"
#include "message_of.h"
#include "model/model_state.h"
#include "weights.h"

namespace linnet::testing {
namespace {

TEST(Copy, OnAnotherDeviceComputesAsTheModelDoes) {
  const Network network({16}, {Dense{.units = 16}, Tanh{}, Dense{.units = 3}});
  const Model model(network,
                    {.device = "cpu", .threads = 2, .seed = 5, .precision = Precision::bf16});
  Model there = model.to("cpu");
  EXPECT_TRUE(same_bits(there.weights(), model.weights()));
  EXPECT_EQ(there.threads(), 2);
  EXPECT_EQ(there.state().options.precision, Precision::bf16);
  std::vector<float> values;
  for (int i = 0; i < 64; ++i) values.push_back(static_cast<float>(i % 7) / 3);
  const Dataset data({{"x", records(std::move(values), {16})}});
  EXPECT_TRUE(same_bits(there.predict(data), model.copy().predict(data)));
  const std::vector<float> before = parameter(model, "dense_2.bias");
  set_parameter(there, "dense_2.bias", {1, 2, 3});
  EXPECT_EQ(parameter(model, "dense_2.bias"), before);
  EXPECT_EQ(message_of([&] { static_cast<void>(model.to("abacus")); }),
            "unknown device 'abacus'; expected auto, cpu, cuda, cuda:INDEX or cuda:UUID");
}

}  // namespace
}  // namespace linnet::testing
