// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cpu/kernel.h"

namespace linnet::cpu {

/// Computes out[i] = f(in[i])
template <class F>
Kernel map(std::int64_t elements, double cost_each, F f) {
  return one_stage(elements, cost_each, [f](const Args& args, Range range) {
    const float* x = args.in(kFirst);
    float* y = args.out(kFirst);
    for (std::int64_t i = range.begin; i < range.end; ++i) y[i] = f(x[i]);
  });
}

/// Computes out[i] = f(a[i], b[i])
template <class F>
Kernel zip(std::int64_t elements, double cost_each, F f) {
  return one_stage(elements, cost_each, [f](const Args& args, Range range) {
    const float* a = args.in(kFirst);
    const float* b = args.in(kSecond);
    float* y = args.out(kFirst);
    for (std::int64_t i = range.begin; i < range.end; ++i) y[i] = f(a[i], b[i]);
  });
}

/// Computes out[r, c] = f(a[r, c], b[c])
template <class F>
Kernel zip_rows(std::int64_t rows, std::int64_t columns, double cost_each, F f) {
  return one_stage(rows, cost_each * static_cast<double>(columns),
                   [=](const Args& args, Range range) {
                     const float* b = args.in(kSecond);
                     for (std::int64_t r = range.begin; r < range.end; ++r) {
                       const float* a = args.in(kFirst) + r * columns;
                       float* y = args.out(kFirst) + r * columns;
                       for (std::int64_t c = 0; c < columns; ++c) y[c] = f(a[c], b[c]);
                     }
                   });
}

}  // namespace linnet::cpu
