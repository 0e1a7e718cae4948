// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/layers.h>

#include <string>

#include "config/section.h"

namespace linnet::command {

/// One entry of `layers` in a configuration file, e.g. {type = "conv2d", filters = 16}; the keys
/// are the members of the layer's struct in linnet/layers.h. Throws Error with line and column.
Layer read_layer(const toml::table& table, const std::string& file, const std::string& where);

}  // namespace linnet::command
