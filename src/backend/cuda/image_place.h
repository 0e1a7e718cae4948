// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace linnet::cuda {

/// Where an element of images (N, height, width, channels) is.
template <class Int>
struct ImagePlace {
  Int n, row, column, c;
};

/// Returns the place of element `index`, with three divisions in Int.
template <class Int>
constexpr ImagePlace<Int> image_place(Int index, Int height, Int width, Int channels) {
  const Int pixel = index / channels;
  const Int line = pixel / width;
  const Int n = line / height;
  return {n, line - n * height, pixel - line * width, index - pixel * channels};
}

}  // namespace linnet::cuda
