// SPDX-License-Identifier: Apache-2.0
#include "ops/channel_scale/channel_scale.h"

#include <numeric>

#include "backend/cpu/kernel.h"

namespace linnet::cpu {
namespace {

/// Elements of a pattern that vectors go through: the channels, repeated.
constexpr std::int64_t kVector = 16;

/// The factors of a few pixels one after the other, so that the inner loop has no remainder to
/// take.
struct Pattern {
  explicit Pattern(const ChannelFactors& factors)
      : period(factors.channels == 0 ? 0 : std::lcm(kVector, factors.channels)) {
    for (std::int64_t i = 0; i < period; ++i) {
      scale.push_back(factors.scale[i % factors.channels]);
      shift.push_back(factors.shift[i % factors.channels]);
    }
  }

  std::int64_t period;
  std::vector<float> scale;
  std::vector<float> shift;
};

std::optional<Kernel> prepare_channel_scale(const NodeView& node) {
  using In = ChannelScaleOp::In;
  using Out = ChannelScaleOp::Out;
  const Pattern pattern{ChannelFactors(node.attrs<ChannelScaleOp>())};
  const std::int64_t elements = node.in(In::x).elements();
  const std::int64_t period = std::max<std::int64_t>(pattern.period, 1);
  return one_stage((elements + period - 1) / period, 0.4 * static_cast<double>(period),
                   [=](const Args& args, Range range) {
                     for (std::int64_t r = range.begin; r < range.end; ++r) {
                       const float* x = args.in(In::x) + r * period;
                       float* y = args.out(Out::y) + r * period;
                       const std::int64_t count = std::min(period, elements - r * period);
                       for (std::int64_t i = 0; i < count; ++i) {
                         y[i] = pattern.scale[static_cast<std::size_t>(i)] * x[i] +
                                pattern.shift[static_cast<std::size_t>(i)];
                       }
                     }
                   });
}

}  // namespace

void register_channel_scale(Registry& registry) {
  registry.add(ChannelScaleOp::kName, prepare_channel_scale);
}

}  // namespace linnet::cpu
