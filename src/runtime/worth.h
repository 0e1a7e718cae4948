// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "runtime/node_view.h"

namespace linnet {

/// Whether a device gains by a fused operator, which the fusion's kernel there says. Operators of
/// which nothing is said are worth it wherever there is a kernel.
class Worth {
 public:
  using Rule = bool (*)(const NodeView& node);

  /// Passes write the operator where `rule` says so of the node that it would be.
  void wants_if(std::string_view op, Rule rule) { rules_[std::string(op)] = rule; }
  bool wants(const NodeView& node) const {
    const auto found = rules_.find(std::string(node.op.name()));
    return found == rules_.end() || found->second(node);
  }

 private:
  std::map<std::string, Rule> rules_;
};

}  // namespace linnet
