// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "runtime/backend.h"

namespace linnet {

/// The addresses of every node's operands, for a program that runs a plan.
class Operands {
 public:
  struct NodeOperands {
    std::vector<void*> inputs;
    std::vector<void*> outputs;
    std::byte* workspace = nullptr;
  };

  /// Resolves all but the external slots. Every buffer must hold at least plan.bytes of its
  /// storage.
  void attach(const Plan& plan, const Memory& memory, std::byte* constants);
  bool attached() const { return attached_; }
  /// Gives external slot `slot` an address.
  void bind(const Plan& plan, std::size_t slot, const void* address);
  /// Throws Error for an input that is bound to no memory.
  void require_bound(const Plan& plan) const;

  const NodeOperands& operator[](std::size_t node) const { return nodes_[node]; }

 private:
  std::vector<NodeOperands> nodes_;
  bool attached_ = false;
};

/// For Program::run_checked: throws InternalError if an element of the node's output i is NaN,
/// which is what it was filled with before the node ran.
void require_written(const Node& node, std::size_t output, const ValueType& type,
                     std::span<const float> data);

}  // namespace linnet
