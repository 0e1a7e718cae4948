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
    case Direction::grad_input: break;
    case Direction::grad_weight: return {bytes(image_in()), bytes(image_out()), bytes(weights())};
  }
  const bool back = direction == Direction::grad_input;
  std::vector<std::size_t> all{bytes(back ? image_out() : image_in()), bytes(weights())};
  if (bias) all.push_back(bytes(co));
  if (residual) all.push_back(bytes(image_out()));
  const auto vector = [](std::int64_t channels) {
    return sizeof(float) * static_cast<std::size_t>(channels);
  };
  if (norm && back) all.push_back(bytes(image_in()));
  if (norm) all.insert(all.end(), 4, vector(c));
  all.push_back(bytes(back ? rows_in() * c : image_out()));
  if (sums) all.insert(all.end(), 2, vector(back ? c : co));
  return all;
}

std::string CudnnConvolution::describe() const {
  const std::string normed =
      norm ? fmt::format("norm{} {}, ", norm_relu ? " + relu" : "", epsilon) : std::string();
  const auto of_row = [](std::string_view image, std::int64_t row) {
    return row > 0 ? fmt::format(", {} of {} channels", image, row) : std::string();
  };
  return fmt::format(
      "{}{} x=({}, {}, {}, {}), w=({}, {}, {}, {}), y=({}, {}, {}, {}), stride ({}, {}), dilation "
      "({}, {}), padding ({}, {}, {}, {}), groups {}{}{}{}{}{}{}, {}",
      normed, kDirections.at(index(direction)), n, h, w, c, co, kh, kw, c / groups, n, oh, ow, co,
      stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_bottom, pad_left, pad_right, groups,
      bias ? " + bias" : "", residual ? " + residual" : "", kTails.at(index(tail)),
      sums ? " + sums" : "", of_row("x", x_row), of_row("y", y_row),
      enum_names(math).at(index(math)));
}

}  // namespace linnet::cuda
