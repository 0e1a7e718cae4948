// SPDX-License-Identifier: Apache-2.0
#include "nn/expression/support.h"
#include "ops/arg_reduce/arg_reduce.h"

namespace linnet {
namespace {

Expression arg_reduce(ArgReduction kind, std::string_view function, const Expression& x,
                      std::int64_t axis) {
  const int whole = whole_axis(function, x, axis);
  return per_sample(x, [&](const Expression& one) {
    return emit(ArgReduceOp({.kind = kind, .axis = whole}), {one});
  });
}

}  // namespace

Expression argmax(const Expression& x, std::int64_t axis) {
  return arg_reduce(ArgReduction::max, "argmax", x, axis);
}
Expression argmin(const Expression& x, std::int64_t axis) {
  return arg_reduce(ArgReduction::min, "argmin", x, axis);
}

}  // namespace linnet
