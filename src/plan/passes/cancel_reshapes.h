// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/passes/passes.h"

namespace linnet {

/// Two reshapes that undo each other fall away, also around operators that treat elements or
/// channels alike, which then compute in the shape before: Conv1d, batch norm, ReLU and MaxPool1d
/// fuse as their like on images.
void cancel_reshapes(Graph& graph, const Supports& supports);

}  // namespace linnet
