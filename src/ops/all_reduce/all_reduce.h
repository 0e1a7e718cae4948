// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "graph/graph.h"

namespace linnet {

/// Hands `sums`, f32 (n), over to be summed with those of the other ranks while the step goes on:
/// it holds the sum once the taker (StepExchange::take_gradients) says so. Further operands
/// are what writes parts of it, so that these are there. Sums on one rank are the operand itself.
class AllReduceOp final : public OpBase<AllReduceOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "all_reduce";
  enum In : std::uint8_t { sums };
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  bool mutates(std::size_t input) const override { return input == In::sums; }
};

}  // namespace linnet
