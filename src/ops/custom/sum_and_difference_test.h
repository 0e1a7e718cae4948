// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/custom_operator.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/check.h"

namespace linnet::testing {

/// Two outputs of two inputs, scale (a + b) and scale (a - b), as a user would write it: a stage
/// that leaves the scaled inputs in the workspace, and one that adds them. Without its gradient,
/// which needs the folder above.
class SumAndDifference : public CustomOperator {
 public:
  enum In : std::size_t { a, b };
  enum Out : std::size_t { sum, difference };

  explicit SumAndDifference(int scale = 1, std::string name = "test.sum_and_difference")
      : scale_(scale), name_(std::move(name)) {}

  std::string name() const override { return name_; }
  std::string settings() const override { return std::to_string(scale_); }
  std::vector<Shape> infer(std::span<const Shape> inputs) const override {
    require(inputs.size() == 2 && inputs[a] == inputs[b],
            "expected two equal shapes; got {} and {}", to_string(inputs[a]), to_string(inputs[b]));
    return {inputs[a], inputs[a]};
  }
  void reference(std::span<const DoubleArray> inputs,
                 std::span<const DoubleArray> outputs) const override {
    for (std::size_t i = 0; i < inputs[a].data.size(); ++i) {
      outputs[sum].data[i] = scale_ * (inputs[a].data[i] + inputs[b].data[i]);
      outputs[difference].data[i] = scale_ * (inputs[a].data[i] - inputs[b].data[i]);
    }
  }
  CpuKernel cpu(std::span<const Shape> inputs, std::span<const Shape> /*outputs*/) const override {
    const auto count = static_cast<std::size_t>(inputs[a].elements());
    const auto scale = static_cast<float>(scale_);
    CpuKernel kernel;
    kernel.workspace_bytes = 2 * count * sizeof(float);
    kernel.stages.push_back({2, [=](const KernelArrays& arrays, int task) {
                               auto* to = reinterpret_cast<float*>(arrays.workspace());
                               const auto which = static_cast<std::size_t>(task);
                               for (std::size_t i = 0; i < count; ++i) {
                                 to[which * count + i] = scale * arrays.input(which)[i];
                               }
                             }});
    kernel.stages.push_back({1, [=](const KernelArrays& arrays, int) {
                               const auto* from =
                                   reinterpret_cast<const float*>(arrays.workspace());
                               for (std::size_t i = 0; i < count; ++i) {
                                 arrays.output(sum)[i] = from[i] + from[count + i];
                                 arrays.output(difference)[i] = from[i] - from[count + i];
                               }
                             }});
    return kernel;
  }

 protected:
  int scale_;
  std::string name_;
};

}  // namespace linnet::testing
