// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/types.h>

#include <cstdint>
#include <string_view>

#include "base/check.h"

namespace linnet::zoo {

/// Throws Error, naming the model, unless samples are images and the number of classes makes sense.
inline void check_options(std::string_view model, const Shape& sample, std::int64_t classes) {
  require(sample.rank() == 3, "{} expects images (H, W, C); got samples of {}", model,
          to_string(sample));
  require(classes >= 0, "{} expects a number of classes, or 0 for none; got {}", model, classes);
}

}  // namespace linnet::zoo
