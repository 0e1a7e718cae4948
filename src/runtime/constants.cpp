// SPDX-License-Identifier: Apache-2.0
#include "runtime/constants.h"

#include <algorithm>

#include "base/check.h"

namespace linnet {
namespace {

template <class T>
void fill(std::byte* bytes, const ValueInfo& info) {
  T* to = reinterpret_cast<T*>(bytes);
  std::fill_n(to, info.type.shape.elements(), static_cast<T>(info.fill));
  std::ranges::transform(info.elements, to, [](double x) { return static_cast<T>(x); });
}

void fill_constant(std::byte* to, const ValueInfo& info) {
  switch (info.type.dtype) {
    case DType::f32: return fill<float>(to, info);
    case DType::f64: return fill<double>(to, info);
    case DType::i32: return fill<std::int32_t>(to, info);
    case DType::u8: return fill<std::uint8_t>(to, info);
    default: break;
  }
  fail("constants of type {} are not supported", to_string(info.type.dtype));
}

}  // namespace

std::vector<std::byte> constant_bytes(const Plan& plan) {
  std::vector<std::byte> bytes(plan.bytes[static_cast<std::size_t>(Storage::constant)]);
  for (std::size_t id = 0; id < plan.values.size(); ++id) {
    const ValueInfo& info = plan.graph.info(Value{static_cast<int>(id)});
    if (info.storage == Storage::constant) {
      fill_constant(bytes.data() + plan.values[id].offset, info);
    }
  }
  return bytes;
}

}  // namespace linnet
