// SPDX-License-Identifier: Apache-2.0
// Stands for op_f64.cpp in builds of some operators alone (LINNET_ONLY_OPS), which lack fp64.
#include "op_backends.h"

namespace linnet::testing {

std::vector<TestedDevice> tested_in_f64() { return {}; }

}  // namespace linnet::testing
