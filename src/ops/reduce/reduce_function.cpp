// SPDX-License-Identifier: Apache-2.0
#include "nn/expression/support.h"
#include "ops/reduce/reduce.h"

namespace linnet {
namespace {

/// Over these axes of a sample; a sample of one number is its reduction already.
Expression reduce(Reduction kind, const Expression& x, const Axes& axes, bool keep_dims) {
  const std::string_view name = enum_names(kind)[static_cast<std::size_t>(kind)];
  Axes whole = checked_axes(name, x, axes);
  if (whole.empty()) return x;
  for (std::int64_t& axis : whole) ++axis;  // after the batch
  return per_sample(x, [&](const Expression& one) {
    return emit(ReduceOp({.kind = kind, .axes = whole, .keep_dims = keep_dims}), {one});
  });
}

}  // namespace

Expression sum(const Expression& x, Axes axes, bool keep_dims) {
  return reduce(Reduction::sum, x, axes, keep_dims);
}
Expression mean(const Expression& x, Axes axes, bool keep_dims) {
  return reduce(Reduction::mean, x, axes, keep_dims);
}
Expression max(const Expression& x, Axes axes, bool keep_dims) {
  return reduce(Reduction::max, x, axes, keep_dims);
}
Expression min(const Expression& x, Axes axes, bool keep_dims) {
  return reduce(Reduction::min, x, axes, keep_dims);
}

}  // namespace linnet
