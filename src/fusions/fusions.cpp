// SPDX-License-Identifier: Apache-2.0
#include "fusions/fusions.h"

namespace linnet {

const Passes& all_passes() {
  static const Passes kPasses = [] {
    Passes passes;
    register_plan_passes(passes);
    register_fusions(passes);
    return passes;
  }();
  return kPasses;
}

}  // namespace linnet
