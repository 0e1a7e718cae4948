// SPDX-License-Identifier: Apache-2.0
#include "soft_threshold.h"

#include <linnet/error.h>

#include <algorithm>
#include <cmath>
#include <functional>

#ifdef OWN_OPERATOR_CUDA
#include "soft_threshold_cuda.h"
#endif

using namespace linnet;

namespace {

/// Elements of a task: some 20 microseconds of work.
constexpr std::int64_t kChunk = 16384;

/// A kernel that gives ranges of `count` elements to as many tasks as they are worth.
CpuKernel element_wise(
    std::int64_t count,
    std::function<void(const KernelArrays&, std::int64_t begin, std::int64_t end)> run) {
  const auto tasks = static_cast<int>(std::clamp<std::int64_t>(count / kChunk, 1, 64));
  CpuKernel kernel;
  kernel.stages.push_back({tasks, [=](const KernelArrays& arrays, int task) {
                             run(arrays, count * task / tasks, count * (task + 1) / tasks);
                           }});
  return kernel;
}

}  // namespace

std::shared_ptr<const SoftThreshold> SoftThreshold::read(const std::string& settings) {
  return std::make_shared<SoftThreshold>(std::stod(settings));
}

std::vector<Shape> SoftThreshold::infer(std::span<const Shape> inputs) const {
  if (inputs.size() != 1) throw Error("expected one operand");
  return {inputs[0]};
}

void SoftThreshold::reference(std::span<const DoubleArray> inputs,
                              std::span<const DoubleArray> outputs) const {
  for (std::size_t i = 0; i < inputs[0].data.size(); ++i) {
    const double x = inputs[0].data[i];
    outputs[0].data[i] = std::copysign(std::max(std::abs(x) - threshold_, 0.0), x);
  }
}

std::vector<std::optional<Expression>> SoftThreshold::gradient(
    std::span<const Expression> inputs, std::span<const Expression> /*outputs*/,
    std::span<const std::optional<Expression>> output_gradients) const {
  return {apply(std::make_shared<SoftThresholdGradient>(threshold_),
                {inputs[0], *output_gradients[0]})[0]};
}

CpuKernel SoftThreshold::cpu(std::span<const Shape> inputs,
                             std::span<const Shape> /*outputs*/) const {
  return element_wise(inputs[0].elements(),
                      [threshold = static_cast<float>(threshold_)](const KernelArrays& arrays,
                                                                   std::int64_t begin,
                                                                   std::int64_t end) {
                        const float* x = arrays.input(0);
                        float* y = arrays.output(0);
                        for (std::int64_t i = begin; i < end; ++i) {
                          y[i] = std::copysign(std::max(std::abs(x[i]) - threshold, 0.0F), x[i]);
                        }
                      });
}

std::vector<Shape> SoftThresholdGradient::infer(std::span<const Shape> inputs) const {
  if (inputs.size() != 2 || inputs[0] != inputs[1]) throw Error("expected x and dy of one shape");
  return {inputs[0]};
}

void SoftThresholdGradient::reference(std::span<const DoubleArray> inputs,
                                      std::span<const DoubleArray> outputs) const {
  for (std::size_t i = 0; i < inputs[0].data.size(); ++i) {
    outputs[0].data[i] = std::abs(inputs[0].data[i]) > threshold_ ? inputs[1].data[i] : 0;
  }
}

CpuKernel SoftThresholdGradient::cpu(std::span<const Shape> inputs,
                                     std::span<const Shape> /*outputs*/) const {
  return element_wise(inputs[0].elements(),
                      [threshold = static_cast<float>(threshold_)](const KernelArrays& arrays,
                                                                   std::int64_t begin,
                                                                   std::int64_t end) {
                        for (std::int64_t i = begin; i < end; ++i) {
                          arrays.output(0)[i] =
                              std::abs(arrays.input(0)[i]) > threshold ? arrays.input(1)[i] : 0;
                        }
                      });
}

#ifdef OWN_OPERATOR_CUDA
std::optional<CudaKernel> SoftThreshold::cuda(std::span<const Shape> inputs,
                                              std::span<const Shape> /*outputs*/) const {
  return CudaKernel{
      .enqueue = [threshold = static_cast<float>(threshold_),
                  count = inputs[0].elements()](const KernelArrays& arrays, void* stream) {
        launch_soft_threshold(threshold, count, arrays.input(0), arrays.output(0), stream);
      }};
}

std::optional<CudaKernel> SoftThresholdGradient::cuda(std::span<const Shape> inputs,
                                                      std::span<const Shape> /*outputs*/) const {
  return CudaKernel{
      .enqueue = [threshold = static_cast<float>(threshold_),
                  count = inputs[0].elements()](const KernelArrays& arrays, void* stream) {
        launch_soft_threshold_gradient(threshold, count, arrays.input(0), arrays.input(1),
                                       arrays.output(0), stream);
      }};
}
#endif
