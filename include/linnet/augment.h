// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>

#include <cstdint>

LINNET_API_BEGIN
namespace linnet {

/// What happens to the pictures (height, width, channels) of a training batch as it is gathered, in
/// this order; on the device, as part of the step. Everything drawn is a function of the training's
/// seed, the step and the sample's place in its batch: a run is repeated to the bit, on any number
/// of threads, streamed or not.
///
/// With a crop, pictures of the data set may have another size than the network's input: training
/// takes random crops, validation and test the middle (or, of smaller pictures, all resized). To
/// normalise, put a Rescale or Normalize layer first: it becomes a part of the same gather, and
/// predictions get it too.
struct Augment {
  /// Random crop of the size of the network's input. Pictures must be as large, with the padding.
  bool crop = false;
  std::int64_t padding = 0;  ///< such a crop out of the picture and so many pixels on each side
  bool reflect = false;      ///< pixels mirrored at the edge are the padding, instead of zeros
  /// A random share of the area, with a random ratio of width to height, resized to the network's
  /// input (torchvision's RandomResizedCrop; bilinear, not smoothed). Instead of the other crop.
  bool resized_crop = false;
  double area_min = 0.08;
  double area_max = 1;
  double ratio_min = 3.0 / 4;
  double ratio_max = 4.0 / 3;
  double flip = 0;  ///< probability of a horizontal flip
  /// Strengths as in torchvision's ColorJitter: factors are uniform in [max(0, 1 - s), 1 + s], the
  /// three in random order. Colours stay in [0, 255] (u8 samples) or [0, 1] (f32). Contrast is
  /// about the mean luminance; saturation needs three channels and leaves others alone.
  double brightness = 0;
  double contrast = 0;
  double saturation = 0;
  std::int64_t cutout = 0;  ///< side of a black square somewhere, cut off at the edges; 0: none
  /// Mix-up: samples and targets become l x + (1 - l) x' with a partner of the same batch, l drawn
  /// for each batch from Beta(mixup, mixup). 0: none.
  double mixup = 0;
  /// Cut-mix: a box of the partner's picture, of the area 1 - l, l from Beta(cutmix, cutmix); the
  /// targets are mixed by the areas. 0: none. With both, a coin chooses for each batch.
  /// Labels become distributions, so mixing wants cross-entropy, a loss of values or one's own; the
  /// training accuracy is counted against the labels of the samples themselves.
  double cutmix = 0;

  bool operator==(const Augment&) const = default;
  bool crops() const { return crop || padding > 0 || resized_crop; }
  bool mixes() const { return mixup > 0 || cutmix > 0; }
  /// Whether anything is asked for.
  bool any() const { return *this != Augment{}; }
};

/// Returns the data set with the middle (height, width) of each image of its first input; all else
/// stays. Throws Error unless these are (height, width, channels) in u8 or f32 and at least as
/// large.
Dataset centre_crop(const Dataset& data, std::int64_t height, std::int64_t width);

}  // namespace linnet
LINNET_API_END
