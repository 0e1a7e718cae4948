// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "onnx/schema.h"

namespace linnet::onnx {

/// Reads the elements of a tensor that lie in another file, at or below `folder`. Throws DataError,
/// before anything is read, for a path that is absolute, contains "..", or goes through a symbolic
/// link, for what is not a regular file, and where offset and length do not lie in the file or do
/// not fit the dims.
void load_external(TensorProto& tensor, const std::filesystem::path& folder);

}  // namespace linnet::onnx
