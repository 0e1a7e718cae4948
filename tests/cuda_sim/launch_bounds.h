// SPDX-License-Identifier: Apache-2.0
#pragma once

// __launch_bounds__ for a plain C++ compiler (with Clang of constants alone). It must
// be found again by a kernel's address, and the one number that an attribute leaves there is
// how many no-ops come before its code: a block's warps at most and two, as padding may be one too.
#if defined(__x86_64__) || defined(__aarch64__)
#define LINNET_SIM_NOPS(threads) (((threads) + 31) / 32 + 2)
#define __launch_bounds__(threads, ...) \
  __attribute__((patchable_function_entry(LINNET_SIM_NOPS(threads), LINNET_SIM_NOPS(threads))))
#else
#define __launch_bounds__(...)
#endif

namespace linnet::cuda::sim {

/// Threads of a block where a kernel declares none: what 255 registers a thread leave room for.
inline constexpr unsigned kUndeclaredThreads = 256;

/// Returns the threads of a block that `kernel` was declared with, rounded up to whole warps;
/// kUndeclaredThreads for one without __launch_bounds__.
unsigned launch_bounds(const void* kernel);

}  // namespace linnet::cuda::sim
