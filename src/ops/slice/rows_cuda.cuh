// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backend/cuda/vectors.cuh"

namespace linnet::cuda {

/// The first `columns` elements of rows that lie some stride apart, to rows of another stride.
template <class T>
struct RowsCopy {
  const T* from = nullptr;
  T* to = nullptr;
  std::int64_t from_stride = 0;
  std::int64_t to_stride = 0;
  std::int64_t columns = 0;

  bool takes_packs() const {
    return (from_stride | to_stride | columns) % 4 == 0 && vector_aligned(from, to);
  }
};

inline constexpr std::size_t kMaxCopies = 32;  // of one launch: they are its parameters

template <class T>
struct RowsCopies {
  RowsCopy<T> copy[kMaxCopies];
};

/// blockIdx.y is the copy, threads of x go over its elements. kAdds: to what is there.
template <int kWidth, bool kAdds, class Index, class T>
__global__ void copy_rows_kernel(RowsCopies<T> copies, std::int64_t rows) {
  const RowsCopy<T> copy = copies.copy[blockIdx.y];
  const Index columns = static_cast<Index>(copy.columns / kWidth);
  for (std::int64_t i = first_item(); i < rows * columns; i += grid_stride()) {
    const Index row = static_cast<Index>(i) / columns;
    const std::int64_t column = (static_cast<Index>(i) - row * columns) * kWidth;
    T* to = copy.to + row * copy.to_stride + column;
    const T* from = copy.from + row * copy.from_stride + column;
    if constexpr (kAdds) {
      const auto part = load_floats<kWidth>(from);
      auto sum = load_floats<kWidth>(to);
      for (int w = 0; w < kWidth; ++w) sum[w] += part[w];
      store_floats(to, sum);
    } else {
      store_vector(to, load_vector<kWidth>(from));
    }
  }
}

/// Makes all copies of `rows` rows each, or adds them to what is there, in one launch for
/// kMaxCopies of them.
template <class T, bool kAdds = false>
void copy_rows(const Queue& stream, const char* name, std::int64_t rows,
               const std::vector<RowsCopy<T>>& copies) {
  for (std::size_t first = 0; first < copies.size(); first += kMaxCopies) {
    RowsCopies<T> some{};
    const std::size_t count = std::min(kMaxCopies, copies.size() - first);
    std::int64_t items = 0;
    bool packs = true;
    for (std::size_t i = 0; i < count; ++i) {
      some.copy[i] = copies[first + i];
      items = std::max(items, rows * some.copy[i].columns);
      packs = packs && some.copy[i].takes_packs();
    }
    LaunchShape shape = for_items(packs ? items / 4 : items);
    shape.grid.y = static_cast<unsigned>(count);
    with_index(items, [&](auto index) {
      using Index = decltype(index);
      const auto kernel =
          packs ? copy_rows_kernel<4, kAdds, Index, T> : copy_rows_kernel<1, kAdds, Index, T>;
      launch(stream, name, shape, kernel, some, rows);
    });
  }
}

/// Rows of `size` elements, of which [low, high) come from another array.
struct PaddedRows {
  std::int64_t size = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
};

template <int kWidth, class Index, class T>
__global__ void pad_rows_kernel(const T* from, T value, PaddedRows rows, std::int64_t items,
                                T* to) {
  const Index size = static_cast<Index>(rows.size / kWidth);
  for (std::int64_t i = first_item(); i < items; i += grid_stride()) {
    const Index row = static_cast<Index>(i) / size;
    const std::int64_t column = (static_cast<Index>(i) - row * size) * kWidth;
    Vector<T, kWidth> pack;
    for (int w = 0; w < kWidth; ++w) pack[w] = value;
    if (column >= rows.low && column < rows.high) {
      pack = load_vector<kWidth>(from + row * (rows.high - rows.low) + column - rows.low);
    }
    store_vector(to + i * kWidth, pack);
  }
}

/// Writes `count` rows, with `value` where nothing comes.
template <class T>
void pad_rows(const Queue& stream, const char* name, std::int64_t count, const PaddedRows& rows,
              T value, const T* from, T* to) {
  const bool packs = (rows.size | rows.low | rows.high) % 4 == 0 && vector_aligned(from, to);
  const std::int64_t items = count * rows.size / (packs ? 4 : 1);
  with_index(items, [&](auto index) {
    using Index = decltype(index);
    launch(stream, name, for_items(items),
           packs ? pad_rows_kernel<4, Index, T> : pad_rows_kernel<1, Index, T>, from, value, rows,
           items, to);
  });
}

}  // namespace linnet::cuda
