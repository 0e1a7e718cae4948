// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>

#include <string_view>

// docs/versions.md says what a version promises. CMake reads the project's version here.

/// States the major version of these headers (Semantic Versioning).
#define LINNET_VERSION_MAJOR 0
/// States the minor version of these headers.
#define LINNET_VERSION_MINOR 1
/// States the patch version of these headers.
#define LINNET_VERSION_PATCH 0

/// States 10000 major + 100 minor + patch: `#if LINNET_VERSION >= 200` tests for 0.2.0 or newer.
#define LINNET_VERSION \
  (LINNET_VERSION_MAJOR * 10000 + LINNET_VERSION_MINOR * 100 + LINNET_VERSION_PATCH)

LINNET_API_BEGIN
namespace linnet {

/// Returns the version of the library that the program runs with, e.g. "0.1.0". Its patch version
/// may differ from that of the headers, its minor version never: the SONAME ensures that.
std::string_view version() noexcept;

}  // namespace linnet
LINNET_API_END
