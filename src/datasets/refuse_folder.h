// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace linnet {

/// Throws DataError for a folder in which no data set was found: what it holds instead, and what to
/// do; of one that holds nothing known, what was expected.
[[noreturn]] void refuse_folder(const std::filesystem::path& path);

}  // namespace linnet
