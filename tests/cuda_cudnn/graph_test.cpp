// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cudnn_graph.h"

#include <gtest/gtest.h>
#include <linnet/error.h>

#include "cuda_cudnn/devices.h"

namespace linnet::cuda {
namespace {

CudnnConvolution usual(CudnnMath math) {
  CudnnConvolution conv;
  conv.math = math;
  conv.n = 128;
  conv.h = conv.w = conv.oh = conv.ow = 8;
  conv.c = conv.co = 64;
  conv.kh = conv.kw = 3;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 1;
  return conv;
}

constexpr std::array kDirections{CudnnConvolution::Direction::forward,
                                 CudnnConvolution::Direction::grad_input,
                                 CudnnConvolution::Direction::grad_weight};

TEST(CudnnGraph, StrictFp32NeverUsesTensorCores) {
  for (const DescribedDevice& device : kDevices) {
    const auto target = described_target(device);
    for (const auto direction : kDirections) {
      CudnnConvolution conv = usual(CudnnMath::fp32);
      conv.direction = direction;
      const auto graph = CudnnGraph::build(target, conv);
      ASSERT_NE(graph, nullptr) << device.name << ", " << conv.describe();
      for (int i = 0; i < graph->engines(); ++i) {
        EXPECT_FALSE(graph->tensor_cores(i)) << device.name << ", " << graph->name(i);
      }
    }
  }
}

TEST(CudnnGraph, Tf32DoesWhereThereAreAny) {
  for (const DescribedDevice& device : kDevices) {
    const auto graph = CudnnGraph::build(described_target(device), usual(CudnnMath::tf32));
    ASSERT_NE(graph, nullptr) << device.name;
    bool any = false;
    for (int i = 0; i < graph->engines(); ++i) any = any || graph->tensor_cores(i);
    EXPECT_EQ(any, device.compute_capability >= 80) << device.name;
  }
}

TEST(CudnnGraph, EnginesHaveDifferentNamesThatStay) {
  const auto target = described_target(kDevices[0]);
  const auto first = CudnnGraph::build(target, usual(CudnnMath::tf32));
  const auto second = CudnnGraph::build(described_target(kDevices[0]), usual(CudnnMath::tf32));
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  ASSERT_EQ(first->engines(), second->engines());
  for (int i = 0; i < first->engines(); ++i) {
    EXPECT_EQ(first->name(i), second->name(i));
    EXPECT_NE(first->name(i).find("eng"), std::string::npos) << first->name(i);
    for (int j = 0; j < i; ++j) EXPECT_NE(first->name(i), first->name(j));
  }
}

TEST(CudnnGraph, SumsInAnyOrderAddEngines) {
  const auto target = described_target(kDevices[0]);
  int added = 0;
  for (const auto direction : kDirections) {
    CudnnConvolution conv = usual(CudnnMath::tf32);
    conv.direction = direction;
    const auto fixed = CudnnGraph::build(target, conv);
    const auto any = CudnnGraph::build(target, conv, false);
    ASSERT_TRUE(fixed && any) << conv.describe();
    EXPECT_GE(any->engines(), fixed->engines());
    added += any->engines() - fixed->engines();
  }
  EXPECT_GT(added, 0);
}

/// As a folded batch norm with a residual wants it: on tensor cores in 16 bits.
TEST(CudnnGraph, AddsAResidual) {
  for (const DescribedDevice& device : kDevices) {
    for (const CudnnMath math : {CudnnMath::tf32, CudnnMath::bf16, CudnnMath::fp16}) {
      if (device.compute_capability < 80 && math != CudnnMath::fp16) continue;
      CudnnConvolution conv = usual(math);
      conv.bias = true;
      conv.residual = true;
      for (const bool relu : {false, true}) {
        conv.tail = relu ? CudnnConvolution::Tail::relu : CudnnConvolution::Tail::none;
        if (relu) {  // a single pixel, as the last of a bottleneck
          conv.co = 256;
          conv.kh = conv.kw = 1;
          conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 0;
        }
        const auto graph = CudnnGraph::build(described_target(device), conv);
        ASSERT_NE(graph, nullptr) << device.name << ", " << conv.describe();
        bool tensor_cores = false;
        for (int i = 0; i < graph->engines(); ++i) {
          tensor_cores = tensor_cores || (graph->tensor_cores(i) && graph->prepare(i));
        }
        EXPECT_TRUE(tensor_cores) << device.name << ", " << conv.describe();
      }
    }
  }
}

TEST(CudnnGraph, WhatDoesNotFitIsNull) {
  CudnnConvolution conv = usual(CudnnMath::tf32);
  conv.oh = 9;
  EXPECT_EQ(CudnnGraph::build(described_target(kDevices[0]), conv), nullptr);
}

TEST(CudnnTarget, ADescriptionThatIsNoneIsAnError) {
  EXPECT_THROW(CudnnTarget::described("{}", 90), Error);
}

TEST(CudnnTarget, WithoutADeviceTheErrorSaysSo) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) GTEST_SKIP() << "there is a GPU";
  try {
    CudnnTarget::current_device();
    FAIL() << "cuDNN started without a device";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cuDNN " + cudnn_version() + " cannot start"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace linnet::cuda
