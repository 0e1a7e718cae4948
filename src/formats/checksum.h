// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace linnet {

/// SHA-256 (FIPS 180-4) in 64 hexadecimal digits, lower case.
std::string sha256(std::string_view bytes);

}  // namespace linnet
