// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/pool2d/pool2d.h"
#include "ops/quantize/quantize.h"

namespace linnet {

/// y (N, OH, OW, C): the largest level of each window of x (N, H, W, C), both u8; padding never
/// wins. At inference, on what quantize has rounded.
class MaxPoolInt8Op final : public OpBase<MaxPoolInt8Op, Pool2dAttrs> {
 public:
  static constexpr std::string_view kName = "max_pool_int8";
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
};

/// y f32 (N, C): the mean over all pixels of x u8 (N, H, W, C), which are levels.
class GlobalAvgPoolInt8Op final : public OpBase<GlobalAvgPoolInt8Op, LevelsAttrs> {
 public:
  static constexpr std::string_view kName = "global_avg_pool_int8";
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
