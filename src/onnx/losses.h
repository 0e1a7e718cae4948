// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "onnx/additions.h"
#include "onnx/schema.h"

namespace linnet::onnx {

inline constexpr std::string_view kLikelihoodLoss = "NegativeLogLikelihoodLoss";
inline constexpr std::string_view kSoftmaxLoss = "SoftmaxCrossEntropyLoss";

/// Returns whether a node is one of these.
bool is_loss(const NodeProto& node);
/// Adds the nodes that give its outputs. opset: of the model. Throws DataError naming a node whose
/// operands are not those of its operator, and before opset 13.
void add_loss(const NodeProto& node, std::int64_t opset, Additions& additions);

}  // namespace linnet::onnx
