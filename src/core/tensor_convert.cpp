// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "core/half.h"
#include "core/tensor_memory.h"

namespace linnet {
namespace {

/// Calls `f` with a function (index) -> number of the elements, of the type that holds them all.
template <class F>
void with_elements(const Tensor& tensor, const F& f) {
  const std::byte* data = tensor.bytes().data();
  const auto load = [data]<class T>(T, auto convert) {
    return [data, convert](std::size_t i) {
      T element;
      std::memcpy(&element, data + i * sizeof(T), sizeof(T));
      return convert(element);
    };
  };
  constexpr auto kSame = [](auto x) { return x; };
  switch (tensor.dtype()) {
    case DType::f32: return f(load(float{}, kSame));
    case DType::f64: return f(load(double{}, kSame));
    case DType::u8: return f(load(std::uint8_t{}, kSame));
    case DType::i32: return f(load(std::int32_t{}, kSame));
    case DType::i64: return f(load(std::int64_t{}, kSame));
    case DType::f16: return f(load(std::uint16_t{}, float_of_f16));
    case DType::bf16: return f(load(std::uint16_t{}, float_of_bf16));
    case DType::boolean:
      return f(load(std::uint8_t{}, [](std::uint8_t b) { return std::uint8_t{b != 0}; }));
  }
}

template <std::integral To, class From>
bool holds(From x) {
  if constexpr (std::integral<From>) {
    return std::in_range<To>(x);
  } else {
    // Both bounds are exact: powers of two, the upper one beyond the type.
    const double cut = std::trunc(static_cast<double>(x));
    const double above = std::ldexp(1.0, std::numeric_limits<To>::digits);
    return cut >= static_cast<double>(std::numeric_limits<To>::min()) && cut < above;
  }
}

/// As a float that may be rounded once more, to 16 bits.
template <class From>
float once_rounded(From x) {
  if constexpr (std::same_as<From, float>) return x;
  if constexpr (std::same_as<From, double>) return odd_float_of(x);
  return odd_float_of(static_cast<std::int64_t>(x));
}

template <class To, class Elements, class Convert>
void fill(Tensor& to, const Elements& elements, const Convert& convert) {
  std::byte* data = to.writable_bytes().data();
  const auto count = static_cast<std::size_t>(to.elements());
  for (std::size_t i = 0; i < count; ++i) {
    const To element = convert(elements(i), i);
    std::memcpy(data + i * sizeof(To), &element, sizeof(To));
  }
}

template <std::integral To, class Elements>
void fill_integers(Tensor& to, const Elements& elements) {
  fill<To>(to, elements, [&](auto x, std::size_t i) {
    if (!holds<To>(x)) {
      fail("element {} is {}, which {} cannot hold", i, x, to_string(to.dtype()));
    }
    return static_cast<To>(x);
  });
}

}  // namespace

Tensor Tensor::to(DType dtype) const {
  if (dtype == dtype_) return *this;
  const Tensor from = to_host();
  Tensor result = uninitialized_tensor(dtype, shape_);
  with_elements(from, [&](const auto& elements) {
    switch (dtype) {
      case DType::f32:
        return fill<float>(result, elements, [](auto x, auto) { return static_cast<float>(x); });
      case DType::f64:
        return fill<double>(result, elements, [](auto x, auto) { return static_cast<double>(x); });
      case DType::f16:
        return fill<std::uint16_t>(result, elements,
                                   [](auto x, auto) { return f16_of(once_rounded(x)); });
      case DType::bf16:
        return fill<std::uint16_t>(result, elements,
                                   [](auto x, auto) { return bf16_of(once_rounded(x)); });
      case DType::boolean:
        return fill<std::uint8_t>(result, elements,
                                  [](auto x, auto) { return std::uint8_t{x != 0}; });
      case DType::u8: return fill_integers<std::uint8_t>(result, elements);
      case DType::i32: return fill_integers<std::int32_t>(result, elements);
      case DType::i64: return fill_integers<std::int64_t>(result, elements);
    }
  });
  return result;
}

}  // namespace linnet
