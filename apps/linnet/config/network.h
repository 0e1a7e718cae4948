// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/network.h>

#include <vector>

#include "config/layers.h"
#include "config/section.h"
#include "tasks/task.h"

namespace linnet::command {

/// Reads [network]: `input` and `layers`, one after the other; or `inputs`, `paths` and `outputs`,
/// where a path leads from one or more values through layers to a value with a name. Paths of one
/// of the `blocks` share its layers' weights. Where `known` says what the samples
/// are, `input` and `inputs` may be missing. Throws Error with line and column.
Network read_network(Section& section, const LayerReader& layers,
                     const std::vector<TaskInput>& known = {});

}  // namespace linnet::command
