// SPDX-License-Identifier: Apache-2.0
#include "nn/expression/support.h"
#include "ops/select/select.h"

namespace linnet {
namespace {

/// Returns a where the condition is `when`, else the number.
Expression select(const Expression& condition, bool when, const Expression& a, double value) {
  const std::vector<Expression> both = expanded_to_common("where", {condition, a});
  return emit(SelectOp({.when = when, .value = value}), {both[0], both[1]});
}

}  // namespace

Expression where(const Expression& condition, const Expression& a, const Expression& b) {
  const std::vector<Expression> all = expanded_to_common("where", {condition, a, b});
  return emit(SelectOp(), {all[0], all[1], all[2]});
}
Expression where(const Expression& condition, const Expression& a, double b) {
  return select(condition, true, a, b);
}
Expression where(const Expression& condition, double a, const Expression& b) {
  return select(condition, false, b, a);
}

}  // namespace linnet
