// SPDX-License-Identifier: Apache-2.0
#include "nn/expression/support.h"
#include "ops/compare/compare.h"

namespace linnet {
namespace {

Expression compare(Comparison kind, const Expression& a, const Expression& b) {
  if (whole_shape(a) == whole_shape(b)) return emit(CompareOp({.kind = kind, .value = 0}), {a, b});
  const std::string_view name = enum_names(kind)[static_cast<std::size_t>(kind)];
  require(a.dtype() == DType::f32 && b.dtype() == DType::f32,
          "[{}] expected f32 operands, or i32 of one shape; got {} {} and {} {}", name,
          to_string(a.dtype()), to_string(a.shape()), to_string(b.dtype()), to_string(b.shape()));
  const std::vector<Expression> both = expanded_to_common(name, {a, b});
  return emit(CompareOp({.kind = kind, .value = 0}), {both[0], both[1]});
}

Expression compare(Comparison kind, const Expression& a, double b) {
  return emit(CompareOp({.kind = kind, .value = b}), {a});
}

}  // namespace

Expression operator<(const Expression& a, const Expression& b) {
  return compare(Comparison::less, a, b);
}
Expression operator<=(const Expression& a, const Expression& b) {
  return compare(Comparison::less_equal, a, b);
}
Expression operator>(const Expression& a, const Expression& b) {
  return compare(Comparison::greater, a, b);
}
Expression operator>=(const Expression& a, const Expression& b) {
  return compare(Comparison::greater_equal, a, b);
}
Expression equal(const Expression& a, const Expression& b) {
  return compare(Comparison::equal, a, b);
}
Expression not_equal(const Expression& a, const Expression& b) {
  return compare(Comparison::not_equal, a, b);
}
Expression operator<(const Expression& a, double b) { return compare(Comparison::less, a, b); }
Expression operator<=(const Expression& a, double b) {
  return compare(Comparison::less_equal, a, b);
}
Expression operator>(const Expression& a, double b) { return compare(Comparison::greater, a, b); }
Expression operator>=(const Expression& a, double b) {
  return compare(Comparison::greater_equal, a, b);
}
Expression equal(const Expression& a, double b) { return compare(Comparison::equal, a, b); }
Expression not_equal(const Expression& a, double b) { return compare(Comparison::not_equal, a, b); }

Expression logical_and(const Expression& a, const Expression& b) {
  return not_equal(a, 0) * not_equal(b, 0);
}
Expression logical_or(const Expression& a, const Expression& b) {
  return maximum(not_equal(a, 0), not_equal(b, 0));
}
Expression logical_not(const Expression& x) { return equal(x, 0); }

}  // namespace linnet
