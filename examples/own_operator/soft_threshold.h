// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/custom_operator.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

/// y = sign(x) max(|x| - threshold, 0), element by element (Donoho and Johnstone, 1994); x of any
/// shape. Its settings are the threshold.
class SoftThreshold final : public linnet::CustomOperator {
 public:
  explicit SoftThreshold(double threshold) : threshold_(threshold) {}
  /// Reads what settings() wrote: for ModelOptions::operators.
  static std::shared_ptr<const SoftThreshold> read(const std::string& settings);

  std::string name() const override { return "example.soft_threshold"; }
  std::string settings() const override { return std::to_string(threshold_); }
  std::vector<linnet::Shape> infer(std::span<const linnet::Shape> inputs) const override;
  void reference(std::span<const linnet::DoubleArray> inputs,
                 std::span<const linnet::DoubleArray> outputs) const override;
  std::vector<std::optional<linnet::Expression>> gradient(
      std::span<const linnet::Expression> inputs, std::span<const linnet::Expression> outputs,
      std::span<const std::optional<linnet::Expression>> output_gradients) const override;
  linnet::CpuKernel cpu(std::span<const linnet::Shape> inputs,
                        std::span<const linnet::Shape> outputs) const override;
#ifdef OWN_OPERATOR_CUDA
  std::optional<linnet::CudaKernel> cuda(std::span<const linnet::Shape> inputs,
                                         std::span<const linnet::Shape> outputs) const override;
#endif

 private:
  double threshold_;
};

/// The gradient: dx = dy where |x| > threshold, else 0; of (x, dy).
class SoftThresholdGradient final : public linnet::CustomOperator {
 public:
  explicit SoftThresholdGradient(double threshold) : threshold_(threshold) {}

  std::string name() const override { return "example.soft_threshold_gradient"; }
  std::string settings() const override { return std::to_string(threshold_); }
  std::vector<linnet::Shape> infer(std::span<const linnet::Shape> inputs) const override;
  void reference(std::span<const linnet::DoubleArray> inputs,
                 std::span<const linnet::DoubleArray> outputs) const override;
  linnet::CpuKernel cpu(std::span<const linnet::Shape> inputs,
                        std::span<const linnet::Shape> outputs) const override;
#ifdef OWN_OPERATOR_CUDA
  std::optional<linnet::CudaKernel> cuda(std::span<const linnet::Shape> inputs,
                                         std::span<const linnet::Shape> outputs) const override;
#endif

 private:
  double threshold_;
};
