// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "onnx/schema.h"

namespace linnet::onnx {

/// Makes these values the outputs of the graph, and leaves out nodes and inputs that they do not
/// need. Throws DataError for a name that no node gives.
void cut(ModelProto& model, const std::vector<std::string>& outputs);

}  // namespace linnet::onnx
