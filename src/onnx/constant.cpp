// SPDX-License-Identifier: Apache-2.0
#include "onnx/constant.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace linnet::onnx {
namespace {

std::int64_t whole(double x) {
  if (std::isnan(x)) return 0;
  if (x >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
  if (x < -0x1p63) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(x);
}

/// As an element of the type would hold it.
double rounded(double x, Type type) {
  switch (type) {
    case Type::f64: return x;
    case Type::boolean: return x != 0 ? 1 : 0;
    case Type::f32:
    case Type::f16:
    case Type::bf16: return static_cast<double>(static_cast<float>(x));
    case Type::i32: return static_cast<double>(static_cast<std::int32_t>(whole(x)));
    case Type::u32: return static_cast<double>(static_cast<std::uint32_t>(whole(x)));
    case Type::u64: return x < 0 ? std::trunc(x) + 0x1p64 : std::trunc(x);
    case Type::u16: return static_cast<double>(static_cast<std::uint16_t>(whole(x)));
    case Type::i16: return static_cast<double>(static_cast<std::int16_t>(whole(x)));
    case Type::u8: return static_cast<double>(static_cast<std::uint8_t>(whole(x)));
    case Type::i8: return static_cast<double>(static_cast<std::int8_t>(whole(x)));
    default: return std::trunc(x);
  }
}

}  // namespace

Constant::Constant(const TensorProto& tensor)
    : name(tensor.name), type_(tensor.type), dims_(tensor.dims), tensor_(&tensor) {
  require<DataError>(bytes_of(type_) > 0 && !tensor.external,
                     "the tensor '{}' of {} is not supported", tensor.name, name_of(type_));
}

Constant::Constant(Type type, Dims dims, std::vector<double> values, std::int64_t most)
    : type_(type), dims_(std::move(dims)) {
  require<DataError>(elements() <= most, "expected a constant of at most {} elements; got {}", most,
                     text_of(dims_));
  LINNET_ASSERT(static_cast<std::int64_t>(values.size()) == elements());
  for (double& value : values) value = rounded(value, type);
  values_ = std::make_shared<const std::vector<double>>(std::move(values));
}

Constant::Constant(const Constant& other, Dims dims) : Constant(other) {
  LINNET_ASSERT(elements_of(dims) == other.elements());
  dims_ = std::move(dims);
}

std::vector<double> Constant::values() const { return values_ ? *values_ : doubles_of(*tensor_); }

std::vector<float> Constant::floats() const {
  if (tensor_ != nullptr) return floats_of(*tensor_);
  std::vector<float> floats(values_->size());
  std::ranges::transform(*values_, floats.begin(), [](double x) { return static_cast<float>(x); });
  return floats;
}

std::vector<std::int64_t> Constant::integers() const {
  std::vector<std::int64_t> integers;
  if (tensor_ != nullptr) {
    require<DataError>(elements() <= kMostComputed, "expected at most {} numbers; got {}",
                       kMostComputed, text_of(dims_));
  }
  for (const double value : values()) integers.push_back(whole(value));
  return integers;
}

ConstantPtr reshaped(const Constant& constant, Dims dims) {
  auto other = std::make_shared<Constant>(constant, std::move(dims));
  if (other->base) other->name += ".turned";  // no axes of the initializer any more
  other->base = nullptr;
  return other;
}

ConstantPtr transposed(const Constant& constant, const std::vector<int>& permutation) {
  Dims dims;
  for (const int axis : permutation)
    dims.push_back(constant.dims()[static_cast<std::size_t>(axis)]);
  const auto other =
      std::make_shared<Constant>(constant.type(), std::move(dims),
                                 permuted(constant.values(), constant.dims(), permutation),
                                 constant.elements());
  other->name = constant.name;
  other->base = constant.base ? constant.base : std::make_shared<const Constant>(constant);
  for (const int axis : permutation) {
    other->turned.push_back(constant.base ? constant.turned[static_cast<std::size_t>(axis)] : axis);
  }
  other->trains = constant.trains;
  other->batch = constant.batch;
  return other;
}

}  // namespace linnet::onnx
