// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "fusions/conv2d_pool/bands_cuda.h"
#include "fusions/small_cnn/small_cnn.h"
#include "runtime/stored_types.h"

// How CUDA's two launches cut a SmallCnnOp; all follows from the shapes.

namespace linnet::cuda {

inline constexpr int kCnnBlock = 512;             ///< threads
inline constexpr int kCnnWarps = kCnnBlock / 32;  ///< of a block
/// Floats that a block's threads exchange at once when their sums are added.
inline constexpr int kCnnExchange = 8 * kCnnBlock;
inline constexpr int kCnnLargest = 32;  ///< filters, classes, products of a filter
/// Columns of a block of the second launch.
inline constexpr int kCnnColumns = 32;

/// Returns the floats of a sample's slopes of its logits, which are loaded four at a time.
constexpr int slope_pitch(int classes) { return (classes + 3) / 4 * 4; }
/// Returns the blocks of so many columns.
constexpr int blocks_of_columns(int columns) { return (columns + kCnnColumns - 1) / kCnnColumns; }

struct SmallCnnShape : PooledConv {
  std::int64_t n = 0;
  int classes = 0;
  int padded_classes = 0;      ///< what the kernels have registers for: 10 or kCnnLargest
  float scale = 1, shift = 0;  ///< of the samples
  float slope = 0;             ///< 1 / n
  bool bytes = false;          ///< samples are u8
  bool shuffle = false;
  bool probabilities = false;  ///< as scores
  bool gradients = false;      ///< wanted

  constexpr int features() const { return pooled_h * pooled_w * co; }
  constexpr int image_floats() const { return image_rows(pooled_h) * pitch; }
};

/// Shared memory of a block of the first launch: floats, then the winners' bytes.
struct SmallCnnLayout {
  int sums, slopes, offsets, image, pooled, winner, floats;

  constexpr explicit SmallCnnLayout(const SmallCnnShape& s)
      : sums(s.sums()),
        slopes(sums + kCnnWarps * s.padded_classes),
        offsets(slopes + slope_pitch(s.padded_classes)),
        image((offsets + kCnnLargest + 3) / 4 * 4),
        pooled(image + (s.image_floats() + 3) / 4 * 4),
        winner(pooled + s.features()),
        floats(winner + (s.features() + 3) / 4) {}

  constexpr std::size_t bytes() const {
    const int needed = floats - image > kCnnExchange ? floats : image + kCnnExchange;
    return sizeof(float) * static_cast<std::size_t>(needed);
  }
};

struct SmallCnnPlan {
  SmallCnnShape shape;
  int blocks = 0;       ///< of the first launch; each leaves a part of the convolution's gradient
  int sums_blocks = 1;  ///< of the second launch: the loss, then columns of the gradients
  /// Where the workspace holds what the first leaves for the second, in floats; from 0 on the
  /// pooled images.
  std::int64_t slopes = 0, parts = 0, losses = 0, floats = 0;
};

/// Returns nothing where the kernels don't take the network.
std::optional<SmallCnnPlan> plan_small_cnn(const NodeView& node);

/// Returns whether the two launches beat those of the parts.
bool small_cnn_is_worth_it(const NodeView& node);

}  // namespace linnet::cuda
