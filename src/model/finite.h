// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/model_state.h"

namespace linnet {

/// Returns the name of the first weight or running statistic that holds a NaN or an infinity; ""
/// where all are finite.
std::string ruined_weight(const ModelState& model);

}  // namespace linnet
