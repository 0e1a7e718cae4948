// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

struct UpdateChannelsAttrs {
  std::int64_t begin = 0;  ///< the first channel that changes
  bool add = false;        ///< whether the part is added to what is there
  template <class V>
  void fields(V&& visit) {
    visit("begin", begin);
    visit("add", add);
  }
  bool operator==(const UpdateChannelsAttrs&) const = default;
};

/// y = whole, but for the channels from `begin` on that `part` has: these are the part's, or the
/// sum of both. f32; the shapes differ in the last axis alone. Takes over the memory of `whole`, so
/// that nothing but the part is read and written.
class UpdateChannelsOp final : public OpBase<UpdateChannelsOp, UpdateChannelsAttrs> {
 public:
  static constexpr std::string_view kName = "update_channels";
  enum In : std::uint8_t { whole, part };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  std::vector<int> in_place() const override { return {In::whole}; }
};

}  // namespace linnet
