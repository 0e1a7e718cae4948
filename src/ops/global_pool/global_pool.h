// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// y (N, C): the mean over all pixels of x (N, H, W, C), f32.
class GlobalAvgPoolOp final : public OpBase<GlobalAvgPoolOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "global_avg_pool";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

/// y (N, C): the largest pixel of x (N, H, W, C), f32; NaN wins. The second output, `winner` (i32,
/// (N, C)), is its row * W + column, the first of equal ones.
class GlobalMaxPoolOp final : public OpBase<GlobalMaxPoolOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "global_max_pool";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y, winner };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

struct GlobalPoolGradAttrs {
  std::int64_t in_h = 1;
  std::int64_t in_w = 1;
  template <class V>
  void fields(V&& visit) {
    visit("in_h", in_h);
    visit("in_w", in_w);
  }
  bool operator==(const GlobalPoolGradAttrs&) const = default;
};

/// dx (N, in_h, in_w, C) from dy (N, C).
class GlobalAvgPoolGradOp final : public OpBase<GlobalAvgPoolGradOp, GlobalPoolGradAttrs> {
 public:
  static constexpr std::string_view kName = "global_avg_pool_grad";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { dy };
  enum Out : std::uint8_t { dx };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

/// dx (N, in_h, in_w, C) from (dy, winner).
class GlobalMaxPoolGradOp final : public OpBase<GlobalMaxPoolGradOp, GlobalPoolGradAttrs> {
 public:
  static constexpr std::string_view kName = "global_max_pool_grad";
  enum In : std::uint8_t { dy, winner };
  enum Out : std::uint8_t { dx };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
