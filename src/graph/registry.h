// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "graph/op.h"

namespace linnet {

/// Makes operators from their names and attributes: for reading graphs from files. Filled by the
/// generated register_ops().
class OpRegistry {
 public:
  template <class O>
  void add() {
    readers_[std::string(O::kName)] = &O::read;
  }
  /// Throws Error for an unknown name or attributes that don't fit.
  OpPtr read(std::string_view name, const Attributes& attributes) const {
    const auto found = readers_.find(std::string(name));
    require(found != readers_.end(), "unknown operator '{}'", name);
    return found->second(attributes);
  }

 private:
  std::map<std::string, OpPtr (*)(const Attributes&)> readers_;
};

}  // namespace linnet
