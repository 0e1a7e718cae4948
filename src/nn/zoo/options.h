// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/layers.h>
#include <linnet/network.h>
#include <linnet/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace linnet::zoo {

/// Throws Error, naming the model, unless samples are images and the number of classes makes sense.
inline void check_options(std::string_view model, const Shape& sample, std::int64_t classes) {
  require(sample.rank() == 3, "{} expects images (H, W, C); got samples of {}", model,
          to_string(sample));
  require(classes >= 0, "{} expects a number of classes, or 0 for none; got {}", model, classes);
}

/// Appends the dense layer that makes the logits; nothing for 0 classes.
inline void add_logits(Network& network, std::int64_t classes, std::string name,
                       Initializer weight_init = {}) {
  if (classes == 0) return;
  network.add(Dense{.units = classes, .weight_init = weight_init, .name = std::move(name)});
}

}  // namespace linnet::zoo
