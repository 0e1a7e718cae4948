// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cudnn_convolution.h"

#include <fmt/format.h>

namespace linnet::cuda {
namespace {

constexpr std::array<std::string_view, 3> kDirections{"conv2d", "conv2d_grad_input",
                                                      "conv2d_grad_weight"};
constexpr std::array<std::string_view, 5> kTails{"", " + relu", " + tanh", " + sigmoid", " + gelu"};

template <class E>
std::size_t index(E value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

std::vector<std::size_t> CudnnConvolution::operand_bytes() const {
  const std::size_t size = operand_type(math) == DType::f32 ? 4 : 2;
  const auto bytes = [&](std::int64_t elements) {
    return size * static_cast<std::size_t>(elements);
  };
  switch (direction) {
    case Direction::forward: break;
    case Direction::grad_input: return {bytes(image_out()), bytes(weights()), bytes(image_in())};
    case Direction::grad_weight: return {bytes(image_in()), bytes(image_out()), bytes(weights())};
  }
  std::vector<std::size_t> all{bytes(image_in()), bytes(weights())};
  if (bias) all.push_back(bytes(co));
  if (residual) all.push_back(bytes(image_out()));
  all.push_back(bytes(image_out()));
  return all;
}

std::string CudnnConvolution::describe() const {
  return fmt::format(
      "{} x=({}, {}, {}, {}), w=({}, {}, {}, {}), y=({}, {}, {}, {}), stride ({}, {}), dilation "
      "({}, {}), padding ({}, {}, {}, {}), groups {}{}{}{}, {}",
      kDirections.at(index(direction)), n, h, w, c, co, kh, kw, c / groups, n, oh, ow, co, stride_h,
      stride_w, dilation_h, dilation_w, pad_top, pad_bottom, pad_left, pad_right, groups,
      bias ? " + bias" : "", residual ? " + residual" : "", kTails.at(index(tail)),
      enum_names(math).at(index(math)));
}

}  // namespace linnet::cuda
