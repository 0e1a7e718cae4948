// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "backend/cuda/vectors.cuh"

namespace linnet::cuda {

/// y[i] = f(x[i]...), four elements a thread and iteration, the last few one by one. y may be one
/// of the x: each element is read before it is written.
template <class F, class... X>
__global__ void map_kernel(F f, std::int64_t elements, bool aligned, float* y, const X*... x) {
  const std::int64_t vectors = elements / 4;
  for (std::int64_t i = first_item(); i < vectors; i += grid_stride()) {
    const auto compute = [&](const auto&... from) {
      FloatVector<4> to;
      for (int v = 0; v < 4; ++v) to[v] = f(from[v]...);
      store_vector(y + 4 * i, to, aligned);
    };
    compute(load_vector<4>(x + 4 * i, aligned)...);
  }
  const std::int64_t tail = 4 * vectors + first_item();
  if (tail < elements) y[tail] = f(x[tail]...);
}

/// Launches y[i] = f(x[i]...) for i in [0, elements), with one to three f32 inputs. f: a struct of
/// `__device__ float operator()(float...) const` (nvcc takes no lambda here). `name` is the
/// operator's, for errors.
template <class F, class... X>
void map_elements(const Queue& stream, const char* name, F f, std::int64_t elements, float* y,
                  const X*... x) {
  if (elements == 0) return;
  void (*const kernel)(F, std::int64_t, bool, float*, const X*...) = map_kernel<F, X...>;
  launch(stream, name, for_items((elements + 3) / 4), kernel, f, elements, vector_aligned(y, x...),
         y, x...);
}

/// y[i] = f(x[i]), y the first output and x the first input
template <class F>
Kernel map(const char* name, std::int64_t elements, F f) {
  return {.enqueue = [=](const Args& args) {
    map_elements(args.stream, name, f, elements, args.out(kFirst), args.in(kFirst));
  }};
}

/// y[i] = f(x[i], b[i])
template <class F>
Kernel zip(const char* name, std::int64_t elements, F f) {
  return {.enqueue = [=](const Args& args) {
    map_elements(args.stream, name, f, elements, args.out(kFirst), args.in(kFirst),
                 args.in(kSecond));
  }};
}

/// y[r, c] = f(a[r, c], b[c])
template <int kVector, class F>
__global__ void zip_rows_kernel(F f, std::int64_t elements, std::int64_t columns, bool aligned,
                                float* y, const float* a, const float* b) {
  const std::int64_t vectors = elements / kVector;
  const std::int64_t period = columns / kVector;
  const std::int64_t step = grid_stride() % period;
  std::int64_t column = first_item() % period;
  for (std::int64_t i = first_item(); i < vectors; i += grid_stride()) {
    const auto left = load_vector<kVector>(a + i * kVector, aligned);
    const auto right = load_vector<kVector>(b + column * kVector, aligned);
    FloatVector<kVector> to;
    for (int v = 0; v < kVector; ++v) to[v] = f(left[v], right[v]);
    store_vector(y + i * kVector, to, aligned);
    column += step;
    if (column >= period) column -= period;
  }
}

/// y[r, c] = f(x[r, c], b[c])
template <class F>
Kernel zip_rows(const char* name, std::int64_t rows, std::int64_t columns, F f) {
  const std::int64_t elements = rows * columns;
  return {.enqueue = [=](const Args& args) {
    if (elements == 0) return;
    const int vector = columns % 4 == 0 ? 4 : 1;
    launch(args.stream, name, for_items(elements / vector),
           vector == 4 ? zip_rows_kernel<4, F> : zip_rows_kernel<1, F>, f, elements, columns,
           vector_aligned(args.in(kFirst), args.in(kSecond), args.out(kFirst)), args.out(kFirst),
           args.in(kFirst), args.in(kSecond));
  }};
}

}  // namespace linnet::cuda
