// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace linnet {

/// Returns the vector instructions of this processor on which results may depend: "avx2 fma
/// avx512f"; "neon" on ARM64.
std::string vector_instructions();

/// Throws Error on a processor that lacks the oldest vector instructions that kernels are compiled
/// for: SSSE3 on x86-64, which Intel's have since 2006 and AMD's since 2011.
void check_vector_instructions();

}  // namespace linnet
