// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cpu/joined_rows.h"
#include "backend/cpu/kernel.h"
#include "backend/cpu/stored.h"

namespace linnet::cpu {

/// Calls f(args, range, scratch) for blocks of the first result's elements, with room for two
/// operands that have to be widened. (All of a task's at once where nothing has to be.)
template <class F>
Kernel in_blocks(const NodeView& node, double cost_each, F f) {
  const bool stored = stores_bf16(node);
  Kernel kernel = one_stage(
      node.out(kFirst).elements(), cost_each, [=](const Args& args, const Task& task, Range range) {
        const std::int64_t block = stored ? kStoredBlock : range.size();
        for (std::int64_t i = range.begin; i < range.end; i += block) {
          f(args, Range{i, std::min(i + block, range.end)}, reinterpret_cast<float*>(task.scratch));
        }
      });
  if (stored) kernel.scratch_bytes = 2 * kStoredBlock * sizeof(float);
  return kernel;
}

/// Calls f(x, count, y) for blocks of the first operand and of the first result.
template <class F>
Kernel map_blocks(const NodeView& node, double cost_each, F f) {
  const Stored in(node.inputs[kFirst]);
  const Stored out(node.outputs[kFirst]);
  return in_blocks(node, cost_each, [=](const Args& args, Range range, float* scratch) {
    const float* x = in.read(args.inputs[kFirst], range.begin, range.size(), scratch);
    float* y = out.target(args.outputs[kFirst], range.begin, scratch);
    f(x, range.size(), y);
    out.write(y, range.size(), args.outputs[kFirst], range.begin);
  });
}

/// Calls f(a, b, count, y) for blocks of the first two operands and of the first result.
template <class F>
Kernel zip_blocks(const NodeView& node, double cost_each, F f) {
  const Stored first(node.inputs[kFirst]);
  const Stored second(node.inputs[kSecond]);
  const Stored out(node.outputs[kFirst]);
  return in_blocks(node, cost_each, [=](const Args& args, Range range, float* scratch) {
    const float* a = first.read(args.inputs[kFirst], range.begin, range.size(), scratch);
    const float* b =
        second.read(args.inputs[kSecond], range.begin, range.size(), scratch + kStoredBlock);
    float* y = out.target(args.outputs[kFirst], range.begin, scratch);
    f(a, b, range.size(), y);
    out.write(y, range.size(), args.outputs[kFirst], range.begin);
  });
}

/// Computes y[i] = f(a[i], b[i])
template <class F>
void for_pairs(const float* a, const float* b, std::int64_t count, float* y, F f) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = f(a[i], b[i]);
}

/// Computes out[i] = f(in[i])
template <class F>
Kernel map(const NodeView& node, double cost_each, F f) {
  return map_blocks(node, cost_each, [=](const float* x, std::int64_t count, float* y) {
    for (std::int64_t i = 0; i < count; ++i) y[i] = f(x[i]);
  });
}

/// Computes out[i] = f(a[i], b[i])
template <class F>
Kernel zip(const NodeView& node, double cost_each, F f) {
  return zip_blocks(node, cost_each,
                    [=](const float* a, const float* b, std::int64_t count, float* y) {
                      for_pairs(a, b, count, y, f);
                    });
}

/// Calls f(a, b, count, y) for rows, or several at once, of a (rows, columns) and of b (columns).
template <class F>
Kernel zip_rows(std::int64_t rows, std::int64_t columns, double cost_each, F f) {
  return one_stage(
      rows, cost_each * static_cast<double>(columns), [=](const Args& args, Range range) {
        with_joined_rows(range.size(), columns, args.in(kSecond),
                         [&](std::int64_t first, std::int64_t count, std::int64_t width,
                             const float* b) {
                           const float* a = args.in(kFirst) + (range.begin + first) * columns;
                           float* y = args.out(kFirst) + (range.begin + first) * columns;
                           for (std::int64_t r = 0; r < count; ++r, a += width, y += width) {
                             f(a, b, width, y);
                           }
                         });
      });
}

}  // namespace linnet::cpu
