// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>

#include <cstdint>

LINNET_API_BEGIN
namespace linnet {

/// Says how the images (height, width, channels) of a training batch are changed as the batch is
/// gathered: crop, rotation, flips, colours, cutout, mixing. It runs on the device, as part of the
/// step. Every random number is a function of the training's seed, the step and the sample's place
/// in its batch, so a run repeats to the bit on any number of threads, streamed or not.
///
/// With a crop, images of the data set may have another size than the network's input: training
/// takes random crops, validation and test take the centre (smaller images are resized whole). To
/// normalise, put a Rescale or Normalize layer first: it becomes part of the same gather, and
/// predictions get it too.
///
/// Defaults leave the images as they are. A training throws Error for values out of range.
struct Augment {
  /// Takes a random crop of the size of the network's input. Images with their padding must be at
  /// least as large as that.
  bool crop = false;
  /// Pixels added on each side before the crop, at least 0. Above 0 it switches `crop` on.
  std::int64_t padding = 0;
  bool reflect = false;  ///< fills with pixels mirrored at the edge instead of zeros
  /// Takes a box with a random share of the area and a random ratio of width to height, and resizes
  /// it to the network's input: torchvision's RandomResizedCrop, bilinear without antialiasing. It
  /// excludes `crop`.
  bool resized_crop = false;
  double area_min = 0.08;      ///< smallest share of the area, in (0, area_max]. torchvision's.
  double area_max = 1;         ///< largest share of the area, at most 1. torchvision's.
  double ratio_min = 3.0 / 4;  ///< smallest ratio of width to height, above 0. torchvision's.
  double ratio_max = 4.0 / 3;  ///< largest ratio of width to height. torchvision's.
  double flip = 0;             ///< probability of a horizontal flip, in [0, 1]
  /// Strength s of the change of brightness, at least 0: a factor is uniform in [max(0, 1 - s), 1 +
  /// s], as in torchvision's ColorJitter. Brightness, contrast and saturation come in random order.
  /// Colours stay in [0, 255] (u8 samples) or [0, 1] (f32).
  double brightness = 0;
  double contrast = 0;      ///< strength of the change of contrast about the mean luminance
  double saturation = 0;    ///< strength of the change of saturation; three channels only
  std::int64_t cutout = 0;  ///< side of a black square at a random place, in pixels; 0: none
  /// Parameter of mix-up (Zhang et al., "mixup: beyond empirical risk minimization", 2018): samples
  /// and targets become l x + (1 - l) x' with a partner of the same batch; l is sampled for each
  /// batch from Beta(mixup, mixup). At least 0; 0: none.
  double mixup = 0;
  /// Parameter of CutMix (Yun et al., "CutMix", 2019): a box of the area 1 - l is taken from the
  /// partner's image, l from Beta(cutmix, cutmix), and targets are mixed by the areas. At least 0;
  /// 0: none. With both, each batch uses one of them, each with probability 1/2. Labels become
  /// distributions, so mixing needs cross-entropy, a loss of values or a custom loss. The training
  /// accuracy uses the labels of the unmixed samples.
  double cutmix = 0;
  /// Flips each image horizontally in every second epoch, a random half of them in the first one:
  /// both forms are seen equally often (Jordan, "94% on CIFAR-10 in 3.29 seconds on a single GPU",
  /// 2024). It excludes `flip`.
  bool alternating_flip = false;
  double vertical_flip = 0;  ///< probability of a vertical flip, in [0, 1]
  /// Largest angle of a rotation about the centre in degrees, in [0, 180]: angles are uniform in
  /// [-rotate, rotate]. Pixels are interpolated linearly; those from outside the image are zeros,
  /// or mirrored at the edge with `reflect`. torchvision's RandomRotation, bilinear.
  double rotate = 0;

  /// Returns whether all fields are equal.
  bool operator==(const Augment&) const = default;
  /// Returns whether images are cropped, so that they may be larger than the network's input.
  bool crops() const { return crop || padding > 0 || resized_crop; }
  /// Returns whether pixels move to other places.
  bool moves() const {
    return crops() || flip > 0 || alternating_flip || vertical_flip > 0 || rotate > 0;
  }
  /// Returns whether samples of a batch are mixed.
  bool mixes() const { return mixup > 0 || cutmix > 0; }
  /// Returns whether anything is changed at all.
  bool any() const { return *this != Augment{}; }
};

/// Returns the data set with the central (height, width) of each image of its first input; all else
/// stays. Copies images in memory; images of a source are cropped when they are read. Throws Error
/// unless images are (height, width, channels) in u8 or f32 and at least as large.
Dataset centre_crop(const Dataset& data, std::int64_t height, std::int64_t width);

}  // namespace linnet
LINNET_API_END
