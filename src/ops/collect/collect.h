// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace linnet {

struct CollectAttrs {
  std::int64_t length = 0;
  std::vector<std::int64_t> begins = {};  ///< of each operand in y, in order
  template <class V>
  void fields(V&& visit) {
    visit("length", length);
    visit("begins", begins);
  }
  bool operator==(const CollectAttrs&) const = default;
};

/// y f32 (length): operand i, f32 of any shape, from element begins[i] on, and zeros between. A
/// plan places operands inside y, so that only the zeros are written.
class CollectOp final : public OpBase<CollectOp, CollectAttrs> {
 public:
  static constexpr std::string_view kName = "collect";
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  std::vector<std::size_t> places_in_result() const override;
};

}  // namespace linnet
