// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cpu/kernel.h"

namespace linnet::cpu {

/// One stage that calls `f(args, range)` for equal ranges of `elements`.
template <class F>
Kernel element_wise(std::int64_t elements, double cost_each, F f) {
  const int tasks = tasks_for(elements, cost_each);
  Kernel kernel;
  kernel.stages.push_back({tasks, [=](const Args& args, const Task& task) {
                             f(args, split(elements, tasks, task.index));
                           }});
  return kernel;
}

/// out[i] = f(in[i])
template <class F>
Kernel map(std::int64_t elements, double cost_each, F f) {
  return element_wise(elements, cost_each, [f](const Args& args, Range range) {
    const float* x = args.in(0);
    float* y = args.out(0);
    for (std::int64_t i = range.begin; i < range.end; ++i) y[i] = f(x[i]);
  });
}

/// out[i] = f(a[i], b[i])
template <class F>
Kernel zip(std::int64_t elements, double cost_each, F f) {
  return element_wise(elements, cost_each, [f](const Args& args, Range range) {
    const float* a = args.in(0);
    const float* b = args.in(1);
    float* y = args.out(0);
    for (std::int64_t i = range.begin; i < range.end; ++i) y[i] = f(a[i], b[i]);
  });
}

}  // namespace linnet::cpu
