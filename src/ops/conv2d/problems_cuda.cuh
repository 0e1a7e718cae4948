// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/product.cuh"
#include "ops/conv2d/geometry_cuda.cuh"

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

/// Kernel positions of kParts neighbouring columns (k, l, channel) from `first` on; `channels`: of
/// a group, by_channels divides by them.
template <int kParts>
struct KernelTaps {
  int row[kParts];  ///< dilated; -1: no such tap
  int column[kParts];
  int channel[kParts];

  KernelTaps() = default;
  __device__ KernelTaps(const ConvGeometry& s, const Divider& by_channels, int channels,
                        std::int64_t first) {
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
      const int t = static_cast<int>(first) + i;
      const int pixel = by_channels.quotient(t);
      const int k = s.by_kw.quotient(pixel);
      row[i] = k < s.kh ? k * s.dilation_h : -1;
      column[i] = (pixel - k * s.kw) * s.dilation_w;
      channel[i] = t - pixel * channels;
    }
  }
};

/// The input under a window's taps: rows are output pixels, columns (k, l, c). kTapsAreColumns says
/// which of the two the sum runs over.
template <bool kVector, bool kTapsAreColumns>
struct Patches {
  __device__ static constexpr bool along_k() { return kTapsAreColumns; }
  static constexpr int kParts = kVector ? 1 : 4;
  struct Window {
    const float* image;  ///< the group's first channel of the sample; null: no such pixel
    int top;
    int left;
  };
  using Taps = KernelTaps<kParts>;
  using Line = std::conditional_t<kTapsAreColumns, Window, Taps>;

  const ConvGeometry* s;
  const float* x;  ///< the group's first channel

  __device__ Window window(std::int64_t pixel) const {
    if (pixel >= s->out_total) return {nullptr, 0, 0};
    const PixelGrid::Pixel at = s->out.at(pixel);
    return {x + at.sample * s->in.height * s->in.width * s->c, at.row * s->stride_h - s->pad_top,
            at.column * s->stride_w - s->pad_left};
  }
  __device__ Taps taps(std::int64_t first) const { return {*s, s->by_cg, s->cg, first}; }
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
    const int row = window.top + taps.row[i];
    const int column = window.left + taps.column[i];
    if (window.image == nullptr || taps.row[i] < 0 || !s->inside(row, column)) return nullptr;
    return window.image + static_cast<std::int64_t>(row * s->in.width + column) * s->c +
           taps.channel[i];
  }
  __device__ FloatVector<4> load(const Window& window, const Taps& taps) const {
    return load_found<kVector>([&](int i) { return find(window, taps, i); });
  }
  __device__ FloatVector<4> load(const Taps& taps, const Window& window) const {
    return load(window, taps);
  }
};

/// y (pixels, C_out) = patches (pixels, taps) * w^T (taps, C_out); grid.z: groups.
template <bool kVector>
struct ForwardProblem {
  using A = Patches<kVector, true>;
  using B = MatrixOperand;
  ConvGeometry s;
  const float* x;
  const float* w;
  float* y;
  BiasAndActivation tail;
  bool vector_store;

  __device__ KRange range(int) const { return {0, s.taps}; }
  __device__ A a(int g) const { return {&s, x + g * s.cg}; }
  __device__ B b(int g) const {
    return {
        w + static_cast<std::int64_t>(g) * s.cog * s.taps, s.cog, s.taps, s.taps, true, kVector};
  }
  __device__ void store(int g, std::int64_t m, int n, FloatVector<4> sum) const {
    if (m >= s.out_total || n >= s.cog) return;
    const int o = g * s.cog + n;
    const int count = s.cog - n;
    for (int v = 0; v < 4 && v < count; ++v) sum[v] = tail(sum[v], m, o + v);
    store_some(y + m * s.co + o, count, vector_store, sum);
  }
};

/// dz under the taps that read an input pixel: rows are input pixels, columns (k, l, o).
template <bool kVector>
struct Readers {
  __device__ static constexpr bool along_k() { return true; }
  static constexpr int kParts = kVector ? 1 : 4;
  struct Line {
    const float* image;  ///< null: no such pixel
    int row;             ///< of the padded image
    int column;
  };
  using Column = KernelTaps<kParts>;

  const ConvGeometry* s;
  const float* dz;  ///< the group's first channel

  __device__ Line line(std::int64_t pixel) const {
    if (pixel >= s->in_total) return {nullptr, 0, 0};
    const PixelGrid::Pixel at = s->in.at(pixel);
    return {dz + at.sample * s->out.height * s->out.width * s->co, at.row + s->pad_top,
            at.column + s->pad_left};
  }
  __device__ Column column(std::int64_t first) const { return {*s, s->by_cog, s->cog, first}; }
  __device__ const float* find(const Line& line, const Column& column, int i) const {
    const int down = line.row - column.row[i];
    const int right = line.column - column.column[i];
    if (line.image == nullptr || column.row[i] < 0 || down < 0 || right < 0) return nullptr;
    const int row = s->by_stride_h.quotient(down);
    const int col = s->by_stride_w.quotient(right);
    if (row * s->stride_h != down || col * s->stride_w != right || row >= s->out.height ||
        col >= s->out.width) {
      return nullptr;
    }
    return line.image + static_cast<std::int64_t>(row * s->out.width + col) * s->co +
           column.channel[i];
  }
  __device__ FloatVector<4> load(const Line& line, const Column& column) const {
    return load_found<kVector>([&](int i) { return find(line, column, i); });
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
    const int tap = s->by_cog.quotient(t);
    const int o = t - tap * s->cog;
    return w + static_cast<std::int64_t>(o) * s->taps + static_cast<std::int64_t>(tap) * s->cg;
  }
  __device__ FloatVector<4> load(int c, const float* row) const {
    return load_some(row + c, s->cg - c, kVector);
  }
};

/// dx (pixels, C) = readers (pixels, taps) * turned filters (taps, C); grid.z: groups.
template <bool kVector>
struct GradInputProblem {
  using A = Readers<kVector>;
  using B = TurnedFilters<kVector>;
  ConvGeometry s;
  const float* dz;
  const float* w;
  float* dx;
  bool vector_store;

  __device__ KRange range(int) const { return {0, s.kh * s.kw * s.cog}; }
  __device__ A a(int g) const { return {&s, dz + g * s.cog}; }
  __device__ B b(int g) const { return {&s, w + static_cast<std::int64_t>(g) * s.cog * s.taps}; }
  __device__ void store(int g, std::int64_t m, int n, FloatVector<4> sum) const {
    if (m < s.in_total) store_some(dx + m * s.c + g * s.cg + n, s.cg - n, vector_store, sum);
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
    return {begin, begin + part < s.out_total ? begin + part : s.out_total};
  }
  __device__ A a(int z) const {
    return {dz + z % groups * s.cog, s.out_total, s.cog, s.co, false, kVector};
  }
  __device__ B b(int z) const { return {&s, x + z % groups * s.cg}; }
  __device__ void store(int z, std::int64_t m, int n, FloatVector<4> sum) const {
    if (m >= s.cog) return;
    const std::int64_t filter = static_cast<std::int64_t>(z / groups) * s.co + z % groups * s.cog;
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
