// SPDX-License-Identifier: Apache-2.0
// Graphs of batch norms, for devices that are only described, with fake_driver.cpp.
#include <gtest/gtest.h>

#include "backend/cuda/cudnn_graph.h"
#include "cuda_cudnn/devices.h"

namespace linnet::cuda {
namespace {

/// The kinds of batch norms that training asks for.
std::vector<CudnnBatchNorm> norms() {
  std::vector<CudnnBatchNorm> all;
  for (const auto direction :
       {CudnnBatchNorm::Direction::forward, CudnnBatchNorm::Direction::gradient}) {
    CudnnBatchNorm norm{.direction = direction, .n = 128, .h = 8, .w = 8, .c = 64};
    all.push_back(norm);
    norm.relu = true;
    all.push_back(norm);
    norm.residual = true;
    all.push_back(norm);
  }
  return all;
}

/// The support matrix only asks for their graphs.
TEST(CudnnGraph, BatchNormsHavePlansFromAmpereOn) {
  for (const DescribedDevice& device : kDevices) {
    const auto target = described_target(device);
    for (const CudnnBatchNorm& norm : norms()) {
      const auto graph = CudnnGraph::build(target, norm);
      ASSERT_EQ(graph != nullptr, device.compute_capability >= 80)
          << device.name << ", " << norm.describe();
      if (!graph || device.compute_capability != 90) continue;  // compiling takes a second each
      EXPECT_TRUE(graph->prepare(0)) << device.name << ", " << norm.describe();
      EXPECT_FALSE(graph->tensor_cores(0)) << device.name << ", " << norm.describe();
    }
  }
}

/// What cuDNN has no engine for is not asked of it (batch_norm_cudnn.cpp).
TEST(CudnnGraph, AResidualWithoutAReluHasNoPlan) {
  const CudnnBatchNorm norm{.n = 128, .h = 8, .w = 8, .c = 64, .residual = true};
  EXPECT_EQ(CudnnGraph::build(described_target(kDevices[0]), norm), nullptr);
}

TEST(CudnnBatchNorm, HasAsManyOperandsAsItSays) {
  const std::vector<std::size_t> operands{10, 10, 11, 8, 9, 10};
  const std::vector<CudnnBatchNorm> all = norms();
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].operand_bytes().size(), operands[i]) << all[i].describe();
  }
}

}  // namespace
}  // namespace linnet::cuda
