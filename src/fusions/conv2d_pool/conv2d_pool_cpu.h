// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace linnet::cpu {

/// One sample of a convolution of few channels at stride 1 with 2x2 maximum pooling. Its image has
/// its padding around it already, so that no loop asks where the border is.
struct ConvPoolSample {
  std::int64_t pooled_h = 0;
  std::int64_t pooled_w = 0;
  std::int64_t row = 0;           ///< floats of a row of the padded image
  std::int64_t channels = 0;      ///< C
  std::int64_t out_channels = 0;  ///< a multiple of 8
  std::int64_t kernel_h = 0;
  std::int64_t kernel_row = 0;  ///< KW * C: products of one row of the kernel
  bool relu = false;

  std::int64_t taps() const { return kernel_h * kernel_row; }
};

/// Returns whether the loops exist for this kernel.
bool conv_pool_has(std::int64_t kernel_h, std::int64_t kernel_row);

/// Copies `rows` rows of `width` floats to rows that begin `to_row` floats apart.
void put_inside(const float* x, std::int64_t rows, std::int64_t width, float* to,
                std::int64_t to_row);

/// w (taps, C_out), b (C_out): y and winner (PH, PW, C_out).
void conv_pool_forward(const ConvPoolSample& sample, const float* image, const float* w,
                       const float* b, float* y, std::uint8_t* winner);

/// Floats after the image that conv_pool_backward() may read, whatever they are.
inline constexpr int kConvPoolSlack = 7;

/// Adds one sample's part to dw (taps, C_out) and db (C_out). `scratch` takes another such image,
/// with its slack.
void conv_pool_backward(const ConvPoolSample& sample, const float* image, const float* dy,
                        const float* y, const std::uint8_t* winner, float* dw, float* db,
                        float* scratch);

/// Returns whether there are loops for images of many channels, on this processor.
bool wide_conv_pool_has(std::int64_t kernel_h, std::int64_t kernel_w, std::int64_t channels);

/// As conv_pool_forward(), with w (C_out / 8, taps, C / 2, 8 filters, 2 channels) and b (C_out, 2),
/// every second float of which is 0.
void wide_conv_pool_forward(const ConvPoolSample& sample, const float* image, const float* w,
                            const float* b, float* y, std::uint8_t* winner);

/// Adds one sample's part to dw (C_out, taps, C) and db (C_out).
void wide_conv_pool_backward(const ConvPoolSample& sample, const float* image, const float* dy,
                             const float* y, const std::uint8_t* winner, float* dw, float* db);

/// Adds to dx, an image with its padding, what w (C_out, taps, C) gives.
void wide_conv_pool_input(const ConvPoolSample& sample, const float* w, const float* dy,
                          const float* y, const std::uint8_t* winner, float* dx);

}  // namespace linnet::cpu
