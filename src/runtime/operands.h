// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
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

  /// Resolves all operands; external slots keep their addresses. Every buffer must hold at least
  /// plan.bytes of its storage.
  void attach(const Plan& plan, const Memory& memory, std::byte* constants);
  bool attached() const { return attached_; }
  /// Gives external slot `slot` an address; returns whether it had another one.
  bool bind(const Plan& plan, std::size_t slot, const void* address);
  /// Returns the addresses of external slots; null: not bound.
  std::span<const void* const> bound() const { return bound_; }
  /// Throws Error for an input that is bound to no memory.
  void require_bound(const Plan& plan) const;

  const NodeOperands& operator[](std::size_t node) const { return nodes_[node]; }

 private:
  void set_external(const Plan& plan, std::size_t slot);

  std::vector<NodeOperands> nodes_;
  std::vector<const void*> bound_;  ///< by slot
  bool attached_ = false;
  mutable bool all_bound_ = false;  ///< require_bound() need not look again
};

/// For Program::first_not_finite: whether an f32 output of the node that anybody reads holds NaN or
/// an infinity.
bool has_not_finite(const Plan& plan, std::size_t node,
                    const std::function<const float*(std::size_t i)>& fetch);

/// For Program::run_checked: throws InternalError if an f32 output of the node that anybody reads
/// holds a NaN, which is what it was filled with before the node ran. `fetch` gives output i's
/// address in host memory.
void check_outputs(const Plan& plan, std::size_t node,
                   const std::function<const float*(std::size_t i)>& fetch);

}  // namespace linnet
