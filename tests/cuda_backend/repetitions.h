// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace linnet::testing {

/// How often tests of what luck could hide repeat it: a thousand times on a GPU, a few times on the
/// simulated device, which draws another order of threads each time.
int repetitions();

}  // namespace linnet::testing
