// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "backend/cuda/launch.h"
#include "backend/cuda/matmul.h"
#include "ops/conv2d/conv2d.h"

namespace linnet::cuda {

enum class ConvPass : std::uint8_t { forward, grad_input, grad_weight };

/// Taps that a thread of the direct weight gradient sums in registers.
inline constexpr int kTapsOfThread = 9;

/// Linnet's own kernel for a convolution or one of its gradients and how it is cut, from the shape
/// alone (never from the device), so that sums are added in the same order everywhere.
struct OwnConvPlan {
  enum class Kind : std::uint8_t {
    product,    ///< of the images and weights as they are: windows of one pixel
    direct,     ///< sums of few products
    depthwise,  ///< the same where groups == C == C_out
    tiles       ///< a product for each group, of images that are read as if they were matrices
  };
  Kind kind = Kind::tiles;
  ConvShape shape;
  MatrixProduct product = {};  ///< of images and weights; tiles: its rows and columns in each group
  int tile_rows = 0;
  int tile_columns = 0;
  /// Whether channels come in fours, which are read at once where operands are aligned.
  bool fours = false;
  int lanes = 0;  ///< direct weight gradient: threads of a block that are side by side
  /// A weight gradient's pixels are cut into parts that blocks sum apart.
  int parts = 1;
  std::int64_t part_pixels = 0;  ///< of each but the last
  std::size_t workspace_bytes = 0;
  std::string engine = {};  ///< for dumps: "tiles 64x64, pixels in 8"

  /// Launches of the direct kernel that go over images: `tile` output channels a block.
  struct Direct {
    int tile = 0;
    LaunchShape shape;
  };
  /// `pixels`: of all samples. vectors: whether threads have four channels.
  Direct direct(std::int64_t pixels, bool vectors) const;
};

/// Returns nothing where own kernels can't index the images; whatever fits a device's memory they
/// can.
std::optional<OwnConvPlan> plan_own_conv(ConvPass pass, const ConvShape& s);

}  // namespace linnet::cuda
