// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "describe/field.h"

namespace linnet {

/// Returns the options that have flags, called as these are: "date_order" of --date-order.
Description by_flags(const Description& options);
/// Does the same for a struct of options.
template <class O>
const Description& flags_of() {
  static const Description kAll = by_flags(description_of<O>());
  return kAll;
}
/// Returns the flags' names.
std::vector<std::string> flag_names(const Description& options);

/// Throws Error "--a and --b are for PURPOSE; INPUT: leave them out", unless there are no names.
void refuse_flags(std::vector<std::string> names, std::string_view purpose, std::string_view input);

}  // namespace linnet
