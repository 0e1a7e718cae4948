// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace linnet {

/// Returns how a file that only another program reads becomes one that read_weights() or
/// import_onnx() reads, judged by its ending: "convert it in Python by ...". Empty for other files.
std::string_view way_from_other_format(const std::filesystem::path& path);

}  // namespace linnet
