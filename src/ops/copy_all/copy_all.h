// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// Result i is operand i, f32, in memory of its own. Written by passes that let the results, or the
/// operands, be stored in another type.
class CopyAllOp final : public OpBase<CopyAllOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "copy_all";
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
