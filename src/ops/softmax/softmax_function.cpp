// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "nn/expression/support.h"
#include "ops/softmax/softmax.h"

namespace linnet {
namespace {

/// f along the last axis, for any axis.
template <class F>
Expression along_last(std::string_view function, const Expression& x, std::int64_t axis, F f) {
  axis = checked_axis(function, x, axis);
  const std::int64_t last = rank_of(x) - 1;
  if (axis == last) return f(x);
  Axes swap;
  for (std::int64_t i = 0; i <= last; ++i) swap.push_back(i);
  std::swap(swap[static_cast<std::size_t>(axis)], swap.back());
  return transpose(f(transpose(x, swap)), swap);
}

}  // namespace

Expression softmax(const Expression& x, std::int64_t axis) {
  return along_last("softmax", x, axis,
                    [](const Expression& last) { return emit(SoftmaxOp(), {last}); });
}
Expression log_softmax(const Expression& x, std::int64_t axis) {
  return along_last("log_softmax", x, axis,
                    [](const Expression& last) { return emit(LogSoftmaxOp(), {last}); });
}

}  // namespace linnet
