// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace linnet {

/// Returns an argument as a shell reads it: in quotes where it needs them.
std::string shell_word(const std::string& argument);

}  // namespace linnet
