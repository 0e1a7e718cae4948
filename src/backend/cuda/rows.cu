// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/rows.h"

#include <algorithm>

#include "backend/cuda/element_wise.cuh"

namespace linnet::cuda {

constexpr std::size_t kMaxCopies = 32;  // of one launch: they are its parameters

template <class T>
struct RowsCopies {
  RowsCopy<T> copy[kMaxCopies];
};

namespace {

template <class T>
bool takes_packs(const RowsCopy<T>& copy) {
  return (copy.from_stride | copy.to_stride | copy.columns) % 4 == 0 &&
         vector_aligned(copy.from, copy.to);
}

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

}  // namespace

template <class T>
void copy_rows(const Queue& stream, const char* name, std::int64_t rows,
               const std::vector<RowsCopy<T>>& copies, bool adds) {
  for (std::size_t first = 0; first < copies.size(); first += kMaxCopies) {
    RowsCopies<T> some{};
    const std::size_t count = std::min(kMaxCopies, copies.size() - first);
    std::int64_t items = 0;
    bool packs = true;
    for (std::size_t i = 0; i < count; ++i) {
      some.copy[i] = copies[first + i];
      items = std::max(items, rows * some.copy[i].columns);
      packs = packs && takes_packs(some.copy[i]);
    }
    LaunchShape shape = for_items(packs ? items / 4 : items);
    shape.grid.y = static_cast<unsigned>(count);
    with_index(items, [&](auto index) {
      using Index = decltype(index);
      const auto copy =
          packs ? copy_rows_kernel<4, false, Index, T> : copy_rows_kernel<1, false, Index, T>;
      const auto add =
          packs ? copy_rows_kernel<4, true, Index, T> : copy_rows_kernel<1, true, Index, T>;
      launch(stream, name, shape, adds ? add : copy, some, rows);
    });
  }
}

void copy_bytes(const Queue& stream, const char* name, std::size_t bytes, const std::byte* from,
                std::byte* to) {
  const auto count = static_cast<std::int64_t>(bytes);
  const std::int64_t vectors = vector_aligned(from, to) ? count / 16 : 0;
  const std::int64_t left = count - 16 * vectors;
  const auto copy = [=] __device__(std::int64_t i) {
    if (i < vectors) reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
    if (i < left) to[16 * vectors + i] = from[16 * vectors + i];
  };
  for_each_item(stream, name, std::max(vectors, left), copy);
}

template <class T>
void pad_rows(const Queue& stream, const char* name, std::int64_t count, const PaddedRows& rows,
              T value, const T* from, T* to) {
  const bool packs = (rows.size | rows.low | rows.high) % 4 == 0 && vector_aligned(from, to);
  const std::int64_t elements = count * rows.size;
  const std::int64_t items = elements / (packs ? 4 : 1);
  with_index(elements, [&](auto index) {
    using Index = decltype(index);
    launch(stream, name, for_items(items),
           packs ? pad_rows_kernel<4, Index, T> : pad_rows_kernel<1, Index, T>, from, value, rows,
           items, to);
  });
}

template void copy_rows(const Queue&, const char*, std::int64_t,
                        const std::vector<RowsCopy<float>>&, bool);
template void copy_rows(const Queue&, const char*, std::int64_t, const std::vector<RowsCopy<Bf16>>&,
                        bool);
template void copy_rows(const Queue&, const char*, std::int64_t, const std::vector<RowsCopy<F16>>&,
                        bool);
template void pad_rows(const Queue&, const char*, std::int64_t, const PaddedRows&, float,
                       const float*, float*);
template void pad_rows(const Queue&, const char*, std::int64_t, const PaddedRows&, Bf16,
                       const Bf16*, Bf16*);
template void pad_rows(const Queue&, const char*, std::int64_t, const PaddedRows&, F16, const F16*,
                       F16*);

}  // namespace linnet::cuda
