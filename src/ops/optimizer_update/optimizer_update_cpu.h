// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/optimizer_update/optimizer_update.h"

namespace linnet::cpu {

/// Flat arrays of one length; moments that the rule does not keep are null.
struct UpdateArrays {
  float* parameters = nullptr;
  const float* gradients = nullptr;
  float* first = nullptr;
  float* second = nullptr;
};

/// Applies the rule to the elements [begin, end), with the best instructions of this processor.
void update_elements(UpdateRule rule, const UpdateFactors& factors, const UpdateArrays& arrays,
                     std::int64_t begin, std::int64_t end);

}  // namespace linnet::cpu
