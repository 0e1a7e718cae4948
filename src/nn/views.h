// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/network.h>

#include "nn/definition.h"

namespace linnet {

/// Returns the network of Network::with_views(): its operators once for each view, by the same
/// parameters, after operators that change the first input.
NetworkDefinition with_views(const NetworkDefinition& network, const TestViews& views);

}  // namespace linnet
