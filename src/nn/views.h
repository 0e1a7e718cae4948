// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/network.h>

#include <optional>
#include <string>
#include <string_view>

#include "nn/definition.h"

namespace linnet {

/// Returns the network of Network::with_views(): its operators once for each view, by the same
/// parameters, after operators that change the first input.
NetworkDefinition with_views(const NetworkDefinition& network, const TestViews& views);

/// Returns the network that with_views() was given, or the same where it has no views.
NetworkDefinition without_views(const NetworkDefinition& network);

/// Returns the views of a network; nothing where it has none.
std::optional<TestViews> views_of(const NetworkDefinition& network);

/// Returns the views of a text such as "flip,shift=1". Throws Error for any other; `where` names
/// the text, such as "--tta".
TestViews parse_views(const std::string& text, std::string_view where);
/// Returns that text.
std::string to_string(const TestViews& views);

}  // namespace linnet
