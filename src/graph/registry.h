// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/op.h"

namespace linnet {

/// Makes operators from their names and attributes: for reading graphs from files. Filled by the
/// generated register_ops().
class OpRegistry {
 public:
  template <class O>
  void add() {
    entries_[std::string(O::kName)] = {&O::read, part_of_networks<O>()};
  }
  /// Throws Error for an unknown name or attributes that don't fit.
  OpPtr read(std::string_view name, const Attributes& attributes) const {
    return find(name).read(attributes);
  }
  /// Does the same for an operator of a file: throws Error also unless it says that networks are
  /// made of it, by `static constexpr bool kInNetworks = true`. Gradients, losses and whatever else
  /// training adds itself have no place there.
  OpPtr read_of_network(std::string_view name, const Attributes& attributes) const {
    const Entry& entry = find(name);
    require(entry.in_networks, "the operator '{}' cannot be part of a network", name);
    return entry.read(attributes);
  }

  /// Returns whether networks may hold the operator; false for an unknown one.
  bool is_of_networks(std::string_view name) const {
    const auto found = entries_.find(name);
    return found != entries_.end() && found->second.in_networks;
  }

  /// Returns the names of the operators that networks may hold.
  std::vector<std::string> names_of_networks() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : entries_) {
      if (entry.in_networks) names.push_back(name);
    }
    return names;
  }

 private:
  struct Entry {
    OpPtr (*read)(const Attributes&);
    bool in_networks;
  };
  template <class O>
  static constexpr bool part_of_networks() {
    if constexpr (requires { O::kInNetworks; }) return O::kInNetworks;
    return false;
  }
  const Entry& find(std::string_view name) const {
    const auto found = entries_.find(name);
    require(found != entries_.end(), "unknown operator '{}'", name);
    return found->second;
  }

  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace linnet
