// SPDX-License-Identifier: Apache-2.0
// Blocks of a DenseNet whose concatenations share a buffer: the same bits as with copies, however
// blocks and threads are ordered.
#include <cstdint>

#include "cuda_model.h"
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

/// Batches of 24 samples: 1,176 rows, which a batch norm's sums take in chunks.
Trained trained_blocks(const std::vector<std::string>& disabled) {
  TrainingOptions options{.epochs = 2, .batch = 24, .optimizer = Adam{.learning_rate = 1e-2}};
  options.disabled_passes = disabled;
  return trained(cuda_model(dense_block(), {}, 5), {.train = datasets::digits(48, 0, 3).train},
                 options);
}

TEST(SharedConcats, AreTheSameBitsAsCopies) {
  const MachineGuard machine;
  EXPECT_EQ(trained_blocks({}), trained_blocks({"share_concats"}));
}

TEST(SharedConcats, AreTheSameBitsInAnyOrderOfThreads) {
  const MachineGuard machine;
  const Trained in_order = trained_blocks({});
  for (const std::uint64_t seed : {1, 2}) {
    reorder_threads(seed);
    EXPECT_EQ(trained_blocks({}), in_order) << seed;
  }
}

}  // namespace
}  // namespace linnet::testing
