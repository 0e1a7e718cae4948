// SPDX-License-Identifier: Apache-2.0
// For builds of some operators alone (LINNET_ONLY_OPS), which lack those of fp64.
#include "op_backends.h"

namespace linnet::testing {

std::vector<TestedDevice> tested_in_f64() { return {}; }

}  // namespace linnet::testing
