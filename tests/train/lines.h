// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <vector>

#include "data_sets.h"

namespace linnet::testing {

/// Points (x0, x1) of a grid in [-1, 1) and the values 2 x0 - x1 + 0.5.
inline Dataset line_data(std::int64_t count) {
  std::vector<float> x;
  std::vector<float> y;
  for (std::int64_t i = 0; i < count; ++i) {
    const float x0 = static_cast<float>(i * 7 % 16) / 8 - 1;
    const float x1 = static_cast<float>(i * 5 % 11) / 8 - 0.625F;
    x.insert(x.end(), {x0, x1});
    y.push_back(2 * x0 - x1 + 0.5F);
  }
  return data_of(records(std::move(x), {2}), records(std::move(y), {1}));
}

}  // namespace linnet::testing
