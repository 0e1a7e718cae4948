// SPDX-License-Identifier: Apache-2.0
#include <linnet/types.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/check.h"

namespace linnet {
namespace {

struct DTypeInfo {
  std::string_view name;
  std::size_t size;
};
constexpr std::array<DTypeInfo, 8> kDTypes{{{"f32", 4},
                                            {"f64", 8},
                                            {"bf16", 2},
                                            {"u8", 1},
                                            {"i32", 4},
                                            {"f16", 2},
                                            {"i64", 8},
                                            {"bool", 1}}};

const DTypeInfo& info(DType dtype) { return kDTypes.at(static_cast<std::size_t>(dtype)); }

}  // namespace

std::size_t size_of(DType dtype) { return info(dtype).size; }

std::string_view to_string(DType dtype) { return info(dtype).name; }

DType dtype_from_string(std::string_view name) {
  for (std::size_t i = 0; i < kDTypes.size(); ++i) {
    if (kDTypes[i].name == name) return static_cast<DType>(i);
  }
  fail("unknown element type '{}'; expected f32, f64, bf16, u8, i32, f16, i64 or bool", name);
}

Shape::Shape(std::span<const std::int64_t> dims) : rank_(dims.size()) {
  if (dims.size() > kMostAxes) {
    fail("expected a shape of at most {} axes; got {}", kMostAxes, dims.size());
  }
  std::ranges::copy(dims, dims_.begin());
}

std::int64_t Shape::operator[](int axis) const {
  const int rank = static_cast<int>(rank_);
  const int index = axis < 0 ? axis + rank : axis;
  LINNET_ASSERT(index >= 0 && index < rank);
  return dims_[static_cast<std::size_t>(index)];
}

std::int64_t Shape::elements() const {
  std::int64_t product = 1;
  for (std::int64_t dim : dims()) {
    if (__builtin_mul_overflow(product, dim, &product)) {  // the text is made only if it is needed
      fail("the shape {} has more than 2^63 - 1 elements", to_string(*this));
    }
  }
  return product;
}

Shape Shape::with_batch(std::int64_t batch) const { return sample().batched(batch); }

Shape Shape::sample() const {
  LINNET_ASSERT(rank_ > 0);
  return Shape(dims().subspan(1));
}

Shape Shape::batched(std::int64_t batch) const {
  std::array<std::int64_t, kMostAxes + 1> dims{batch};
  std::ranges::copy(this->dims(), dims.begin() + 1);
  return Shape(std::span(dims).first(rank_ + 1));
}

std::string to_string(const Shape& shape) {
  return fmt::format("({})", fmt::join(shape.dims(), ", "));
}

}  // namespace linnet
