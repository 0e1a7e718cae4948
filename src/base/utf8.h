// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace linnet {

/// Returns whether `text` is well-formed UTF-8 (Unicode 15, table 3-7), which is all that JSON, and
/// so a model file, can hold.
bool is_utf8(std::string_view text);

/// Returns `text` with every byte that is not part of well-formed UTF-8, and every control
/// character, as \xE9: readable in any terminal.
std::string escaped(std::string_view text);

}  // namespace linnet
