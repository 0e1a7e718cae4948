// SPDX-License-Identifier: Apache-2.0
// Trainings with and without the passes that change their graphs: the same bits, however blocks and
// threads are ordered.
#include <cstdint>

#include "cuda_model.h"
#include "end_to_end/needed_passes.h"
#include "small_trainings.h"

namespace linnet::testing {
namespace {

Network dense_block() {
  FunctionalNetwork functional;
  Expression x = functional.input("x", {28, 28, 1}) | Rescale{} | Conv2d{.filters = 8, .stride = 4};
  for (int i = 0; i < 3; ++i) {
    x = concat({x, x | BatchNorm{} | ReLU{} | Conv2d{.filters = 4, .padding = Padding2d::same()}},
               2);
  }
  x = x | BatchNorm{} | ReLU{} | GlobalAvgPool2d{} | Dense{.units = 10};
  return functional.build({{"y", x}});
}

Network residual_blocks() {
  FunctionalNetwork functional;
  Expression x = functional.input("x", {28, 28, 1}) | Rescale{} | Conv2d{.filters = 8, .stride = 4};
  for (int i = 0; i < 2; ++i) {
    const Expression inner =
        x | Conv2d{.filters = 8, .padding = Padding2d::same(), .bias = false} | BatchNorm{};
    x = (inner + x) | ReLU{};
  }
  x = x | GlobalAvgPool2d{} | Dense{.units = 10};
  return functional.build({{"y", x}});
}

Network dense_layers() {
  return Network({28, 28, 1}, {Rescale{}, Flatten{}, Dense{.units = 12}, Tanh{}, Dense{.units = 9},
                               Sigmoid{}, Dense{.units = 10}});
}

/// Batches of 24 samples: 1,176 rows, which a batch norm's sums take in chunks.
/// SGD, since Adam would hide a factor.
Trained trained_network(const Network& network, const std::vector<std::string>& disabled) {
  TrainingOptions options{.epochs = 2, .batch = 24, .optimizer = SGD{.learning_rate = 0.05}};
  options.disabled_passes = disabled;
  return trained(cuda_model(network, {}, 5), {.train = datasets::digits(48, 0, 3).train}, options);
}

TEST(TrainingPasses, SharedConcatenationsAreTheSameBitsAsCopies) {
  const MachineGuard machine;
  EXPECT_EQ(trained_network(dense_block(), {}), trained_network(dense_block(), {"share_concats"}));
}

TEST(TrainingPasses, JoinedNormsAreTheSameBitsAsTheirParts) {
  LINNET_NEEDS_PASSES("join_norms");
  const MachineGuard machine;
  for (const Network& network : {dense_block(), residual_blocks()}) {
    EXPECT_EQ(trained_network(network, {}), trained_network(network, {"join_norms"}));
  }
}

/// The sums of a bias's gradient are cut otherwise.
TEST(TrainingPasses, FusedBiasGradientsAreTheSameWithinRounding) {
  LINNET_NEEDS_PASSES("fuse_bias_grad");
  const MachineGuard machine;
  const Trained fused = trained_network(dense_layers(), {});
  const Trained plain = trained_network(dense_layers(), {"fuse_bias_grad"});
  ASSERT_EQ(fused.weights.size(), plain.weights.size());
  for (std::size_t i = 0; i < plain.weights.size(); ++i) {
    ASSERT_NEAR(fused.weights[i], plain.weights[i], 1e-5) << i;
  }
  ASSERT_EQ(fused.losses.size(), plain.losses.size());
  for (std::size_t i = 0; i < plain.losses.size(); ++i) {
    EXPECT_NEAR(fused.losses[i], plain.losses[i], 1e-5) << i;
  }
}

TEST(TrainingPasses, AreTheSameBitsInAnyOrderOfThreads) {
  const MachineGuard machine;
  for (const Network& network : {dense_block(), residual_blocks(), dense_layers()}) {
    const Trained in_order = trained_network(network, {});
    for (const std::uint64_t seed : {1, 2}) {
      reorder_threads(seed);
      EXPECT_EQ(trained_network(network, {}), in_order) << seed;
    }
    reorder_threads(0);
  }
}

}  // namespace
}  // namespace linnet::testing
