// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "backend/cuda/handle.h"
#include "backend/cuda/matmul.h"

namespace linnet::cuda::testing {

/// Device memory of f32 (or of any bytes), freed at the end.
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t bytes) : bytes_(bytes) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)), "test");
    memory_ = UniqueHandle<void*, cudaFree>(memory);
  }
  explicit DeviceArray(const std::vector<float>& values)
      : DeviceArray(values.size() * sizeof(float)) {
    check(cudaMemcpy(memory_.get(), values.data(), bytes_, cudaMemcpyHostToDevice), "test");
  }

  float* floats() const { return static_cast<float*>(memory_.get()); }
  std::byte* bytes() const { return static_cast<std::byte*>(memory_.get()); }
  std::vector<float> download() const {
    std::vector<float> values(bytes_ / sizeof(float));
    check(cudaMemcpy(values.data(), memory_.get(), values.size() * sizeof(float),
                     cudaMemcpyDeviceToHost),
          "test");
    return values;
  }

 private:
  std::size_t bytes_;
  UniqueHandle<void*, cudaFree> memory_;
};

inline std::vector<float> random_floats(std::int64_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = uniform(random);
  return values;
}

/// Operands with their strides' gaps, and C = op(A) op(B) + bias in double, (m, n) without gaps.
struct ProductCase {
  explicit ProductCase(const MatrixProduct& product, bool with_bias = false)
      : p(product),
        a(random_floats((p.transpose_a ? p.k : p.m) * p.stride_a(), 1)),
        b(random_floats((p.transpose_b ? p.n : p.k) * p.stride_b(), 2)),
        bias(random_floats(p.n, 3)) {
    for (std::int64_t row = 0; row < p.m; ++row) {
      for (std::int64_t column = 0; column < p.n; ++column) {
        double sum = with_bias ? at(bias, column) : 0;
        for (std::int64_t t = 0; t < p.k; ++t) {
          sum += at(a, p.transpose_a ? t * p.stride_a() + row : row * p.stride_a() + t) *
                 at(b, p.transpose_b ? column * p.stride_b() + t : t * p.stride_b() + column);
        }
        expected.push_back(sum);
      }
    }
  }

  /// Returns the largest error of `c`, which has the product's stride; infinity where a gap was
  /// touched or a value is NaN.
  double error(const std::vector<float>& c, float gap) const {
    double largest = 0;
    for (std::int64_t row = 0; row < p.m; ++row) {
      for (std::int64_t column = 0; column < p.stride_c(); ++column) {
        const double value = at(c, row * p.stride_c() + column);
        const double difference =
            column < p.n ? std::abs(value - expected[static_cast<std::size_t>(row * p.n + column)])
                         : (value == static_cast<double>(gap) ? 0.0 : INFINITY);
        largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
      }
    }
    return largest;
  }

  static double at(const std::vector<float>& values, std::int64_t i) {
    return static_cast<double>(values[static_cast<std::size_t>(i)]);
  }

  MatrixProduct p;
  std::vector<float> a;
  std::vector<float> b;
  std::vector<float> bias;
  std::vector<double> expected;
};

}  // namespace linnet::cuda::testing
