// SPDX-License-Identifier: Apache-2.0
#include "data/lengths.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace linnet {
namespace {

template <class T>
void check(std::span<const T> lengths, std::string_view column, std::int64_t least,
           std::int64_t steps) {
  const auto bad =
      std::ranges::find_if(lengths, [&](T length) { return length < least || length > steps; });
  if (bad == lengths.end()) return;
  fail<DataError>("the length of sample {} in the column '{}' is {}; expected {} to {}",
                  bad - lengths.begin(), column, *bad, least, steps);
}

}  // namespace

void check_lengths(std::span<const std::int64_t> lengths, std::string_view column,
                   std::int64_t least, std::int64_t steps) {
  check(lengths, column, least, steps);
}

void check_lengths(std::span<const std::int32_t> lengths, std::string_view column,
                   std::int64_t least, std::int64_t steps) {
  check(lengths, column, least, steps);
}

std::span<const std::int32_t> lengths_in(const Column& column) {
  if (!column.has_lengths()) return {};
  return column.lengths.as<std::int32_t>();
}

Tensor lengths_of(const Tensor& ids, std::int32_t pad) {
  require(ids.dtype() == DType::i32 && ids.shape().rank() == 2 && ids.shape()[1] > 0,
          "expected ids i32 (N, steps); got {} {}", to_string(ids.dtype()), to_string(ids.shape()));
  const std::span<const std::int32_t> all = ids.as<std::int32_t>();
  const auto steps = static_cast<std::size_t>(ids.shape()[1]);
  std::vector<std::int32_t> lengths;
  for (std::size_t row = 0; row < all.size(); row += steps) {
    std::size_t length = steps;
    while (length > 1 && all[row + length - 1] == pad) --length;
    lengths.push_back(static_cast<std::int32_t>(length));
  }
  return Tensor(std::move(lengths));
}

Tensor lengths_of_mask(const Tensor& mask) {
  require(mask.shape().rank() == 2 && mask.shape()[1] > 0, "expected a mask (N, steps); got {}",
          to_string(mask.shape()));
  const Tensor numbers = mask.to(DType::f32);
  const std::span<const float> all = numbers.as<float>();
  const auto steps = static_cast<std::size_t>(mask.shape()[1]);
  std::vector<std::int32_t> lengths;
  for (std::size_t row = 0; row < all.size(); row += steps) {
    const std::span<const float> one = all.subspan(row, steps);
    const auto end = std::ranges::find_if(one, [](float step) { return step != 1; });
    require<DataError>(end != one.begin() &&
                           std::all_of(end, one.end(), [](float step) { return step == 0; }),
                       "row {} of the mask must be ones and then zeros, at least one 1",
                       row / steps);
    lengths.push_back(static_cast<std::int32_t>(end - one.begin()));
  }
  return Tensor(std::move(lengths));
}

}  // namespace linnet
