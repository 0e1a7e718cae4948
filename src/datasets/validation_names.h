// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace linnet {

/// Names that a validation set has beside train and test. Without test it is the test set.
inline constexpr std::array<std::string_view, 3> kValidationNames{"val", "valid", "validation"};

}  // namespace linnet
