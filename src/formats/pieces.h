// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace linnet {

/// Gets a content piece by piece, in order; returns whether it wants more.
using TakePiece = std::function<bool(std::string_view piece)>;

inline constexpr std::size_t kPieceBytes = std::size_t{1} << 16;

/// Returns what `give(take)` hands over, as one string of exactly that size: it is given twice, to
/// be counted first. A string that grows would need up to three times as much memory.
template <class Give>
std::string joined(const Give& give) {
  std::size_t bytes = 0;
  give([&](std::string_view piece) {
    bytes += piece.size();
    return true;
  });
  std::string whole;
  whole.reserve(bytes);
  give([&](std::string_view piece) {
    whole += piece;
    return true;
  });
  return whole;
}

}  // namespace linnet
