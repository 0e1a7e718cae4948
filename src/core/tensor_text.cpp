// SPDX-License-Identifier: Apache-2.0
#include <linnet/tensor.h>

#include "base/check.h"

namespace linnet {
namespace {

constexpr std::int64_t kMostShown = 8;  // along an axis; of more, so many halves from both ends

/// Appends the elements of `tensor` from the axis on, in brackets.
template <class T>
void append(std::string& text, std::span<const T> elements, std::span<const std::int64_t> dims) {
  if (dims.empty()) {
    text += fmt::format("{}", elements[0]);
    return;
  }
  const std::int64_t count = dims[0];
  const std::size_t stride = count == 0 ? 0 : elements.size() / static_cast<std::size_t>(count);
  text += '[';
  for (std::int64_t i = 0; i < count; ++i) {
    if (i > 0) text += ", ";
    if (count > kMostShown && i == kMostShown / 2) {
      text += "..., ";
      i = count - kMostShown / 2;
    }
    append(text, elements.subspan(static_cast<std::size_t>(i) * stride, stride), dims.subspan(1));
  }
  text += ']';
}

}  // namespace

std::string to_string(const Tensor& tensor) {
  std::string text = fmt::format("{} {} ", to_string(tensor.dtype()), to_string(tensor.shape()));
  const bool half = tensor.dtype() == DType::f16 || tensor.dtype() == DType::bf16;
  // A bool is made one: borrowed memory may hold other bytes.
  const Tensor host = half                               ? tensor.to(DType::f32)
                      : tensor.dtype() == DType::boolean ? tensor.to(DType::u8).to(DType::boolean)
                                                         : tensor.to_host();
  const auto add = [&]<class T>(T) {
    append(text, std::span<const T>(host.as<T>()), host.shape().dims());
  };
  switch (host.dtype()) {
    case DType::f64: add(double{}); break;
    case DType::u8: add(std::uint8_t{}); break;
    case DType::i32: add(std::int32_t{}); break;
    case DType::i64: add(std::int64_t{}); break;
    case DType::boolean: add(bool{}); break;
    default: add(float{});
  }
  return text;
}

}  // namespace linnet
