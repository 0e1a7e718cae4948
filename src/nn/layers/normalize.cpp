// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>

#include "base/check.h"
#include "base/join.h"
#include "nn/builder.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/channel_scale/channel_scale.h"

namespace linnet {
namespace {

bool all_equal(const std::vector<double>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

}  // namespace

void Normalize::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "normalize");
  const auto channels = static_cast<std::size_t>(builder.shape()[-1]);
  require((mean.size() == 1 || mean.size() == channels) &&
              (deviation.size() == 1 || deviation.size() == channels),
          "[normalize '{}'] expected one mean and deviation, or {} of each for {}; got {} and {}",
          layer, channels, to_string(builder.shape()), mean.size(), deviation.size());
  require(std::all_of(deviation.begin(), deviation.end(), [](double d) { return d > 0; }),
          "[normalize '{}'] expected deviations above 0; got {}", layer, join(deviation, ", "));
  ChannelScaleAttrs attrs{.scale = {}, .shift = {}};
  for (std::size_t c = 0; c < channels; ++c) {
    const double by = deviation[deviation.size() == 1 ? 0 : c];
    attrs.scale.push_back(scale / by);
    attrs.shift.push_back(-mean[mean.size() == 1 ? 0 : c] / by);
  }
  if (all_equal(attrs.scale) && all_equal(attrs.shift)) {
    builder.apply(ScaleOp({.alpha = attrs.scale[0], .beta = attrs.shift[0]}), layer);
  } else {
    require(
        std::ssize(attrs.scale) <= ChannelScaleOp::kMostChannels,
        "[normalize '{}'] expected at most {} channels, or the same mean and deviation for all; "
        "got {}",
        layer, ChannelScaleOp::kMostChannels, to_string(builder.shape()));
    builder.apply(ChannelScaleOp(attrs), layer);
  }
}

}  // namespace linnet
