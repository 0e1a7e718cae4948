// SPDX-License-Identifier: Apache-2.0
#include "ops/slice/rows_cpu.h"
#include "ops/update_channels/update_channels.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
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
        const float* from = args.in(In::whole);
        float* to = args.out(Out::y);
        if (from != to) copy_floats(from + range.begin, to + range.begin, range.size());
      }));
  const double cost = kMoveCost * static_cast<double>(channels) + 3;
  kernel.stages.push_back(parallel(tasks_for(rows, cost), rows, [=](const Args& args, Range range) {
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      const float* part = args.in(In::part) + r * channels;
      float* y = args.out(Out::y) + r * wide + first;
      if (!adds) {
        copy_floats(part, y, channels);
        continue;
      }
      for (std::int64_t c = 0; c < channels; ++c) y[c] += part[c];
    }
  }));
  return kernel;
}

}  // namespace

void register_update_channels(Registry& registry) {
  registry.add(UpdateChannelsOp::kName, prepare);
}

}  // namespace linnet::cpu
