// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace linnet {

/// Returns the vector instructions of this processor on which results may depend: "avx2 fma
/// avx512f"; "neon" on ARM64.
std::string vector_instructions();

}  // namespace linnet
