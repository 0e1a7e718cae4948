// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/network.h>
#include <linnet/table_transform.h>

#include "config/layers.h"
#include "config/section.h"

namespace linnet::command {

/// Reads [network]: `input` and `layers`, one after the other; or `inputs`, `paths` and `outputs`,
/// where a path leads from one or more values through layers to a value with a name. Paths of one
/// of the `blocks` share its layers' weights. With a table's transform `input` and `inputs` may be
/// missing, since they follow from it. Throws Error with line and column.
Network read_network(Section& section, const LayerReader& layers,
                     const TableTransform* table = nullptr);

}  // namespace linnet::command
