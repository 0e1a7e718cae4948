// SPDX-License-Identifier: Apache-2.0
#include "c_api/arrays.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "c_api/errors.h"

namespace linnet::c_api {
namespace {

/// A type of the interface, and the one that networks take instead, if another.
std::pair<DType, std::optional<DType>> type_of(std::int32_t type, std::string_view name) {
  switch (type) {
    case LINNET_F32: return {DType::f32, {}};
    case LINNET_F64: return {DType::f64, DType::f32};
    case LINNET_U8: return {DType::u8, {}};
    case LINNET_I32: return {DType::i32, {}};
    case LINNET_I64: return {DType::i64, DType::i32};
    default: fail("the array '{}' has the type {}; expected a linnet_type, 0 to 4", name, type);
  }
}

}  // namespace

std::span<const linnet_array> arrays_of(const linnet_array* arrays, std::int32_t count,
                                        std::string_view what) {
  require(count >= 1, "expected a number of {} of at least 1; got {}", what, count);
  need(arrays, what, "arrays");
  return {arrays, static_cast<std::size_t>(count)};
}

Column column_of(const linnet_array& array, const std::string& name) {
  const std::string own = array.name != nullptr ? array.name : name;
  require(array.rank >= 1 && array.rank <= LINNET_MAX_DIMS,
          "the array '{}' has the rank {}; expected 1 to {}", own, array.rank, LINNET_MAX_DIMS);
  require(array.dims != nullptr, "the array '{}' has 'dims' NULL; expected {} numbers", own,
          array.rank);
  require(array.data != nullptr, "the array '{}' has 'data' NULL; expected its elements", own);
  const Shape shape(std::span(array.dims, static_cast<std::size_t>(array.rank)));
  for (const std::int64_t dim : shape.dims()) {
    require(dim >= 1, "the array '{}' has the shape {}; expected dims of at least 1", own,
            to_string(shape));
  }
  const auto [type, other] = type_of(array.type, own);
  const auto* data = static_cast<const std::byte*>(array.data);
  const std::int64_t elements = shape.elements();
  require(static_cast<std::uint64_t>(elements) == array.bytes / size_of(type) &&
              array.bytes % size_of(type) == 0,
          "the array '{}', {} {}, needs {} elements of {} bytes; got {} bytes", own,
          to_string(type), to_string(shape), elements, size_of(type), array.bytes);
  const Tensor tensor = Tensor::borrow(type, shape, {data, array.bytes});
  return {.name = own, .data = other ? tensor.to(*other) : tensor};
}

Dataset dataset_of(const Network& network, std::span<const linnet_array> inputs,
                   std::span<const linnet_array> targets) {
  std::vector<Column> x;
  std::vector<Column> y;
  for (const linnet_array& array : inputs) {
    x.push_back(column_of(array, network.input_names().front()));
  }
  for (const linnet_array& array : targets) {
    y.push_back(column_of(array, network.output_names().front()));
  }
  return {std::move(x), std::move(y)};
}

}  // namespace linnet::c_api
