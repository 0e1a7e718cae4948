// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/convert.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {

/// Names of a layer in a family of networks. Names are patterns: {s} stands for a
/// number, and {s+1} for the number that is 1 larger. Alternatives are separated by |: all of them
/// are read, the first is written. Empty: the layer has no name there.
struct NameRule {
  std::string_view ours;
  std::string_view torchvision;
  std::string_view timm;
  std::string_view keras;
  /// Pattern of our batch norm that takes the bias which Keras's convolution has and ours lacks.
  std::string_view bias_into = {};
  bool conv_in_timm = false;  ///< whether our dense layer is a convolution there

  std::string_view names_of(WeightNames names) const;
};

/// Networks whose layers are named by one set of rules.
struct Family {
  std::string_view name;
  std::span<const NameRule> rules;
  std::string_view head;  ///< our last dense layer
};

/// Returns "resnet", "densenet", "vgg", "cifar-resnet" or "text".
const Family& family_named(std::string_view name);
std::span<const Family> families();

/// Returns `result` with the numbers that stand in `name` in the places of `pattern`; none: the
/// name does not match.
std::optional<std::string> renamed(std::string_view name, std::string_view pattern,
                                   std::string_view result);

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
