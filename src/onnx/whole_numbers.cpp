// SPDX-License-Identifier: Apache-2.0
#include "onnx/whole_numbers.h"

#include <cmath>

#include "base/check.h"

namespace linnet::onnx {
namespace {

bool has_sign(Type type) {
  return is_float(type) || type == Type::i8 || type == Type::i16 || type == Type::i32 ||
         type == Type::i64;
}

}  // namespace

void require_numbers(const NodeImport& n, Type type) {
  if (type != Type::boolean && type != Type::string && bytes_of(type) > 0) return;
  n.refuse("arithmetic of {} is not supported", name_of(type));
}

Expression towards_zero(const Expression& x) { return sign(x) * floor(abs(x)); }

Expression wrapped(const Expression& e, Type type) {
  if (is_float(type) || type == Type::i32 || type == Type::i64) return e;
  const double span = std::ldexp(1.0, static_cast<int>(8 * bytes_of(type)));
  const double low = has_sign(type) ? -span / 2 : 0;
  return e - floor((e - low) * (1 / span)) * span;
}

Expression product_of_16_bits(const Expression& a, const Expression& b) {
  const Expression upper = floor(a * (1.0 / 256));  // the upper byte of a
  const Expression of_upper = wrapped(upper * b, Type::u8) * 256;
  return of_upper + wrapped((a - upper * 256) * b, Type::u16);
}

Expression ratio_of_whole(const Expression& a, const Expression& b) {
  const Shape x = a.shape();
  const Shape y = b.shape();
  const bool repeated = !a.batched() || x.rank() < y.rank() || x.elements() < y.elements();
  return (repeated ? a + b * 0 : a) / b;
}

Expression whole_quotient(const Expression& a, const Expression& b) {
  return towards_zero(ratio_of_whole(a, b));
}

Expression whole_power(const Expression& power) {
  const Expression nearest = round(power);
  const Expression is_near = abs(power - nearest) <= abs(power) * 0x1p-21;
  return where(is_near, nearest, towards_zero(power));
}

Expression whole_cast(const Expression& x, Type from, Type to) {
  if (is_float(from)) return towards_zero(x);
  const bool wider = bytes_of(to) > bytes_of(from) && (has_sign(to) || !has_sign(from));
  return to == from || wider || from == Type::boolean ? x : wrapped(x, to);
}

}  // namespace linnet::onnx
