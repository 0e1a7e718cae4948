// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend/cuda/vectors.cuh"
#include "ops/reduce/layouts_cuda.h"

namespace linnet::cuda {

/// dx[i] = f(i, output of i)
template <class F, int kWidth, class Index, class T>
__global__ void spread_kernel(F f, T* dx, SpreadLayout s) {
  for (std::int64_t i = first_item(); i < s.items; i += grid_stride()) {
    const auto output = static_cast<Index>(s.outputs.place(static_cast<Index>(i)));
    FloatVector<kWidth> pack;
    for (int w = 0; w < kWidth; ++w) {
      pack[w] =
          f(static_cast<Index>(i * kWidth + w), static_cast<Index>(output + w * s.output_of_next));
    }
    store_floats(dx + i * kWidth, pack);
  }
}

/// Both layouts of one array.
struct Spread {
  SpreadLayout single;
  std::optional<SpreadLayout> packed;

  /// Null for more groups than kernels take.
  static std::optional<Spread> of(const std::vector<ReduceGroup>& groups) {
    const std::optional<SpreadLayout> single = spread_layout(groups, 1);
    if (!single) return std::nullopt;
    return Spread{*single, spread_layout(groups, 4)};
  }

  /// Writes all of dx. F is plain data: `template <class Index> float operator()(Index i, Index
  /// output) const` gives element i, which belongs to `output`.
  template <class F, class T>
  void launch(const Queue& stream, const char* name, const F& f, T* dx) const {
    const bool packs = packed && vector_aligned(dx);
    const SpreadLayout& layout = packs ? *packed : single;
    with_index(single.items, [&](auto index) {
      using Index = decltype(index);
      cuda::launch(stream, name, for_items(layout.items),
                   packs ? spread_kernel<F, 4, Index, T> : spread_kernel<F, 1, Index, T>, f, dx,
                   layout);
    });
  }
};

}  // namespace linnet::cuda
