// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace linnet {

/// What messages call builds that lack something.
#ifdef _WIN32
inline constexpr const char* kBuildName = "Windows";
#else
inline constexpr const char* kBuildName = "WebAssembly";
#endif

}  // namespace linnet
