// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "nn/definition.h"

namespace linnet {

/// Returns the layer that Network::with_head() replaces: that of the last operator that reads a
/// weight, or the operator's name where the weight is another layer's; "": none reads any.
std::string last_weighted_layer(const NetworkDefinition& network);

/// Returns, by parameter, whether Network::with_head() leaves it out with `layer`: those of the
/// layer, and what it alone reads, but none that other layers read too.
std::vector<bool> replaced_parameters(const NetworkDefinition& network, const std::string& layer);

}  // namespace linnet
