// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and DequantizeLinear: weights become floats, values are rounded as in the file.
#include <linnet/functions.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "onnx/fold.h"
#include "onnx/node_import.h"

namespace linnet::onnx {
namespace {

/// The whole numbers that a type holds.
std::pair<double, double> range_of(Type type) {
  switch (type) {
    case Type::u8: return {0, 255};
    case Type::i8: return {-128, 127};
    case Type::u16: return {0, 65535};
    case Type::i16: return {-32768, 32767};
    default: fail<DataError>("levels of {} are not supported", name_of(type));
  }
}

/// Returns the type of levels: the zero point's, or what an attribute says.
Type level_type(NodeImport& n) {
  const Type asked = static_cast<Type>(n.integer("output_dtype", 0));
  const Type type = n.has(2) ? n.input(2).type() : asked == Type::undefined ? Type::u8 : asked;
  require<DataError>(asked == Type::undefined || asked == type,
                     "output_dtype {} is not that of the zero point, {}", name_of(asked),
                     name_of(type));
  return type;
}

/// Returns the dims under which a scale or a zero point is repeated over x.
Dims repeated_dims(NodeImport& n, const Dims& own, const Dims& x) {
  n.ignore("saturate");
  n.ignore("precision");
  require<DataError>(n.integer("block_size", 0) == 0, "blocks are not supported");
  const std::int64_t given = n.integer("axis", 1);
  if (own.empty() || (own.size() == 1 && own[0] == 1)) return Dims(x.empty() ? 0 : 1, 1);
  const auto axis = static_cast<std::size_t>(n.axis(given, x.size()));
  require<DataError>(own.size() == 1 && own[0] == x[axis],
                     "expected one number, or one for each of axis {} of {}; got {}", axis,
                     text_of(x), text_of(own));
  Dims dims(x.size(), 1);
  dims[axis] = own[0];
  return dims;
}

/// Returns a scale or a zero point beside x: a constant that does not train, or a value.
FileValue beside(NodeImport& n, std::size_t input, const Dims& x, std::string_view role) {
  const FileValue& value = n.input(input);
  if (value.trace) {
    require<DataError>(value.dims().empty() || elements_of(value.dims()) == 1,
                       "expected one number as input {}; got {}", input, text_of(value.dims()));
    Trace t = *n.with_numbers(n.trace(input)).trace;
    repeated_dims(n, {}, x);
    return t;
  }
  const ConstantPtr c = n.constant(input);
  for (const double number : c->values()) {
    require<DataError>(std::isfinite(number) && (input != 1 || number != 0),
                       "expected finite zero points, and finite scales other than 0; got {}",
                       number);
  }
  return made_constant(n, role, repeated_dims(n, c->dims(), x), c->values());
}

void quantize(NodeImport& n) {
  const Trace x = *n.with_numbers(n.trace(0)).trace;
  const Type type = level_type(n);
  const auto [low, high] = range_of(type);
  const Dims dims = dims_of(x);
  const Aligned scaled = n.align({x, beside(n, 1, dims, "scale")});
  Trace y{round(scaled.operands[0] / scaled.operands[1]), scaled.axes, type, 0};
  if (n.has(2)) {
    const Aligned moved = n.align({y, beside(n, 2, dims, "zero")});
    y = {moved.operands[0] + moved.operands[1], moved.axes, type, 0};
  }
  y.e = clip(y.e, low, high);
  n.give(std::move(y));
}

void dequantize(NodeImport& n) {
  Trace x = *n.with_numbers(n.trace(0)).trace;
  const Dims dims = dims_of(x);
  if (n.has(2)) {
    const Aligned moved = n.align({x, beside(n, 2, dims, "zero")});
    x = {moved.operands[0] - moved.operands[1], moved.axes, x.type, 0};
  }
  const Aligned scaled = n.align({x, beside(n, 1, dims, "scale")});
  n.ignore("output_dtype");
  n.give(Trace{scaled.operands[0] * scaled.operands[1], scaled.axes, Type::f32, 0});
}

/// Levels between the least and the largest of all numbers, which are those of one sample.
void quantize_by_range(NodeImport& n) {
  const Trace x = n.floats(0);
  require<DataError>(batch_axis(x) < 0,
                     "takes its scale from all samples of a batch, so that a sample's result would "
                     "depend on the others; --one-sample reads it for one");
  std::vector<int> order;
  for (int i = 0; i < static_cast<int>(x.axes.size()); ++i) order.push_back(i);
  const Expression e = arranged(x, order);
  const Expression most = maximum(max(e), 0);
  const Expression least = minimum(min(e), 0);
  const Expression width = (most - least) * (1.0 / 255);
  const Expression scale = where(equal(width, 0), 1, width);
  const Expression zero = clip(round(-least / scale), 0, 255);
  const Trace y = from_rows(x, clip(round(e / scale) + zero, 0, 255), order);
  n.give(Trace{y.e, y.axes, Type::u8, 0});
  n.give(Trace{scale, {}, Type::f32, 0}, 1);
  n.give(Trace{zero, {}, Type::u8, 0}, 2);
}

/// Returns a scale's or a zero point's number for each of x's.
std::vector<double> spread(NodeImport& n, std::size_t input, const Dims& x) {
  const Constant& c = *n.constant(input);
  Dims dims = repeated_dims(n, c.dims(), x);
  return broadcast(c.values(), dims, x);
}

/// Gives a constant under a name that its weight keeps: an initializer's, without the end that
/// quantization gave it.
void give_weight(NodeImport& n, Type type, std::vector<double> values) {
  const Constant& from = *n.constant(0);
  require<DataError>(!from.batch, "is not supported on the batch size");
  auto made = std::make_shared<Constant>(type, from.dims(), std::move(values), from.elements());
  made->trains = is_float(type);
  constexpr std::string_view kEnd = "_quantized";
  if (from.name.ends_with(kEnd)) {
    made->name = n.network().name_of_made(from.name.substr(0, from.name.size() - kEnd.size()));
  }
  n.give(ConstantPtr(std::move(made)));
}

void fold_quantize(NodeImport& n) {
  const Type type = level_type(n);
  const auto [low, high] = range_of(type);
  std::vector<double> values = n.constant(0)->values();
  const Dims& dims = n.constant(0)->dims();
  const std::vector<double> scales = spread(n, 1, dims);
  const std::vector<double> zeros =
      n.has(2) ? spread(n, 2, dims) : std::vector<double>(values.size(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float ratio = static_cast<float>(values[i]) / static_cast<float>(scales[i]);
    values[i] = std::clamp(static_cast<double>(std::nearbyint(ratio)) + zeros[i], low, high);
    require<DataError>(!std::isnan(values[i]), "expected finite numbers and scales");
  }
  give_weight(n, type, std::move(values));
}

void fold_dequantize(NodeImport& n) {
  std::vector<double> values = n.constant(0)->values();
  const Dims& dims = n.constant(0)->dims();
  const std::vector<double> scales = spread(n, 1, dims);
  const std::vector<double> zeros =
      n.has(2) ? spread(n, 2, dims) : std::vector<double>(values.size(), 0);
  const bool wide = n.input(0).type() == Type::i32;
  for (std::size_t i = 0; i < values.size(); ++i) {
    require<DataError>(!wide || zeros[i] == 0,
                       "zero points of INT32 other than 0 are not supported");
    values[i] = (values[i] - zeros[i]) * scales[i];
    require<DataError>(std::isfinite(values[i]), "expected finite numbers and scales");
  }
  n.ignore("output_dtype");
  give_weight(n, Type::f32, std::move(values));
}

}  // namespace

void add_quantized(Operators& all) {
  all["QuantizeLinear"] = {quantize, "to 8 and 16 bits; one scale, or one for each of an axis"};
  all["DequantizeLinear"] = {dequantize, "one scale, or one for each of an axis"};
  all["DynamicQuantizeLinear"] = {quantize_by_range, "of one sample (--one-sample)"};
}

void add_quantized_folds(Folds& f) {
  f["QuantizeLinear"] = fold_quantize;
  f["DequantizeLinear"] = fold_dequantize;
}

}  // namespace linnet::onnx
