// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/version.h>

// A macro is expanded before it becomes text only as another macro's argument.
#define LINNET_TEXT_OF(x) #x
#define LINNET_TEXT(x) LINNET_TEXT_OF(x)

namespace linnet {

/// The version that a file was compiled for; version() is the library's that it runs with.
inline constexpr const char* kVersionText = LINNET_TEXT(LINNET_VERSION_MAJOR) "." LINNET_TEXT(
    LINNET_VERSION_MINOR) "." LINNET_TEXT(LINNET_VERSION_PATCH);

}  // namespace linnet
