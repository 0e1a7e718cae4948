// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace linnet::cuda {

/// What cuBLASLt and cuDNN want their workspaces to begin at a multiple of; arenas give less.
inline constexpr std::size_t kLibraryAlignment = 256;

/// Returns bytes up to the next multiple of it: what lies after them in a workspace begins so, too.
constexpr std::size_t library_padded(std::size_t bytes) {
  return (bytes + kLibraryAlignment - 1) / kLibraryAlignment * kLibraryAlignment;
}

/// Returns bytes to plan for a workspace of `bytes`, so that library_aligned() finds room: 0 stays
/// 0.
constexpr std::size_t library_workspace(std::size_t bytes) {
  return bytes > 0 ? bytes + kLibraryAlignment : 0;
}

/// Returns the first address from `workspace` on that begins so: less than kLibraryAlignment after
/// it.
inline std::byte* library_aligned(std::byte* workspace) {
  const std::size_t above = reinterpret_cast<std::uintptr_t>(workspace) % kLibraryAlignment;
  return workspace + (above == 0 ? 0 : kLibraryAlignment - above);
}

}  // namespace linnet::cuda
