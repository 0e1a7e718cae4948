// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/convert.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {

/// Names of a layer in a family of networks. Names are patterns: {s} stands for a
/// number, {s+1} for the number that is 1 larger, and {2s+1} for twice the number and 1. A capital,
/// {S}, stands for a number from 1 on, and {f} for the number that block {b} of stage {S} has among
/// all blocks (Family::stages). Alternatives are separated by |: all of them are read, the first is
/// written. "." is the network itself, which may have weights. Empty: the layer has no name there.
struct NameRule {
  std::string_view ours;
  std::string_view torchvision;
  std::string_view timm;
  std::string_view keras;
  /// Pattern of our batch norm that takes the bias which Keras's convolution has and ours lacks.
  std::string_view bias_into = {};
  bool conv_in_timm = false;         ///< whether our dense layer is a convolution there
  bool conv_in_torchvision = false;  ///< the same of torchvision

  std::string_view names_of(WeightNames names) const;
};

/// Networks whose layers are named by one set of rules.
struct Family {
  std::string_view name;
  std::span<const NameRule> rules;
  std::string_view head;  ///< our last dense layer
  /// A layer that tells the family from others whose names fit its rules; empty: none.
  std::string_view mark = {};
  std::span<const std::uint8_t> stages = {};  ///< what {f} is of the first blocks of stages 1, ...
};

/// Returns the family of KnownNetwork::family.
const Family& family_named(std::string_view name);
std::span<const Family> families();

/// Returns `result` with the numbers that stand in `name` in the places of `pattern`; none: the
/// name does not match. `stages`: Family::stages.
std::optional<std::string> renamed(std::string_view name, std::string_view pattern,
                                   std::string_view result,
                                   std::span<const std::uint8_t> stages = {});

/// Returns the name of a tensor: that of its layer, unless it is empty, `separator`, and the role.
std::string tensor_name(std::string_view layer, std::string_view separator, std::string_view role);

/// Returns what our layer may be for a layer that `names` calls so, by each rule that knows it.
std::vector<std::string> our_names(const Family& family, WeightNames names, std::string_view layer);

/// A rule that knows our layer, and its name there.
struct TheirName {
  const NameRule* rule;
  std::string name;
};
/// Returns the first rule that has a name for our layer; none: no rule has.
std::optional<TheirName> their_name(const Family& family, WeightNames names,
                                    std::string_view layer);

}  // namespace linnet
