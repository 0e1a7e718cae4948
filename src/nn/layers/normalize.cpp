// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/normalize.h>

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "nn/builder.h"
#include "nn/layer_fields.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/channel_scale/channel_scale.h"

namespace linnet {
namespace {

bool all_equal(const std::vector<double>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

}  // namespace

void Normalize::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const auto channels = static_cast<std::size_t>(builder.shape()[-1]);
  require((mean.size() == 1 || mean.size() == channels) &&
              (std.size() == 1 || std.size() == channels),
          "[normalize '{}'] expected one mean and std, or {} of each for {}; got {} and {}", layer,
          channels, to_string(builder.shape()), mean.size(), std.size());
  ChannelScaleAttrs attrs{.scale = {}, .shift = {}};
  for (std::size_t c = 0; c < channels; ++c) {
    const double by = std[std.size() == 1 ? 0 : c];
    attrs.scale.push_back(scale / by);
    attrs.shift.push_back(-mean[mean.size() == 1 ? 0 : c] / by);
  }
  if (all_equal(attrs.scale) && all_equal(attrs.shift)) {
    builder.apply(ScaleOp({.alpha = attrs.scale[0], .beta = attrs.shift[0]}), layer);
  } else {
    require(std::ssize(attrs.scale) <= ChannelScaleOp::kMostChannels,
            "[normalize '{}'] expected at most {} channels, or the same mean and std for all; "
            "got {}",
            layer, ChannelScaleOp::kMostChannels, to_string(builder.shape()));
    builder.apply(ChannelScaleOp(attrs), layer);
  }
}

void register_normalize(LayerTypes& types) {
  types.add({.kind = "normalize",
             .name = "Normalize",
             .in = "(N, ..., C)",
             .out = "(N, ..., C)",
             .fields = {field<&Normalize::mean>("mean"),
                        field<&Normalize::std>("std").above(0).formerly(
                            "deviation"),  // wording: ok
                        field<&Normalize::scale>("scale")}},
            Normalize{.mean = {0.485, 0.456, 0.406}, .std = {0.229, 0.224, 0.225}});
}

}  // namespace linnet
