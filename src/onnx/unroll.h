// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "onnx/additions.h"
#include "onnx/schema.h"

namespace linnet::onnx {

/// The most iterations of a loop.
inline constexpr std::int64_t kMostIterations = 4096;

/// Returns whether a node is a Loop.
bool is_loop(const NodeProto& node);
/// Unrolls loops with a constant number of iterations. Adds each iteration's condition to
/// ModelProto::conditions; the importer checks that it is true.
void unroll(ModelProto& model, Additions& additions);

}  // namespace linnet::onnx
