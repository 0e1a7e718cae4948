// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "end_to_end/needed_passes.h"
#include "end_to_end/step_operators.h"
#include "ops/batch_norm/statistics.h"

namespace linnet::testing {
namespace {

/// A concatenation's norm finds the statistics of the channels alone that were added last, which
/// rounds otherwise: Adam makes steps of the few gradients that are nothing but rounding.
TEST(NormConv2dPass, NormsOfConcatenationsReadWhatIsNew) {
  LINNET_NEEDS_PASSES("fuse_batch_norm");
  const Conv2d pointwise{.filters = 32, .kernel = 1, .bias = false};
  const Conv2d same{.filters = 16, .padding = Padding2d::same(), .bias = false};
  FunctionalNetwork functional;
  Expression x = functional.input("x", {28, 28, 1}) | Rescale{} |
                 Conv2d{.filters = 32, .stride = 4, .bias = false};
  for (int i = 0; i < 3; ++i) {
    x = concat({x, x | BatchNorm{} | ReLU{} | pointwise | BatchNorm{} | ReLU{} | same}, 2);
  }
  x = x | BatchNorm{} | ReLU{} | pointwise | GlobalAvgPool2d{} | Dense{.units = 10};
  const Network network = functional.build({{"y", x}});
  Model model(network, {.device = "cpu", .threads = 1});
  const Graph graph =
      training_step(network.definition(), assumed_data(network.definition(), Loss::cross_entropy),
                    {.batch = 4, .optimizer = resolve({}, 1, 1)},
                    supports_of(*model.state().backend));
  std::vector<std::int64_t> known;
  for (const Node& node : graph.nodes()) {
    const auto* statistics = dynamic_cast<const BatchNormStatisticsOp*>(node.op.get());
    if (statistics != nullptr) known.push_back(statistics->attrs().known);
  }
  EXPECT_EQ(known, (std::vector<std::int64_t>{0, 0, 48, 64}));
  const Dataset digits = datasets::digits(64, 0, 4).train;
  const std::vector<float> fused = weights_after(network, digits, {.steps = 1});
  const std::vector<float> parts =
      weights_after(network, digits, {.steps = 1, .disabled_passes = {"fuse_norm_conv2d"}});
  ASSERT_EQ(parts.size(), fused.size());
  std::size_t apart = 0;
  for (std::size_t i = 0; i < fused.size(); ++i) {
    if (!(std::abs(parts[i] - fused[i]) <= 1e-5)) ++apart;
  }
  EXPECT_LT(apart, fused.size() / 1000);
}

}  // namespace
}  // namespace linnet::testing
