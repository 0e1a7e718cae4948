// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/product.cuh"
#include "ops/activation/epilogue_cuda.cuh"
#include "ops/conv2d/geometry_cuda.h"

// A convolution and its gradients as matrix products (product.cuh). kVector: channels of a
// group come in fours that lie at multiples of 16 bytes, so they are read at once.

namespace linnet::cuda {

/// Four elements of which find(i) says where they lie, null for a zero; kVector: beside the first.
template <bool kVector, class Find>
__device__ FloatVector<4> load_found(Find find) {
  FloatVector<4> four{};
  if constexpr (kVector) {
    if (const float* from = find(0); from != nullptr) four = load_vector<4>(from);
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (const float* from = find(i); from != nullptr) four[i] = *from;
    }
  }
  return four;
}

/// Kernel positions of kParts neighbouring columns (k, l, channel) from `first` on.
template <int kParts>
struct KernelTaps {
  int row[kParts];  ///< dilated
  int column[kParts];
  int channel[kParts];

  KernelTaps() = default;
  __device__ KernelTaps(const ConvGeometry& s, const ConvImages& images, std::int64_t first) {
    constexpr int kNoSuchTap = 1 << 30;  // which no image has a pixel for
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
      const int t = static_cast<int>(first) + i;
      const int pixel = images.by_group.quotient(t);
      const int k = s.by_kw.quotient(pixel);
      row[i] = k < s.kh ? k * s.rows.dilation : kNoSuchTap;
      column[i] = (pixel - k * s.kw) * s.columns.dilation;
      channel[i] = t - pixel * images.of_group;
    }
  }
};

/// What a window's taps read: rows are output pixels, columns (k, l, c) of the input. kBackward:
/// rows are input pixels, columns (k, l, o) of the outputs' gradient. kTapsAreColumns says which of
/// the two the sum runs over.
template <bool kVector, bool kTapsAreColumns, bool kBackward = false>
struct Patches {
  __device__ static constexpr bool along_k() { return kTapsAreColumns; }
  static constexpr int kParts = kVector ? 1 : 4;
  struct Window {
    const float* image;  ///< the group's first channel of the sample; null: no such pixel
    int row;             ///< where its taps begin
    int column;
  };
  using Taps = KernelTaps<kParts>;
  using Line = std::conditional_t<kTapsAreColumns, Window, Taps>;

  const ConvGeometry* s;
  const float* x;  ///< the group's first channel

  __device__ const ConvImages& images() const { return s->source<kBackward>(); }
  __device__ Window window(std::int64_t pixel) const {
    const ConvImages& target = s->target<kBackward>();
    if (pixel >= target.total) return {nullptr, 0, 0};
    const ConvImages::Pixel at = target.at(pixel);
    return {x + images().image(at.sample), s->rows.begin<kBackward>(at.row),
            s->columns.begin<kBackward>(at.column)};
  }
  __device__ Taps taps(std::int64_t first) const { return {*s, images(), first}; }
  __device__ auto line(std::int64_t i) const {
    if constexpr (kTapsAreColumns) {
      return window(i);
    } else {
      return taps(i);
    }
  }
  __device__ auto column(std::int64_t k) const {
    if constexpr (kTapsAreColumns) {
      return taps(k);
    } else {
      return window(k);
    }
  }
  __device__ const float* find(const Window& window, const Taps& taps, int i) const {
    const int row = s->rows.read<kBackward>(window.row, taps.row[i]);
    const int column = s->columns.read<kBackward>(window.column, taps.column[i]);
    if (window.image == nullptr || row < 0 || column < 0) return nullptr;
    return window.image + images().place(row, column) + taps.channel[i];
  }
  __device__ FloatVector<4> load(const Window& window, const Taps& taps) const {
    return load_found<kVector>([&](int i) { return find(window, taps, i); });
  }
  __device__ FloatVector<4> load(const Taps& taps, const Window& window) const {
    return load(window, taps);
  }
};

/// w with rows (k, l, o) and columns c.
template <bool kVector>
struct TurnedFilters {
  __device__ static constexpr bool along_k() { return false; }
  using Line = int;

  const ConvGeometry* s;
  const float* w;  ///< the group's first filter

