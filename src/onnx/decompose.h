// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/schema.h"

namespace linnet::onnx {

/// The domain of onnxruntime's own operators.
inline constexpr std::string_view kRuntimeDomain = "com.microsoft";

/// Replaces nodes that compute in 8 bits (QLinearConv becomes DequantizeLinear of each operand,
/// Conv and QuantizeLinear), losses and loops of a constant number of iterations. Memory taken is
/// in proportion to the file. Throws DataError naming a node whose operands are not those of its
/// operator.
void decompose(ModelProto& model);

/// Returns the names of the operators that it knows, and what of each is not supported.
std::vector<std::pair<std::string, std::string>> decomposed_operators();

}  // namespace linnet::onnx
