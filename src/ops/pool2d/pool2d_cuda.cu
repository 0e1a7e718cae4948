// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <type_traits>

#include "backend/cuda/image_place.h"
#include "backend/cuda/kernel.h"
#include "backend/cuda/vectors.cuh"
#include "ops/pool2d/dims_cuda.h"
#include "ops/pool2d/pool2d.h"
#include "ops/pool2d/winner.h"

// Winner: the type of winners of a maximum; void: the pooling is a mean.

namespace linnet::cuda {
namespace {

/// Calls visit(pack of x, position) for the pixels of output `at`'s window inside the image, in
/// order. kSize is the window's dimension where the compiler knows it: all loads go out at once.
template <int kSize, int kWidth, class Int, class T, class Visit>
__device__ inline void for_window(const T* x, const PoolDims<Int>& s, const ImagePlace<Int>& at,
                                  Visit visit) {
  const Int top = at.row * s.stride_h - s.pad_top;
  const Int left = at.column * s.stride_w - s.pad_left;
  const auto pixel = [&](Int row, Int column) {
    const std::int64_t line = static_cast<std::int64_t>(at.n) * s.h + row;
    return load_floats<kWidth>(x + ((line * s.w + column) * s.c + at.c) * kWidth);
  };
  if constexpr (kSize > 0) {
    for (int k = 0; k < kSize; ++k) {
      for (int l = 0; l < kSize; ++l) {
        if (top + k < 0 || top + k >= s.h || left + l < 0 || left + l >= s.w) continue;
        visit(pixel(top + k, left + l), k * kSize + l);
      }
    }
  } else {
    const WindowOf<Int> rows = s.rows_of(at.row);
    const WindowOf<Int> columns = s.columns_of(at.column);
    for (Int k = 0; k < rows.size; ++k) {
      for (Int l = 0; l < columns.size; ++l) {
        visit(pixel(rows.begin + k, columns.begin + l),
              static_cast<int>((rows.skip + k) * s.size_w + columns.skip + l));
      }
    }
  }
}

/// `winner` is null where nothing reads it; `factor`: of a mean.
template <class T, class Winner, int kSize, int kWidth, class Int>
__global__ void pool_kernel(const T* x, T* y, [[maybe_unused]] Winner* winner,
                            [[maybe_unused]] float factor, PoolDims<Int> s) {
  for (std::int64_t i = first_item(); i < s.items; i += grid_stride()) {
    const ImagePlace<Int> at = image_place(static_cast<Int>(i), s.oh, s.ow, s.c);
    if constexpr (std::is_void_v<Winner>) {
      FloatVector<kWidth> sum{};
      for_window<kSize, kWidth>(x, s, at, [&](const FloatVector<kWidth>& pixel, int) {
        for (int c = 0; c < kWidth; ++c) sum[c] += pixel[c];
      });
      for (int c = 0; c < kWidth; ++c) sum[c] *= factor;
      store_floats(y + i * kWidth, sum);
    } else {
      const auto first =
          static_cast<int>(s.rows_of(at.row).skip * s.size_w + s.columns_of(at.column).skip);
      FloatVector<kWidth> best;
      int position[kWidth];
      for (int c = 0; c < kWidth; ++c) {
        best[c] = -std::numeric_limits<float>::infinity();
        position[c] = first;
      }
      for_window<kSize, kWidth>(x, s, at, [&](const FloatVector<kWidth>& pixel, int here) {
        for (int c = 0; c < kWidth; ++c) {
          const bool better = wins(pixel[c], best[c]);
          best[c] = better ? pixel[c] : best[c];
          position[c] = better ? here : position[c];
        }
      });
      store_floats(y + i * kWidth, best);
      if (winner == nullptr) continue;
      Vector<Winner, kWidth> winners;
      for (int c = 0; c < kWidth; ++c) winners[c] = static_cast<Winner>(position[c]);
      store_vector(winner + i * kWidth, winners);
    }
  }
}

/// Calls visit(element of dy, position of the pixel in that window) for all windows over a pixel.
template <int kWidth, class Int, class Visit>
__device__ inline void for_windows_over(const PoolDims<Int>& s, const ImagePlace<Int>& at,
                                        Visit visit) {
  const WindowRange<Int> rows = s.over_row(at.row);
  const WindowRange<Int> columns = s.over_column(at.column);
  for (Int i = rows.begin; i < rows.end; ++i) {
    const Int k = at.row + s.pad_top - i * s.stride_h;
    const std::int64_t line = static_cast<std::int64_t>(at.n) * s.oh + i;
    for (Int j = columns.begin; j < columns.end; ++j) {
      const Int l = at.column + s.pad_left - j * s.stride_w;
      visit(((line * s.ow + j) * s.c + at.c) * kWidth, static_cast<int>(k * s.size_w + l));
    }
  }
}

/// Every pixel gathers from the windows over it, in order: no two threads write one
/// element.
template <class T, class Winner, int kWidth, class Int>
__global__ void grad_kernel(const T* dy, [[maybe_unused]] const Winner* winner, T* dx,
                            [[maybe_unused]] float factor, PoolDims<Int> s) {
  for (std::int64_t i = first_item(); i < s.items; i += grid_stride()) {
    const ImagePlace<Int> at = image_place(static_cast<Int>(i), s.h, s.w, s.c);
    FloatVector<kWidth> sum{};
    for_windows_over<kWidth>(s, at, [&](std::int64_t window, [[maybe_unused]] int position) {
      const FloatVector<kWidth> part = load_floats<kWidth>(dy + window);
      if constexpr (std::is_void_v<Winner>) {
        for (int c = 0; c < kWidth; ++c) sum[c] += factor * part[c];
      } else {
        const Vector<Winner, kWidth> winners = load_vector<kWidth>(winner + window);
        for (int c = 0; c < kWidth; ++c) {
          sum[c] += static_cast<int>(winners[c]) == position ? part[c] : 0.0F;
        }
      }
    });
    store_floats(dx + i * kWidth, sum);
  }
}

/// A maximum's where windows_apart(): a thread reads one window's gradient and writes all of its
/// pixels, of the last windows also those that no window holds.
template <class T, class Winner, int kWidth, class Int>
__global__ void grad_apart_kernel(const T* dy, const Winner* winner, T* dx, float /*factor*/,
                                  PoolDims<Int> s) {
  for (std::int64_t i = first_item(); i < s.items; i += grid_stride()) {
    const ImagePlace<Int> at = image_place(static_cast<Int>(i), s.oh, s.ow, s.c);
    const Vector<Winner, kWidth> winners = load_vector<kWidth>(winner + i * kWidth);
    const FloatVector<kWidth> part = load_floats<kWidth>(dy + i * kWidth);
    const Int top = at.row * s.size_h;
    const Int left = at.column * s.size_w;
    const Int rows = at.row + 1 < s.oh ? s.size_h : s.h - top;
    const Int columns = at.column + 1 < s.ow ? s.size_w : s.w - left;
    for (Int k = 0; k < rows; ++k) {
      const std::int64_t line = static_cast<std::int64_t>(at.n) * s.h + top + k;
      T* to = dx + ((line * s.w + left) * s.c + at.c) * kWidth;
      for (Int l = 0; l < columns; ++l) {
        const bool held = k < s.size_h && l < s.size_w;
        const int position = held ? static_cast<int>(k * s.size_w + l) : -1;
        FloatVector<kWidth> pixel;
        for (int c = 0; c < kWidth; ++c) {
          pixel[c] = static_cast<int>(winners[c]) == position ? part[c] : 0.0F;
        }
        store_floats(to + static_cast<std::int64_t>(l) * s.c * kWidth, pixel);
      }
    }
  }
}

template <int kValue>
using Constant = std::integral_constant<int, kValue>;

/// Calls f(pack width, dimensions) for the `pixels` of one side of a pooling with the types that
/// fit.
template <class F>
void with_dims(const PoolShape& s, std::int64_t pixels, bool aligned, F f) {
  const std::int64_t elements = s.n * pixels * s.c;
  const std::int64_t width = pool_pack(s, aligned);
  if (elements == 0) return;
  with_index(largest_index(s, elements / width), [&](auto index) {
    using Int = decltype(index);
    if constexpr (sizeof(Int) == sizeof(std::int32_t)) {
      if (width == 4) return f(Constant<4>{}, PoolDims<Int>(s, elements / 4, 4));
      if (width == 2) return f(Constant<2>{}, PoolDims<Int>(s, elements / 2, 2));
    }
    f(Constant<1>{}, PoolDims<Int>(s, elements, 1));
  });
}

/// Calls f(window size) with 2 or 3 for square windows of that dimension, 0 for all others.
template <class Winner, class F>
void with_size(const Pool2dAttrs& a, F f) {
  if constexpr (!std::is_same_v<Winner, std::int32_t>) {  // which are of larger windows
    if (a.size_h == 2 && a.size_w == 2) return f(Constant<2>{});
    if (a.size_h == 3 && a.size_w == 3) return f(Constant<3>{});
  }
  f(Constant<0>{});
}

float average_factor(const PoolShape& s) {
  return 1.0F / static_cast<float>(s.attrs.size_h * s.attrs.size_w);
}

template <class T, class Winner>
Kernel forward(const PoolShape& s, bool winner_read) {
  return {.enqueue = [=](const Args& args) {
    const T* x = args.in<T>(kFirst);
    T* y = args.out<T>(kFirst);
    Winner* winner = winner_read ? args.out<Winner>(MaxPool2dOp::Out::winner) : nullptr;
    with_dims(s, s.out_pixels(), vector_aligned(x, y, winner), [&](auto width, auto dims) {
      with_size<Winner>(s.attrs, [&](auto size) {
        launch(args.stream, std::is_void_v<Winner> ? "avg_pool2d" : "max_pool2d",
               for_items(dims.items), pool_kernel<T, Winner, size(), width(), decltype(dims.items)>,
               x, y, winner, average_factor(s), dims);
      });
    });
  }};
}

template <class T, class Winner>
Kernel gradient(const PoolShape& s) {
  constexpr bool kMean = std::is_void_v<Winner>;
  constexpr bool kMayBeApart = std::is_same_v<Winner, std::uint8_t>;
  return {.enqueue = [=](const Args& args) {
    const T* dy = args.in<T>(kFirst);
    const Winner* winner = kMean ? nullptr : args.in<Winner>(MaxPool2dGradOp::In::winner);
    T* dx = args.out<T>(kFirst);
    const bool apart = kMayBeApart && windows_apart(s);
    const std::int64_t pixels = apart ? s.out_pixels() : s.in_pixels();
    with_dims(s, pixels, vector_aligned(dy, winner, dx), [&](auto width, auto dims) {
      using Int = decltype(dims.items);
      auto* kernel = grad_kernel<T, Winner, width(), Int>;
      if constexpr (kMayBeApart) {
        if (apart) kernel = grad_apart_kernel<T, Winner, width(), Int>;
      }
      launch(args.stream, kMean ? "avg_pool2d_grad" : "max_pool2d_grad", for_items(dims.items),
             kernel, dy, winner, dx, average_factor(s), dims);
    });
  }};
}

std::optional<Kernel> prepare_max_pool2d(const NodeView& node, const Context& /*context*/) {
  const PoolShape s = pool_shape(node.attrs<MaxPool2dOp>(), node.in(kFirst));
  const bool winner_read = node.output_read[MaxPool2dOp::Out::winner];
  return with_stored(node, {kFirst}, {kFirst}, [&]<class T>() {
    return winner_type(s.attrs) == DType::u8 ? forward<T, std::uint8_t>(s, winner_read)
                                             : forward<T, std::int32_t>(s, winner_read);
  });
}

std::optional<Kernel> prepare_average_pool2d(const NodeView& node, const Context& /*context*/) {
  const PoolShape s = pool_shape(node.attrs<AvgPool2dOp>(), node.in(kFirst));
  return with_one_type(node, [&]<class T>() { return forward<T, void>(s, false); });
}

std::optional<Kernel> prepare_max_pool2d_grad(const NodeView& node, const Context& /*context*/) {
  const PoolShape s = pool_shape(node.attrs<MaxPool2dGradOp>(), node.in(MaxPool2dGradOp::In::dy));
  return with_stored(node, {MaxPool2dGradOp::In::dy}, {kFirst}, [&]<class T>() {
    return winner_type(s.attrs) == DType::u8 ? gradient<T, std::uint8_t>(s)
                                             : gradient<T, std::int32_t>(s);
  });
}

std::optional<Kernel> prepare_average_pool2d_grad(const NodeView& node,
                                                  const Context& /*context*/) {
  const PoolShape s = pool_shape(node.attrs<AvgPool2dGradOp>(), node.in(kFirst));
  return with_one_type(node, [&]<class T>() { return gradient<T, void>(s); });
}

}  // namespace

void register_pool2d(Registry& registry) {
  registry.add(MaxPool2dOp::kName, prepare_max_pool2d, Stores::half);
  registry.add(AvgPool2dOp::kName, prepare_average_pool2d, Stores::half);
  registry.add(MaxPool2dGradOp::kName, prepare_max_pool2d_grad, Stores::half);
  registry.add(AvgPool2dGradOp::kName, prepare_average_pool2d_grad, Stores::half);
}

}  // namespace linnet::cuda
