// SPDX-License-Identifier: Apache-2.0
#include "graph/value.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"

namespace linnet {

namespace {

[[noreturn]] void fail_too_large(const ValueType& type) {
  fail("a value of {} has too many bytes to address", to_string(type));
}

/// Returns at most 2^47, also where addresses have 32 bits: a template's values have the bytes of a
/// large batch, which are never allocated.
std::uint64_t possible_bytes(const ValueType& type) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 47;
  std::uint64_t bytes = size_of(type.dtype);
  for (const std::int64_t dim : type.shape.dims()) {
    // The texts are made only where they are needed: programs ask for sizes in every run.
    if (dim < 0) fail("a value of {} has a negative dimension", to_string(type));
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(dim), &bytes) || bytes > kMost) {
      fail_too_large(type);
    }
  }
  return bytes;
}

}  // namespace

std::size_t ValueType::bytes() const {
  const std::uint64_t bytes = possible_bytes(*this);
  if (bytes > kMostBytes) fail_too_large(*this);
  return static_cast<std::size_t>(bytes);
}

void require_possible(const ValueType& type) { possible_bytes(type); }

void require_f32(std::span<const ValueType> types) {
  if (std::ranges::all_of(types, [](const ValueType& t) { return t.dtype == DType::f32; })) return;
  std::vector<std::string> texts;
  for (const ValueType& type : types) texts.push_back(to_string(type));
  fail("expected f32 operands; got {}", fmt::join(texts, ", "));
}

}  // namespace linnet
