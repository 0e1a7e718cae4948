// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <string_view>
#include <vector>

#include "describe/field.h"

// The structs of options, described once (options.cpp): checks, keys of configuration files, flags
// of the command, arguments in Python, settings in checkpoints and the keys of programs follow.
namespace linnet {

inline std::vector<std::string_view> enum_names(Loss /*loss*/) { return loss_names(); }
constexpr std::string_view enum_type(Loss /*loss*/) { return "Loss"; }

template <>
inline constexpr bool kIsDescribed<LossOptions> = true;
template <>
const Description& description_of<LossOptions>();

template <>
inline constexpr bool kIsDescribed<OutputLoss> = true;
template <>
const Description& description_of<OutputLoss>();

template <>
inline constexpr bool kIsDescribed<Augment> = true;
template <>
const Description& description_of<Augment>();

/// Returns all fields of described options as text, by which programs and checkpoints know them.
template <class S>
std::string key_of(const S& options) {
  return to_toml({description_of<S>().write(&options, true)});
}

}  // namespace linnet
