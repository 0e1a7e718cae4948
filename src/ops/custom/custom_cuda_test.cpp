// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backend/cuda/device.cuh"
#include "backend/cuda/launch.h"
#include "op_harness.h"
#include "ops/custom/custom.h"
#include "ops/custom/sum_and_difference_test.h"

namespace linnet::testing {
namespace {

void both_kernel(float scale, std::int64_t count, float* sum, float* difference, const float* a,
                 const float* b) {
  for (std::int64_t i = cuda::first_item(); i < count; i += cuda::grid_stride()) {
    sum[i] = scale * (a[i] + b[i]);
    difference[i] = scale * (a[i] - b[i]);
  }
}

class OnBoth final : public SumAndDifference {
 public:
  using SumAndDifference::SumAndDifference;
  std::optional<CudaKernel> cuda(std::span<const Shape> inputs,
                                 std::span<const Shape> /*outputs*/) const override {
    const std::int64_t count = inputs[a].elements();
    return CudaKernel{.enqueue = [=](const KernelArrays& arrays, void* stream) {
      cuda::launch(static_cast<cudaStream_t>(stream), "both", cuda::for_items(count), both_kernel,
                   3.0F, count, arrays.output(sum), arrays.output(difference), arrays.input(a),
                   arrays.input(b));
    }};
  }
};

TEST(CustomCuda, AGpuRunsItsLaunches) {
  Graph graph;
  const Value a = graph.add_value("a", f32({300}), Storage::external);
  const Value b = graph.add_value("b", f32({300}), Storage::external);
  const auto op = std::make_shared<CustomOp>(std::make_shared<OnBoth>(3),
                                             std::vector<std::int64_t>{1, 1}, nullptr);
  const std::vector<Value> y = graph.add(op, {a, b}, "both");
  std::vector<double> left(300, 0.5);
  std::vector<double> right(300, -0.125);
  left[299] = 7;
  compare_with_reference(graph, {a, b}, {left, right}, y, 1e-6);
}

}  // namespace
}  // namespace linnet::testing
