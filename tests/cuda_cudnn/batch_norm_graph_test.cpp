// SPDX-License-Identifier: Apache-2.0
// Graphs of batch norms, for devices that are only described, with fake_driver.cpp.
#include <gtest/gtest.h>

#include <array>
#include <vector>

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

/// Convolutions with a norm before and sums after them, as fuse_norm_conv2d writes them: 3x3, also
/// strided, and 1x1 of small and of large images.
std::vector<CudnnConvolution> norm_convolutions() {
  std::vector<CudnnConvolution> all;
  for (const auto& [size, c, co, kernel, stride] : {std::array<std::int64_t, 5>{8, 64, 64, 3, 1},
                                                    {8, 128, 128, 3, 2},
                                                    {8, 64, 256, 1, 1},
                                                    {1, 512, 2048, 1, 1},
                                                    {56, 128, 32, 3, 1},
                                                    {14, 480, 128, 1, 1},
                                                    {14, 256, 128, 1, 1}}) {
    for (const bool norm : {false, true}) {
      for (const bool sums : {false, true}) {
        if (!norm && !sums) continue;
        const bool block = size == 56 || size == 14;  // of concatenations
        const std::int64_t pad = kernel / 2;
        const std::int64_t out = (size + 2 * pad - kernel) / stride + 1;
        all.push_back({.n = 64,
                       .h = size,
                       .w = size,
                       .c = c,
                       .oh = out,
                       .ow = out,
                       .co = co,
                       .kh = kernel,
                       .kw = kernel,
                       .stride_h = stride,
                       .stride_w = stride,
                       .pad_top = pad,
                       .pad_bottom = pad,
                       .pad_left = pad,
                       .pad_right = pad,
                       .norm = norm,
                       .norm_relu = c != 128,
                       .sums = sums,
                       .x_row = block && kernel == 1 && norm ? 1024 : 0,
                       .y_row = block && kernel == 3 && sums ? 256 : 0});
      }
    }
  }
  return all;
}

/// Engines that add in a fixed order, and no workspace: what DescribedBackend takes for granted.
TEST(CudnnGraph, ConvolutionsWithNormsAndSumsHavePlansFromAmpereOn) {
  for (const DescribedDevice& device : kDevices) {
    const auto target = described_target(device);
    for (const CudnnConvolution& conv : norm_convolutions()) {
      const auto graph = CudnnGraph::build(target, conv);
      ASSERT_EQ(graph != nullptr, device.compute_capability >= 80)
          << device.name << ", " << conv.describe();
      if (!graph || device.compute_capability != 90) continue;
      const bool whole = conv.norm && conv.sums;  // compiling takes seconds
      EXPECT_TRUE(!whole || graph->prepare(0)) << device.name << ", " << conv.describe();
      EXPECT_TRUE(graph->tensor_cores(0)) << device.name << ", " << conv.describe();
    }
  }
}

/// What a norm's gradient begins with, by the gradient after it, as fuse_norm_conv2d writes them.
std::vector<CudnnConvolution> norm_gradients() {
  std::vector<CudnnConvolution> all;
  for (CudnnConvolution conv : norm_convolutions()) {
    if (!conv.norm || !conv.sums) continue;
    conv.direction = CudnnConvolution::Direction::grad_input;
    conv.x_row = conv.y_row = 0;
    all.push_back(conv);
  }
  return all;
}

TEST(CudnnGraph, GradientsWithSumsOfNormsHavePlansFromAmpereOn) {
  for (const DescribedDevice& device : kDevices) {
    const auto target = described_target(device);
    for (const CudnnConvolution& conv : norm_gradients()) {
      const auto graph = CudnnGraph::build(target, conv);
      ASSERT_EQ(graph != nullptr, device.compute_capability >= 80)
          << device.name << ", " << conv.describe();
      if (!graph || device.compute_capability != 90 || conv.h < 56) continue;
      EXPECT_TRUE(graph->prepare(0)) << device.name << ", " << conv.describe();
      EXPECT_TRUE(graph->tensor_cores(0)) << device.name << ", " << conv.describe();
    }
  }
}

/// Which is why they are not asked for (conv2d_cudnn.cpp).
TEST(CudnnGraph, GradientsWithSumsOfNormsOfABlockHaveNoPlan) {
  CudnnConvolution conv = norm_gradients().back();
  conv.x_row = 1024;
  EXPECT_EQ(CudnnGraph::build(described_target(kDevices[0]), conv), nullptr);
}

TEST(CudnnConvolution, HasAsManyOperandsAsItSays) {
  for (const CudnnConvolution& conv : norm_gradients()) {
    EXPECT_EQ(conv.operand_bytes().size(), 10U);
  }

  for (const CudnnConvolution& conv : norm_convolutions()) {
    EXPECT_EQ(conv.operand_bytes().size(), 3U + (conv.norm ? 4 : 0) + (conv.sums ? 2 : 0));
  }
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