  __device__ int line(std::int64_t c) const { return static_cast<int>(c); }
  __device__ const float* column(std::int64_t k) const {
    const int t = static_cast<int>(k);
    const int tap = s->out.by_group.quotient(t);
    const int o = t - tap * s->out.of_group;
    return w + static_cast<std::int64_t>(o) * s->taps +
           static_cast<std::int64_t>(tap) * s->in.of_group;
  }
  __device__ FloatVector<4> load(int c, const float* row) const {
    return load_some(row + c, s->in.of_group - c, kVector);
  }
};

/// y (pixels, C_out) = f(patches (pixels, taps) * w^T (taps, C_out)) or, kBackward, dx (pixels, C)
/// = patches of dz * turned filters; grid.z: groups.
template <bool kVector, bool kBackward>
struct ImagesProblem {
  using A = Patches<kVector, true, kBackward>;
  using B = std::conditional_t<kBackward, TurnedFilters<kVector>, MatrixOperand>;
  ConvGeometry s;
  const float* x;
  const float* w;
  float* y;
  BiasAndActivation tail;  ///< forward
  bool vector_store;

  __device__ const ConvImages& source() const { return s.source<kBackward>(); }
  __device__ const ConvImages& target() const { return s.target<kBackward>(); }
  __device__ KRange range(int) const { return {0, s.kh * s.kw * source().of_group}; }
  __device__ A a(int g) const { return {&s, x + g * source().of_group}; }
  __device__ B b(int g) const {
    const float* filters = w + static_cast<std::int64_t>(g) * s.out.of_group * s.taps;
    if constexpr (kBackward) {
      return {&s, filters};
    } else {
      return {filters, s.out.of_group, s.taps, s.taps, true, kVector};
    }
  }
  __device__ void store(int g, std::int64_t m, int n, FloatVector<4> sum) const {
    const int count = target().of_group - n;
    if (m >= target().total || count <= 0) return;
    const int channel = g * target().of_group + n;
    if constexpr (!kBackward) {
      for (int v = 0; v < 4 && v < count; ++v) sum[v] = tail(sum[v], m, channel + v);
    }
    store_some(y + m * target().channels + channel, count, vector_store, sum);
  }
};

/// dw (C_out, taps) = dz^T (C_out, pixels) * patches (pixels, taps), the pixels in `splits` parts
/// of `part` each: split p's sums go to dw + p * C_out taps. grid.z: groups, then splits.
template <bool kVector>
struct GradWeightProblem {
  using A = MatrixOperand;
  using B = Patches<kVector, false>;
  ConvGeometry s;
  const float* x;
  const float* dz;
  float* dw;
  int groups;
  std::int64_t part;
  bool vector_store;

  __device__ KRange range(int z) const {
    const std::int64_t begin = z / groups * part;
    return {begin, begin + part < s.out.total ? begin + part : s.out.total};
  }
  __device__ A a(int z) const {
    return {dz + z % groups * s.out.of_group,
            s.out.total,
            s.out.of_group,
            s.out.channels,
            false,
            kVector};
  }
  __device__ B b(int z) const { return {&s, x + z % groups * s.in.of_group}; }
  __device__ void store(int z, std::int64_t m, int n, FloatVector<4> sum) const {
    if (m >= s.out.of_group) return;
    const std::int64_t filter =
        static_cast<std::int64_t>(z / groups) * s.out.channels + z % groups * s.out.of_group;
    store_some(dw + (filter + m) * s.taps + n, s.taps - n, vector_store, sum);
  }
};

/// grid.x: tiles of m; grid.y: tiles of n; grid.z: whatever the problem takes it for.
template <class Problem, class T>
__global__ void conv_product(Problem problem) {
  const int z = static_cast<int>(blockIdx.z);
  const std::int64_t m0 = static_cast<std::int64_t>(blockIdx.x) * T::kRows;
  const int n0 = static_cast<int>(blockIdx.y) * T::kColumns;
  float sums[T::kSide][T::kSide] = {};
  sum_product<T>(problem.a(z), problem.b(z), m0, n0, problem.range(z), sums);
#pragma unroll
  for (int i = 0; i < T::kSide; ++i) {
#pragma unroll
    for (int j = 0; j < T::kSide; j += 4) {
      problem.store(z, m0 + T::row(i), n0 + T::column(j), load_vector<4>(&sums[i][j], false));
    }
  }
}

}  // namespace linnet::cuda
