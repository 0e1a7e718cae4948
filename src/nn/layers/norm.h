// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/dims.h"
#include "nn/builder.h"
#include "ops/group_norm/group_norm.h"

namespace linnet {

/// Appends a norm with a weight and a bias of the shape of its last `attrs.channels` axes.
inline void add_norm(NetworkBuilder& builder, const std::string& layer,
                     const GroupNormAttrs& attrs) {
  const std::vector<std::int64_t> dims = dims_of(builder.shape());
  const Shape channels(std::vector<std::int64_t>(dims.end() - attrs.channels, dims.end()));
  const std::int64_t fan = channels.elements();
  const Value weight = builder.weight(layer, "weight", channels, kOnes, fan, fan);
  const Value bias = builder.weight(layer, "bias", channels, kZeros, fan, fan);
  builder.set_current(builder.graph().add(std::make_shared<GroupNormOp>(attrs),
                                          {builder.current(), weight, bias}, layer)[0]);
}

}  // namespace linnet
