// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "backend/cuda/vectors.cuh"

// Lambdas that go to the device capture by value: `[=] __device__`. nvcc takes none within a
// generic lambda: there a function template names the types.

namespace linnet::cuda {

template <class F, class... P>
__global__ void items_kernel(F f, std::int64_t items, P... operands) {
  for (std::int64_t i = first_item(); i < items; i += grid_stride()) f(i, operands...);
}

/// Launches f(i, operands...) for i in [0, items), each in one thread.
template <class F, class... P>
void for_each_item(const Queue& stream, const char* name, std::int64_t items, F f, P... operands) {
  launch(stream, name, for_items(items), items_kernel<F, P...>, f, items, operands...);
}

/// Returns a node's kernel of one launch: f(i, y, x...) for i in [0, items), where y is the first
/// output, of Y, and x... are the first inputs, of X.
template <class Y, class... X, class F>
Kernel each_item(const char* name, std::int64_t items, F f) {
  return {.enqueue = [=](const Args& args) {
    const auto launch_all = [&]<std::size_t... kInput>(std::index_sequence<kInput...>) {
      for_each_item(args.stream, name, items, f, args.out<Y>(kFirst), args.in<X>(kInput)...);
    };
    launch_all(std::index_sequence_for<X...>{});
  }};
}

/// Activations that a thread loads at once: 16 bytes where all are stored in 16 bits.
template <class... T>
inline constexpr int kMapWidth = (kIsHalf<T> && ...) ? 8 : 4;

/// y[i] = f(x[i]...), several elements a thread and iteration, the last few one by one. y may be
/// one of the x: each element is read before it is written.
template <class F, class Y, class... X>
__global__ void map_kernel(F f, std::int64_t elements, bool aligned, Y* y, const X*... x) {
  constexpr int kWidth = kMapWidth<Y, X...>;
  const std::int64_t vectors = elements / kWidth;
  for (std::int64_t i = first_item(); i < vectors; i += grid_stride()) {
    const auto compute = [&](const auto&... from) {
      FloatVector<kWidth> to;
      for (int v = 0; v < kWidth; ++v) to[v] = f(from[v]...);
      store_floats(y + kWidth * i, to, aligned);
    };
    compute(load_floats<kWidth>(x + kWidth * i, aligned)...);
  }
  const std::int64_t tail = kWidth * vectors + first_item();
  if (tail < elements) y[tail] = stored_as<Y>(f(to_float(x[tail])...));
}

/// Launches y[i] = f(x[i]...) for i in [0, elements), with one to three inputs; f takes and gives
/// floats. `name` is the operator's, for errors.
template <class F, class Y, class... X>
void map_elements(const Queue& stream, const char* name, F f, std::int64_t elements, Y* y,
                  const X*... x) {
  constexpr int kWidth = kMapWidth<Y, X...>;
  void (*const kernel)(F, std::int64_t, bool, Y*, const X*...) = map_kernel<F, Y, X...>;
  launch(stream, name, for_items((elements + kWidth - 1) / kWidth), kernel, f, elements,
         vector_aligned<kWidth>(y, x...), y, x...);
}

/// y[i] = f(x[i]), y the first output and x the first input
template <class T = float, class F>
Kernel map(const char* name, std::int64_t elements, F f) {
  return {.enqueue = [=](const Args& args) {
    map_elements(args.stream, name, f, elements, args.out<T>(kFirst), args.in<T>(kFirst));
  }};
}

/// y[i] = f(x[i], b[i])
template <class T = float, class F>
Kernel zip(const char* name, std::int64_t elements, F f) {
  return {.enqueue = [=](const Args& args) {
    map_elements(args.stream, name, f, elements, args.out<T>(kFirst), args.in<T>(kFirst),
                 args.in<T>(kSecond));
  }};
}

/// y[r, c] = f(a[r, c], b[c])
template <int kVector, class T, class F>
__global__ void zip_rows_kernel(F f, std::int64_t elements, std::int64_t columns, bool aligned,
                                T* y, const T* a, const float* b) {
  const std::int64_t vectors = elements / kVector;
  const std::int64_t period = columns / kVector;
  const std::int64_t step = grid_stride() % period;
  std::int64_t column = first_item() % period;
  for (std::int64_t i = first_item(); i < vectors; i += grid_stride()) {
    const auto left = load_floats<kVector>(a + i * kVector, aligned);
    const auto right = load_vector<kVector>(b + column * kVector, aligned);
    FloatVector<kVector> to;
    for (int v = 0; v < kVector; ++v) to[v] = f(left[v], right[v]);
    store_floats(y + i * kVector, to, aligned);
    column += step;
    if (column >= period) column -= period;
  }
}

/// y[r, c] = f(x[r, c], b[c]); b is f32
template <class T = float, class F>
Kernel zip_rows(const char* name, std::int64_t rows, std::int64_t columns, F f) {
  const std::int64_t elements = rows * columns;
  return {.enqueue = [=](const Args& args) {
    const int vector = columns % 4 == 0 ? 4 : 1;
    const auto* x = args.in<T>(kFirst);
    const float* b = args.in(kSecond);
    auto* y = args.out<T>(kFirst);
    launch(args.stream, name, for_items(elements / vector),
           vector == 4 ? zip_rows_kernel<4, T, F> : zip_rows_kernel<1, T, F>, f, elements, columns,
           vector_aligned(x, b, y), y, x, b);
  }};
}

}  // namespace linnet::cuda
