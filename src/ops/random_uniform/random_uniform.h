// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "graph/graph.h"

namespace linnet {

struct RandomUniformAttrs {
  std::vector<std::int64_t> shape;  ///< of a sample
  std::int64_t stream = 0;          ///< tells the noises of one network apart
  template <class V>
  void fields(V&& visit) {
    visit("shape", shape);
    visit("stream", stream);
  }
  bool operator==(const RandomUniformAttrs&) const = default;
};

/// y = uniform numbers in [0, 1), multiples of 2^-24, f32 (N, shape...), for x (N, ...) of any
/// type, of which the number of rows alone is read. A function of (seed, stream, step, row in the
/// whole batch, element of the row). It draws at inference, too.
class RandomUniformOp final : public OpBase<RandomUniformOp, RandomUniformAttrs> {
 public:
  static constexpr std::string_view kName = "random_uniform";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

/// Returns elements 4 * block to 4 * block + 3 of a row; CUDA kernels call it as well.
constexpr std::array<float, 4> uniform_block(std::uint64_t key, std::uint64_t row,
                                             std::uint64_t block) {
  const std::array<std::uint32_t, 4> words = philox(key, block, row);
  return {unit_float(words[0]), unit_float(words[1]), unit_float(words[2]), unit_float(words[3])};
}

constexpr std::uint64_t uniform_key(std::int64_t stream, const StepInfo& step) {
  return random_key(step.seed, RandomStream::uniform, static_cast<std::uint64_t>(stream),
                    step.step);
}

}  // namespace linnet
