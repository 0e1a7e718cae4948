// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <type_traits>

#include "backend/cuda/kernel.h"
#include "backend/cuda/vectors.cuh"
#include "ops/pool2d/pool2d.h"
#include "ops/pool2d/window.h"
#include "ops/pool2d/winner.h"

namespace linnet::cuda {
namespace {

/// A PoolShape for kernels, `c` in packs; Int is 32 bits wide where all of it and its items fit.
template <class Int>
struct Dims {
  Int items, h, w, c, oh, ow;
  Int size_h, size_w, stride_h, stride_w, pad_top, pad_left;

  constexpr WindowOf<Int> rows_of(Int i) const { return window(i, h, size_h, stride_h, pad_top); }
  constexpr WindowOf<Int> columns_of(Int j) const {
    return window(j, w, size_w, stride_w, pad_left);
  }
  constexpr WindowRange<Int> over_row(Int row) const {
    return windows_over(row, oh, size_h, stride_h, pad_top);
  }
  constexpr WindowRange<Int> over_column(Int column) const {
    return windows_over(column, ow, size_w, stride_w, pad_left);
  }
};

/// A pack of images of (height, width, channels).
template <class Int>
struct Place {
  Int n, row, column, c;
};
template <class Int>
constexpr Place<Int> place(Int item, Int height, Int width, Int channels) {
  const Int pixel = item / channels;
  const Int line = pixel / width;
  const Int n = line / height;
  return {n, line - n * height, pixel - line * width, item - pixel * channels};
}

/// Calls visit(pack of x, position) for the pixels of output `at`'s window inside the image, in
/// order. kSize is the window's dimension where the compiler knows it: all loads go out at once.
template <int kSize, int kWidth, class Int, class T, class Visit>
__device__ inline void for_window(const T* x, const Dims<Int>& s, const Place<Int>& at,
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

/// `winner` is null where nothing reads it.
template <class T, class Winner, int kSize, int kWidth, class Int>
__global__ void max_kernel(const T* x, T* y, Winner* winner, Dims<Int> s) {
  for (std::int64_t i = first_item(); i < s.items; i += grid_stride()) {
    const Place<Int> at = place(static_cast<Int>(i), s.oh, s.ow, s.c);
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

template <class T, int kSize, int kWidth, class Int>
__global__ void average_kernel(const T* x, T* y, float factor, Dims<Int> s) {
  for (std::int64_t i = first_item(); i < s.items; i += grid_stride()) {
    const Place<Int> at = place(static_cast<Int>(i), s.oh, s.ow, s.c);
    FloatVector<kWidth> sum{};
    for_window<kSize, kWidth>(x, s, at, [&](const FloatVector<kWidth>& pixel, int) {
      for (int c = 0; c < kWidth; ++c) sum[c] += pixel[c];
    });
    for (int c = 0; c < kWidth; ++c) sum[c] *= factor;
    store_floats(y + i * kWidth, sum);
  }
}

/// Calls visit(element of dy, position of the pixel in that window) for all windows over a pixel.
template <int kWidth, class Int, class Visit>
__device__ inline void for_windows_over(const Dims<Int>& s, const Place<Int>& at, Visit visit) {
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
__global__ void max_grad_kernel(const T* dy, const Winner* winner, T* dx, Dims<Int> s) {
  for (std::int64_t i = first_item(); i < s.items; i += grid_stride()) {
    const Place<Int> at = place(static_cast<Int>(i), s.h, s.w, s.c);
    FloatVector<kWidth> sum{};
    for_windows_over<kWidth>(s, at, [&](std::int64_t window, int position) {
      const Vector<Winner, kWidth> winners = load_vector<kWidth>(winner + window);
      const FloatVector<kWidth> part = load_floats<kWidth>(dy + window);
      for (int c = 0; c < kWidth; ++c) {
        sum[c] += static_cast<int>(winners[c]) == position ? part[c] : 0.0F;
      }
    });
    store_floats(dx + i * kWidth, sum);
  }
}

/// The same where windows follow each other without gaps or padding: a thread reads one window's
/// gradient and writes all of its pixels, of the last windows also those that no window holds.
template <class T, class Winner, int kWidth, class Int>
__global__ void max_grad_apart_kernel(const T* dy, const Winner* winner, T* dx, Dims<Int> s) {
  for (std::int64_t i = first_item(); i < s.items; i += grid_stride()) {
    const Place<Int> at = place(static_cast<Int>(i), s.oh, s.ow, s.c);
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

template <class T, int kWidth, class Int>
__global__ void average_grad_kernel(const T* dy, T* dx, float factor, Dims<Int> s) {
  for (std::int64_t i = first_item(); i < s.items; i += grid_stride()) {
    const Place<Int> at = place(static_cast<Int>(i), s.h, s.w, s.c);
    FloatVector<kWidth> sum{};
    for_windows_over<kWidth>(s, at, [&](std::int64_t window, int) {
      const FloatVector<kWidth> part = load_floats<kWidth>(dy + window);
      for (int c = 0; c < kWidth; ++c) sum[c] += factor * part[c];
    });
    store_floats(dx + i * kWidth, sum);
  }
}

template <class Int>
Dims<Int> dims(const PoolShape& s, std::int64_t items, int width) {
  const Pool2dAttrs& a = s.attrs;
  const auto to = [](std::int64_t value) { return static_cast<Int>(value); };
  return {.items = to(items),
          .h = to(s.h),
          .w = to(s.w),
          .c = to(s.c / width),
          .oh = to(s.oh),
          .ow = to(s.ow),
          .size_h = to(a.size_h),
          .size_w = to(a.size_w),
          .stride_h = to(a.stride_h),
          .stride_w = to(a.stride_w),
          .pad_top = to(a.pad_top),
          .pad_left = to(a.pad_left)};
}

template <int kValue>
using Constant = std::integral_constant<int, kValue>;

/// Calls f(pack width, dimensions) for the `pixels` of one side of a pooling with the types that
/// fit.
template <class F>
void with_index_type(const PoolShape& s, std::int64_t pixels, bool aligned, F f) {
  const std::int64_t elements = s.n * pixels * s.c;
  if (elements == 0) return;
  const std::int64_t width = !aligned || s.c % 2 != 0 ? 1 : s.c % 4 != 0 ? 2 : 4;
  const std::int64_t largest =
      std::max({elements / width, s.h, s.w, s.attrs.stride_h, s.attrs.stride_w});
  with_index(largest, [&](auto index) {
    using Int = decltype(index);
    if constexpr (sizeof(Int) == sizeof(std::int32_t)) {
      if (width == 4) return f(Constant<4>{}, dims<Int>(s, elements / 4, 4));
      if (width == 2) return f(Constant<2>{}, dims<Int>(s, elements / 2, 2));
    }
    f(Constant<1>{}, dims<Int>(s, elements, 1));
  });
}

/// Calls f(window size) with 2 or 3 for square windows of that dimension, 0 for all others.
template <class Winner, class F>
void with_size(const Pool2dAttrs& a, F f) {
  if constexpr (sizeof(Winner) == 1) {  // larger winners are of larger windows
    if (a.size_h == 2 && a.size_w == 2) return f(Constant<2>{});
    if (a.size_h == 3 && a.size_w == 3) return f(Constant<3>{});
  }
  f(Constant<0>{});
}

template <class T, class Winner>
Kernel max_pool(const PoolShape& s, bool winner_read) {
  return {.enqueue = [=](const Args& args) {
    const T* x = args.in<T>(kFirst);
    T* y = args.out<T>(kFirst);
    Winner* winner = winner_read ? args.out<Winner>(MaxPool2dOp::Out::winner) : nullptr;
    with_index_type(s, s.out_pixels(), vector_aligned(x, y, winner), [&](auto width, auto e) {
      with_size<Winner>(s.attrs, [&](auto size) {
        launch(args.stream, "max_pool2d", for_items(e.items),
               max_kernel<T, Winner, size(), width(), decltype(e.items)>, x, y, winner, e);
      });
    });
  }};
}

std::optional<Kernel> prepare_max(const NodeView& node, const Context& /*context*/) {
  const PoolShape s = pool_shape(node.attrs<MaxPool2dOp>(), node.in(kFirst));
  const bool winner_read = node.output_read[MaxPool2dOp::Out::winner];
  return with_stored(node, {kFirst}, {kFirst}, [&]<class T>() {
    return winner_type(s.attrs) == DType::u8 ? max_pool<T, std::uint8_t>(s, winner_read)
                                             : max_pool<T, std::int32_t>(s, winner_read);
  });
}

std::optional<Kernel> prepare_average(const NodeView& node, const Context& /*context*/) {
  const PoolShape s = pool_shape(node.attrs<AvgPool2dOp>(), node.in(kFirst));
  const float factor = 1.0F / static_cast<float>(s.attrs.size_h * s.attrs.size_w);
  return with_one_type(node, [&]<class T>() {
    return Kernel{.enqueue = [=](const Args& args) {
      const T* x = args.in<T>(kFirst);
      T* y = args.out<T>(kFirst);
      with_index_type(s, s.out_pixels(), vector_aligned(x, y), [&](auto width, auto e) {
        with_size<std::uint8_t>(s.attrs, [&](auto size) {
          launch(args.stream, "avg_pool2d", for_items(e.items),
                 average_kernel<T, size(), width(), decltype(e.items)>, x, y, factor, e);
        });
      });
    }};
  });
}

template <class T, class Winner>
Kernel max_grad(const PoolShape& s) {
  using In = MaxPool2dGradOp::In;
  using Out = MaxPool2dGradOp::Out;
  const Pool2dAttrs& a = s.attrs;
  const bool apart = sizeof(Winner) == 1 && a.stride_h == a.size_h && a.stride_w == a.size_w &&
                     a.pad_top == 0 && a.pad_left == 0 && s.oh * a.size_h <= s.h &&
                     s.ow * a.size_w <= s.w &&
                     a.size_h * a.size_w <= 16;  // larger ones leave too few threads
  return {.enqueue = [=](const Args& args) {
    const T* dy = args.in<T>(In::dy);
    const Winner* winner = args.in<Winner>(In::winner);
    T* dx = args.out<T>(Out::dx);
    const std::int64_t pixels = apart ? s.out_pixels() : s.in_pixels();
    with_index_type(s, pixels, vector_aligned(dy, winner, dx), [&](auto width, auto e) {
      using Int = decltype(e.items);
      auto* kernel = max_grad_kernel<T, Winner, width(), Int>;
      if constexpr (sizeof(Winner) == 1) {
        if (apart) kernel = max_grad_apart_kernel<T, Winner, width(), Int>;
      }
      launch(args.stream, "max_pool2d_grad", for_items(e.items), kernel, dy, winner, dx, e);
    });
  }};
}

std::optional<Kernel> prepare_max_grad(const NodeView& node, const Context& /*context*/) {
  const PoolShape s = pool_shape(node.attrs<MaxPool2dGradOp>(), node.in(MaxPool2dGradOp::In::dy));
  return with_stored(node, {MaxPool2dGradOp::In::dy}, {kFirst}, [&]<class T>() {
    return winner_type(s.attrs) == DType::u8 ? max_grad<T, std::uint8_t>(s)
                                             : max_grad<T, std::int32_t>(s);
  });
}

std::optional<Kernel> prepare_average_grad(const NodeView& node, const Context& /*context*/) {
  const PoolShape s = pool_shape(node.attrs<AvgPool2dGradOp>(), node.in(kFirst));
  const float factor = 1.0F / static_cast<float>(s.attrs.size_h * s.attrs.size_w);
  return with_one_type(node, [&]<class T>() {
    return Kernel{.enqueue = [=](const Args& args) {
      const T* dy = args.in<T>(kFirst);
      T* dx = args.out<T>(kFirst);
      with_index_type(s, s.in_pixels(), vector_aligned(dy, dx), [&](auto width, auto e) {
        launch(args.stream, "avg_pool2d_grad", for_items(e.items),
               average_grad_kernel<T, width(), decltype(e.items)>, dy, dx, factor, e);
      });
    }};
  });
}

}  // namespace

void register_pool2d(Registry& registry) {
  registry.add(MaxPool2dOp::kName, prepare_max, Stores::half);
  registry.add(AvgPool2dOp::kName, prepare_average, Stores::half);
  registry.add(MaxPool2dGradOp::kName, prepare_max_grad, Stores::half);
  registry.add(AvgPool2dGradOp::kName, prepare_average_grad, Stores::half);
}

}  // namespace linnet::cuda
