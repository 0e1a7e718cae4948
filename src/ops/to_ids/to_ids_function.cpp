// SPDX-License-Identifier: Apache-2.0
#include "nn/expression/support.h"
#include "ops/to_ids/to_ids.h"

namespace linnet {

Expression to_ids(const Expression& x) { return emit(ToIdsOp(), {x}); }

}  // namespace linnet
