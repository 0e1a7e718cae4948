// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/align.h"

namespace linnet::cpu {

/// Memory handed out piece by piece, each of whole cache lines; without a base it only counts.
class Pieces {
 public:
  explicit Pieces(void* base = nullptr) : base_(static_cast<std::byte*>(base)) {}
  template <class T = float>
  T* take(std::int64_t count) {
    std::byte* piece = base_ == nullptr ? nullptr : base_ + taken_;
    taken_ += align_up(sizeof(T) * static_cast<std::size_t>(count));
    return reinterpret_cast<T*>(piece);
  }
  std::size_t bytes() const { return taken_; }

 private:
  std::byte* base_;
  std::size_t taken_ = 0;
};

}  // namespace linnet::cpu
