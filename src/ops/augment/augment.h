// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// Changes of a batch's images, in this order: a crop, turned and flipped; jitter; a cut. Plain,
/// so that kernels take it as an argument. `training` false: only the crop is left, and
/// it is not random.
struct AugmentRule {
  std::int64_t height = 1;  ///< of the result
  std::int64_t width = 1;
  bool training = true;
  /// Padding of the random crop on every side, in pixels: zeros, or pixels mirrored at the edge.
  std::int64_t padding = 0;
  bool reflect = false;
  /// Crops a random share of the image's area with a random ratio width / height instead, and
  /// resizes it (torchvision's RandomResizedCrop; bilinear, without smoothing).
  bool resized_crop = false;
  double area_min = 0.08;
  double area_max = 1;
  double ratio_min = 0.75;
  double ratio_max = 4.0 / 3;
  double flip = 0;  ///< probability of a horizontal flip
  /// Flips each image in every second epoch instead, a random half of them in the even ones.
  bool alternating_flip = false;
  double vertical_flip = 0;  ///< probability
  /// Largest angle of a rotation about the centre of the crop, in degrees. Pixels come from the
  /// whole image; outside it, they are what padding is.
  double rotate = 0;
  /// Factors are uniform in [max(0, 1 - s), 1 + s], stages in random order (torchvision's
  /// ColorJitter of floats); the colours are kept in [0, top].
  double brightness = 0;
  double contrast = 0;
  double saturation = 0;
  double top = 255;
  std::int64_t cutout = 0;  ///< side of a square of `fill` somewhere in the image; 0: none
  double fill = 0;
  bool operator==(const AugmentRule&) const = default;
};

struct AugmentAttrs {
  std::int64_t batch = 1;
  bool shuffle = false;  ///< as in GatherBatchAttrs
  AugmentRule rule = {};
  std::vector<double> scale = {1};  ///< one, or one a channel: applied last
  std::vector<double> shift = {0};
  template <class V>
  void fields(V&& visit) {
    visit("batch", batch);
    visit("shuffle", shuffle);
    visit("height", rule.height);
    visit("width", rule.width);
    visit("training", rule.training);
    visit("padding", rule.padding);
    visit("reflect", rule.reflect);
    visit("resized_crop", rule.resized_crop);
    visit("area_min", rule.area_min);
    visit("area_max", rule.area_max);
    visit("ratio_min", rule.ratio_min);
    visit("ratio_max", rule.ratio_max);
    visit("flip", rule.flip);
    visit("brightness", rule.brightness);
    visit("contrast", rule.contrast);
    visit("saturation", rule.saturation);
    visit("top", rule.top);
    visit("cutout", rule.cutout);
    visit("fill", rule.fill);
    visit("scale", scale);
    visit("shift", shift);
    visit("alternating_flip", rule.alternating_flip);
    visit("vertical_flip", rule.vertical_flip);
    visit("rotate", rule.rotate);
  }
  bool operator==(const AugmentAttrs&) const = default;
};

/// Stands instead of gather_batch for images: data (1, H, W, C) u8 or f32, StepInfo::samples
/// of them, become (batch, height, width, C) f32, each changed as the rule says and then scaled and
/// shifted. What is drawn for row i of the whole batch is a function of (seed, step, i) alone, so
/// that a streamed batch, whose records lie elsewhere, is changed as a resident one. Without
/// training: the crop from the middle, or where the image is smaller than that, all of it
/// resized. C <= 16.
class AugmentOp final : public OpBase<AugmentOp, AugmentAttrs> {
 public:
  static constexpr std::string_view kName = "augment";
  static constexpr std::int64_t kMostChannels = 16;
  enum In : std::uint8_t { data };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
