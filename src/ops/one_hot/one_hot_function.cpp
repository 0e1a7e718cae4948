// SPDX-License-Identifier: Apache-2.0
#include "nn/expression/support.h"
#include "ops/one_hot/one_hot.h"

namespace linnet {

Expression one_hot(const Expression& ids, std::int64_t classes) {
  require_ids("one_hot", ids);
  require(classes >= 1, "[one_hot] expected at least one class; got {}", classes);
  return emit(OneHotOp({.classes = classes}), {ids});
}

}  // namespace linnet
