// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "model/model_state.h"

namespace linnet {

/// The index of the first NaN or infinity; the size where there is none.
std::size_t first_not_finite(std::span<const float> values);

/// The name of the first weight or running statistic that holds a NaN or an infinity; "" where all
/// are finite.
std::string ruined_weight(const ModelState& model);

}  // namespace linnet
