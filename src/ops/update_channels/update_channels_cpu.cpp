// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/cpu/stored.h"
#include "core/half.h"
#include "ops/slice/rows_cpu.h"
#include "ops/update_channels/update_channels.h"

namespace linnet::cpu {
namespace {

float sum(float a, float b) { return a + b; }
std::uint16_t sum(std::uint16_t a, std::uint16_t b) {
  return bf16_of(float_of_bf16(a) + float_of_bf16(b));
}

/// Rows that are fetched before they are read lie so far ahead; channels between two fetches.
constexpr std::int64_t kRowsAhead = 8;
constexpr std::int64_t kLine = 16;

/// T: float or bfloat16.
template <class T>
Kernel kernel_of(const NodeView& node) {
  using In = UpdateChannelsOp::In;
  using Out = UpdateChannelsOp::Out;
  const auto [begin, add] = node.attrs<UpdateChannelsOp>();
  const std::int64_t channels = node.in(In::part)[-1];
  const std::int64_t wide = node.in(In::whole)[-1];
  const std::int64_t rows = channels > 0 ? node.in(In::part).elements() / channels : 0;
  const std::int64_t first = begin;
  const bool adds = add;
  Kernel kernel;
  const std::int64_t all = node.in(In::whole).elements();
  kernel.stages.push_back(
      parallel(tasks_for(all, kMoveCost), all, [](const Args& args, Range range) {
        const T* from = args.in<T>(In::whole);
        T* to = args.out<T>(Out::y);
        if (from != to) std::copy_n(from + range.begin, range.size(), to + range.begin);
      }));
  const double cost = kMoveCost * static_cast<double>(channels) + 3;
  kernel.stages.push_back(parallel(tasks_for(rows, cost), rows, [=](const Args& args, Range range) {
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      const T* part = args.in<T>(In::part) + r * channels;
      T* y = args.out<T>(Out::y) + r * wide + first;
      if (!adds) {
        std::copy_n(part, channels, y);
        continue;
      }
      for (std::int64_t line = 0; line < channels; line += kLine) {
        __builtin_prefetch(y + kRowsAhead * wide + line, 1);
        __builtin_prefetch(part + kRowsAhead * channels + line);
        const std::int64_t end = std::min(line + kLine, channels);
        for (std::int64_t c = line; c < end; ++c) y[c] = sum(y[c], part[c]);
      }
    }
  }));
  return kernel;
}

std::optional<Kernel> prepare(const NodeView& node) {
  if (!is_of_one_type(node)) return std::nullopt;
  return stores_bf16(node) ? kernel_of<std::uint16_t>(node) : kernel_of<float>(node);
}

}  // namespace

void register_update_channels(Registry& registry) {
  registry.add(UpdateChannelsOp::kName, prepare, Stores::bf16);
}

}  // namespace linnet::cpu
