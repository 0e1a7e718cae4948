// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies of arrays and of parts of rows, compiled once for all operators: T is float, Bf16 or F16.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/cuda/elements.h"
#include "backend/cuda/queue.h"

namespace linnet::cuda {

/// The first `columns` elements of rows that lie some stride apart, to rows of another stride.
template <class T>
struct RowsCopy {
  const T* from = nullptr;
  T* to = nullptr;
  std::int64_t from_stride = 0;
  std::int64_t to_stride = 0;
  std::int64_t columns = 0;
};

/// Makes all copies of `rows` rows each, or adds them to what is there, in one launch for 32 of
/// them.
template <class T>
void copy_rows(const Queue& stream, const char* name, std::int64_t rows,
               const std::vector<RowsCopy<T>>& copies, bool adds = false);

/// Copies an array, to an address that may have any alignment.
void copy_bytes(const Queue& stream, const char* name, std::size_t bytes, const std::byte* from,
                std::byte* to);

/// Rows of `size` elements, of which [low, high) come from another array.
struct PaddedRows {
  std::int64_t size = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// Writes `count` rows, with `value` where nothing comes.
template <class T>
void pad_rows(const Queue& stream, const char* name, std::int64_t count, const PaddedRows& rows,
              T value, const T* from, T* to);

}  // namespace linnet::cuda
