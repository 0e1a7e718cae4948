// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "graph/graph.h"

namespace linnet {

/// Takes arrays that a step has finished, in the order of its all_reduce operators. Empty: they are
/// left as they are.
struct SumHandover {
  std::function<void(std::span<float>)> take = {};
};

/// Hands `sums`, f32 (n), over to be summed with those of the other ranks while the step goes on:
/// it holds the sum once whoever took it says so. Further operands are what writes parts of it, so
/// that these are there. Sums on one rank are the operand itself.
class AllReduceOp final : public Op {
 public:
  static constexpr std::string_view kName = "all_reduce";
  enum In : std::uint8_t { sums };
  explicit AllReduceOp(std::shared_ptr<const SumHandover> handover);

  const std::shared_ptr<const SumHandover>& handover() const { return handover_; }

  std::string_view name() const override { return kName; }
  Attributes attributes() const override { return {}; }
  bool same(const Op& other) const override;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  bool mutates(std::size_t input) const override { return input == In::sums; }

 private:
  std::shared_ptr<const SumHandover> handover_;
};

}  // namespace linnet
