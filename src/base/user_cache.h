// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace linnet {

/// Returns this user's folder for what can be made again, "linnet" included; empty where there is
/// none.
std::filesystem::path user_cache();

}  // namespace linnet
