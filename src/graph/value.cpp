// SPDX-License-Identifier: Apache-2.0
#include "graph/value.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"

namespace linnet {

std::size_t ValueType::bytes() const {
  std::size_t bytes = size_of(dtype);
  for (const std::int64_t dim : shape.dims()) {
    // The texts are made only where they are needed: programs ask for sizes in every run.
    if (dim < 0) fail("a value of {} has a negative dimension", to_string(*this));
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(dim), &bytes) ||
        bytes > kMostBytes) {
      fail("a value of {} has too many bytes to address", to_string(*this));
    }
  }
  return bytes;
}

void require_possible(const ValueType& type) { static_cast<void>(type.bytes()); }

void require_f32(std::span<const ValueType> types) {
  if (std::ranges::all_of(types, [](const ValueType& t) { return t.dtype == DType::f32; })) return;
  std::vector<std::string> texts;
  for (const ValueType& type : types) texts.push_back(to_string(type));
  fail("expected f32 operands; got {}", fmt::join(texts, ", "));
}

}  // namespace linnet
