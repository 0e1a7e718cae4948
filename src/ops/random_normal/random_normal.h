// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/host_device.h"
#include "base/random.h"
#include "graph/graph.h"

namespace linnet {

struct RandomNormalAttrs {
  std::vector<std::int64_t> shape;  ///< of a sample
  std::int64_t stream = 0;          ///< tells the noises of one network apart
  template <class V>
  void fields(V&& visit) {
    visit("shape", shape);
    visit("stream", stream);
  }
  bool operator==(const RandomNormalAttrs&) const = default;
};

/// y = noise of mean 0 and std 1, f32 (N, shape...), for x (N, ...) of any type, of
/// which the number of rows alone is read. A function of (seed, stream, step, row in the whole
/// batch, element of the row). It draws at inference, too.
class RandomNormalOp final : public OpBase<RandomNormalOp, RandomNormalAttrs> {
 public:
  static constexpr std::string_view kName = "random_normal";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

/// Random draws of one step. Made by normal_noise(); CUDA kernels call it as well.
struct NormalNoise {
  /// Returns elements 2 * pair and 2 * pair + 1 of a row: Box and Muller's transform, in T.
  template <class T>
  LINNET_HOST_DEVICE std::array<T, 2> operator()(std::uint64_t row, std::uint64_t pair) const {
    const std::array<std::uint32_t, 4> words = philox(key, pair / 2, row);
    const std::size_t first = pair % 2 == 0 ? 0 : 2;
    // (w + 0.5) / 2^23 is exact in f32, and never 0: the logarithm is finite.
    const T u = (static_cast<T>(words[first] >> 9) + T{0.5}) * T{0x1p-23};
    const T angle = static_cast<T>(words[first + 1] >> 8) * static_cast<T>(kTurn * 0x1p-24);
    const T radius = std::sqrt(T{-2} * std::log(u));
    return {radius * std::cos(angle), radius * std::sin(angle)};
  }

  static constexpr double kTurn = 6.283185307179586476925;
  std::uint64_t key;
};

constexpr NormalNoise normal_noise(const RandomNormalAttrs& attrs, const StepInfo& step) {
  return {random_key(step.seed, RandomStream::normal, static_cast<std::uint64_t>(attrs.stream),
                     step.step)};
}

}  // namespace linnet
