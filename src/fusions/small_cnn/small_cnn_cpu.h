// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace linnet::cpu {

/// Samples that go through all layers together, at most: what they need of the dense layer's
/// weights and of its gradient is read once for all of them.
inline constexpr int kSmallCnnSamples = 8;

/// A 3x3 convolution of one channel at stride 1, 2x2 maximum pooling, and a dense layer. Images
/// have their padding around them.
struct SmallCnnLoops {
  std::int64_t pooled_h = 0;
  std::int64_t pooled_w = 0;
  std::int64_t row = 0;      ///< floats of a row of a padded image
  std::int64_t image = 0;    ///< floats from one padded image to the next, kSmallCnnSlack included
  std::int64_t filters = 0;  ///< a multiple of 16
  std::int64_t classes = 0;
  bool relu = false;

  std::int64_t features() const { return pooled_h * pooled_w * filters; }
};

/// Floats after an image that small_cnn_pool() may read, whatever they are.
inline constexpr std::int64_t kSmallCnnSlack = 48;

/// Floats of a kernel of each filter as small_cnn_pool() takes it.
inline constexpr std::int64_t kSmallCnnPoints = 16;

/// Returns whether this processor has the loops.
bool small_cnn_has();

/// Writes w (filters, 3, 3) as points of Winograd's F(2x2, 3x3), whose four outputs are a pooling
/// window: (filters / 16, points, 16).
void small_cnn_points(const float* w, std::int64_t filters, float* points);

/// Writes an image (rows, width) as scale * x + shift into a padded one, from `to` on, whose rows
/// are `row` floats.
void small_cnn_image(const std::uint8_t* x, std::int64_t rows, std::int64_t width, float scale,
                     float shift, float* to, std::int64_t row);
void small_cnn_image(const float* x, std::int64_t rows, std::int64_t width, float scale,
                     float shift, float* to, std::int64_t row);

/// Computes y (windows, filters) of one image, and for each the first pixel of its winner in the
/// 4x4 pixels of the window: 0, 1, 4 or 5.
void small_cnn_pool(const SmallCnnLoops& loops, const float* image, const float* points,
                    const float* b, float* y, std::uint8_t* winner);

/// A block of samples on their way back: `count` of 1, 2, 4 or 8.
struct SmallCnnBlock {
  int count = 0;
  const float* images = nullptr;
  const float* y = nullptr;  ///< (count, features)
  const std::uint8_t* winners = nullptr;
  const float* dz = nullptr;  ///< (classes, kSmallCnnSamples), by the logits
};

/// Sums over samples.
struct SmallCnnSums {
  float* dv = nullptr;  ///< (classes, features)
  float* dw = nullptr;  ///< (3, 3, filters)
  float* db = nullptr;  ///< (filters)
};

/// Adds a block's gradients; of dv it begins the sums with `first`. v: (classes, features).
void small_cnn_backward(const SmallCnnLoops& loops, const SmallCnnBlock& block, const float* v,
                        bool first, const SmallCnnSums& sums);

}  // namespace linnet::cpu
