// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the reference and both kernels of augment share.
#include <cmath>
#include <cstdint>

#include "base/host_device.h"
#include "base/random.h"
#include "graph/step.h"
#include "ops/augment/augment.h"
#include "ops/gather_batch/record_index.h"

namespace linnet {

/// The words of one sample's draws, one after another.
class AugmentWords {
 public:
  LINNET_HOST_DEVICE AugmentWords(const StepInfo& step, std::int64_t sample)
      : key_(random_key(step.seed, RandomStream::augment, step.step)),
        sample_(step.first_row + static_cast<std::uint64_t>(sample)) {}

  LINNET_HOST_DEVICE std::uint32_t next() {
    if (used_ % 4 == 0) words_ = philox(key_, sample_, used_ / 4);
    return words_[used_++ % 4];
  }
  /// In [low, high).
  LINNET_HOST_DEVICE double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(unit_float(next()));
  }
  /// In [0, count).
  LINNET_HOST_DEVICE std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(
        (static_cast<std::uint64_t>(next()) * static_cast<std::uint64_t>(count)) >> 32);
  }

 private:
  std::uint64_t key_;
  std::uint64_t sample_;
  std::uint64_t used_ = 0;
  std::array<std::uint32_t, 4> words_ = {};
};

/// Stages of the jitter.
inline constexpr int kBrightness = 0;
inline constexpr int kContrast = 1;
inline constexpr int kSaturation = 2;
inline constexpr int kJitters = 3;

/// Random draws for one sample. The crop [top, top + height) x [left, left + width) may
/// reach over the edges; the cut is one of the result.
struct AugmentSample {
  std::int64_t top;
  std::int64_t left;
  std::int64_t height;
  std::int64_t width;
  std::int64_t cut_top;
  std::int64_t cut_left;
  std::int64_t cut_bottom;
  std::int64_t cut_right;
  bool flip;
  bool flip_rows;
  bool turns;
  float sine;  ///< of the angle of the rotation, counterclockwise
  float cosine;
  int order[kJitters];     // NOLINT(*-avoid-c-arrays): lies in shared memory
  float factor[kJitters];  // NOLINT(*-avoid-c-arrays)

  /// Returns the row or column of the crop that a row or column of the result shows.
  LINNET_HOST_DEVICE std::int64_t row(std::int64_t y, std::int64_t rows) const {
    return flip_rows ? rows - 1 - y : y;
  }
  LINNET_HOST_DEVICE std::int64_t column(std::int64_t x, std::int64_t columns) const {
    return flip ? columns - 1 - x : x;
  }
  LINNET_HOST_DEVICE bool cuts(std::int64_t y, std::int64_t x) const {
    return y >= cut_top && y < cut_bottom && x >= cut_left && x < cut_right;
  }
};

LINNET_HOST_DEVICE inline void centre_crop(AugmentSample& s, std::int64_t h, std::int64_t w,
                                           std::int64_t crop_h, std::int64_t crop_w) {
  s.top = (h - crop_h) / 2;
  s.left = (w - crop_w) / 2;
  s.height = crop_h;
  s.width = crop_w;
}

/// Ten tries for a crop that fits, then the largest one in the middle of an allowed ratio.
LINNET_HOST_DEVICE inline void draw_resized_crop(AugmentSample& s, const AugmentRule& rule,
                                                 std::int64_t h, std::int64_t w,
                                                 AugmentWords& words) {
  const auto height = static_cast<double>(h);
  const auto width = static_cast<double>(w);
  for (int t = 0; t < 10; ++t) {
    const double area = height * width * words.uniform(rule.area_min, rule.area_max);
    const double ratio = exp(words.uniform(log(rule.ratio_min), log(rule.ratio_max)));
    s.width = static_cast<std::int64_t>(sqrt(area * ratio) + 0.5);
    s.height = static_cast<std::int64_t>(sqrt(area / ratio) + 0.5);
    if (s.width >= 1 && s.width <= w && s.height >= 1 && s.height <= h) {
      s.top = words.below(h - s.height + 1);
      s.left = words.below(w - s.width + 1);
      return;
    }
  }
  std::int64_t crop_h = h;
  std::int64_t crop_w = w;
  if (width < rule.ratio_min * height) {
    crop_h = static_cast<std::int64_t>(width / rule.ratio_min + 0.5);
  } else if (width > rule.ratio_max * height) {
    crop_w = static_cast<std::int64_t>(height * rule.ratio_max + 0.5);
  }
  centre_crop(s, h, w, crop_h < 1 ? 1 : crop_h, crop_w < 1 ? 1 : crop_w);
}

/// Returns whether a record of the data set is flipped in the step's epoch: in every second one.
LINNET_HOST_DEVICE inline bool flips_in_epoch(const StepInfo& step, std::uint64_t record) {
  const auto words = philox(random_key(step.seed, RandomStream::flip), record, 0);
  return ((words[0] ^ step.epoch) & 1) != 0;
}

/// Draws the numbers of a record of h x w pixels. shuffle: as AugmentAttrs.
LINNET_HOST_DEVICE inline AugmentSample draw_augment(const AugmentRule& rule, std::int64_t h,
                                                     std::int64_t w, const StepInfo& step,
                                                     bool shuffle, std::int64_t sample) {
  AugmentSample s{};
  for (int j = 0; j < kJitters; ++j) s.order[j] = j;
  if (!rule.training) {
    const bool fits = h >= rule.height && w >= rule.width;
    centre_crop(s, h, w, fits ? rule.height : h, fits ? rule.width : w);
    return s;
  }
  AugmentWords words(step, sample);
  if (rule.resized_crop) {
    draw_resized_crop(s, rule, h, w, words);
  } else {
    s.height = rule.height;
    s.width = rule.width;
    s.top = words.below(h + 2 * rule.padding - rule.height + 1) - rule.padding;
    s.left = words.below(w + 2 * rule.padding - rule.width + 1) - rule.padding;
  }
  s.flip = words.uniform(0, 1) < rule.flip;
  if (rule.alternating_flip) {
    s.flip = flips_in_epoch(step, RecordIndex::of_epoch(step, shuffle)(sample));
  }
  const double strength[kJitters] = {rule.brightness, rule.contrast,  // NOLINT(*-avoid-c-arrays)
                                     rule.saturation};
  for (int j = 0; j < kJitters; ++j) {
    const double low = strength[j] < 1 ? 1 - strength[j] : 0;
    s.factor[j] = static_cast<float>(words.uniform(low, 1 + strength[j]));
  }
  for (int j = kJitters - 1; j > 0; --j) {
    const auto other = words.below(j + 1);
    const int last = s.order[j];
    s.order[j] = s.order[other];
    s.order[other] = last;
  }
  if (rule.cutout > 0) {
    s.cut_top = words.below(rule.height) - rule.cutout / 2;
    s.cut_left = words.below(rule.width) - rule.cutout / 2;
    s.cut_bottom = s.cut_top + rule.cutout;
    s.cut_right = s.cut_left + rule.cutout;
  }
  // Last, so that whatever was drawn before these existed stays as it was.
  s.flip_rows = rule.vertical_flip > 0 && words.uniform(0, 1) < rule.vertical_flip;
  s.turns = rule.rotate > 0;
  if (s.turns) {
    const double angle = words.uniform(-rule.rotate, rule.rotate) * (3.14159265358979323846 / 180);
    s.sine = static_cast<float>(sin(angle));
    s.cosine = static_cast<float>(cos(angle));
  }
  return s;
}

/// Returns whether a stage changes anything.
LINNET_HOST_DEVICE inline bool jitters(const AugmentRule& rule, int stage) {
  if (!rule.training) return false;
  return (stage == kBrightness ? rule.brightness
          : stage == kContrast ? rule.contrast
                               : rule.saturation) > 0;
}

/// One channel of a record's pixels, as floats; 0 or mirrored outside.
template <class T, class From>
struct AugmentPixels {
  const From* data;
  std::int64_t h;
  std::int64_t w;
  std::int64_t channels;
  bool reflect;

  LINNET_HOST_DEVICE static std::int64_t mirrored(std::int64_t at, std::int64_t size) {
    if (at < 0) at = -at;
    if (at < size) return at;
    if (size == 1) return 0;
    const std::int64_t period = 2 * (size - 1);
    at %= period;
    return at < size ? at : period - at;
  }
  LINNET_HOST_DEVICE T at(std::int64_t y, std::int64_t x, std::int64_t c) const {
    if (y < 0 || y >= h || x < 0 || x >= w) {
      if (!reflect) return 0;
      y = mirrored(y, h);
      x = mirrored(x, w);
    }
    return static_cast<T>(data[(y * w + x) * channels + c]);
  }
};

/// Describes where a result's row or column lies in the crop: between first and second.
template <class T>
struct AugmentPlace {
  std::int64_t first;
  std::int64_t second;
  T share;  ///< of the second

  /// Pixel centres of `size` results over a dimension of `crop` pixels.
  LINNET_HOST_DEVICE AugmentPlace(std::int64_t i, std::int64_t size, std::int64_t crop) {
    const T ratio = static_cast<T>(crop) / static_cast<T>(size);
    T place = (static_cast<T>(i) + static_cast<T>(0.5)) * ratio - static_cast<T>(0.5);
    place = place < 0 ? 0 : place;
    first = static_cast<std::int64_t>(place);
    first = first < crop ? first : crop - 1;
    second = first + 1 < crop ? first + 1 : first;
    share = place - static_cast<T>(first);
  }
};

/// Returns a pixel of the result before jitter: channel c at (y, x), by linear interpolation.
template <class T, class From>
LINNET_HOST_DEVICE T augment_pixel(const AugmentPixels<T, From>& from, const AugmentSample& s,
                                   const AugmentPlace<T>& y, const AugmentPlace<T>& x,
                                   std::int64_t c) {
  const auto row = [&](std::int64_t at) {
    const T left = from.at(s.top + at, s.left + x.first, c);
    const T right = from.at(s.top + at, s.left + x.second, c);
    return left + x.share * (right - left);
  };
  const T above = row(y.first);
  return above + y.share * (row(y.second) - above);
}

/// Describes where a pixel of a turned result lies in the record.
template <class T>
struct AugmentPoint {
  std::int64_t top;
  std::int64_t left;
  T below;  ///< share of the row under `top`
  T right;  ///< share of the column after `left`

  LINNET_HOST_DEVICE AugmentPoint(const AugmentRule& rule, const AugmentSample& s, std::int64_t y,
                                  std::int64_t x) {
    const auto height = static_cast<T>(rule.height);
    const auto width = static_cast<T>(rule.width);
    const T half = static_cast<T>(0.5);
    // From the centre, in pixels of the result.
    const T down = static_cast<T>(s.row(y, rule.height)) + half - half * height;
    const T along = static_cast<T>(s.column(x, rule.width)) + half - half * width;
    const T from_top = s.cosine * down + s.sine * along + half * height;
    const T from_left = s.cosine * along - s.sine * down + half * width;
    top = split(from_top / height * static_cast<T>(s.height), s.top, below);
    left = split(from_left / width * static_cast<T>(s.width), s.left, right);
  }

  /// Returns the channel's value there, by linear interpolation.
  template <class From>
  LINNET_HOST_DEVICE T value(const AugmentPixels<T, From>& from, std::int64_t c) const {
    const auto row = [&](std::int64_t y) {
      const T first = from.at(y, left, c);
      return first + right * (from.at(y, left + 1, c) - first);
    };
    const T above = row(top);
    return above + below * (row(top + 1) - above);
  }

 private:
  /// Splits a distance from the crop's edge into a pixel of the record and a share of the next one.
  LINNET_HOST_DEVICE static std::int64_t split(T distance, std::int64_t begin, T& share) {
    const T place = distance - static_cast<T>(0.5);
    auto whole = static_cast<std::int64_t>(place);
    if (place < static_cast<T>(whole)) --whole;
    share = place - static_cast<T>(whole);
    return begin + whole;
  }
};

/// Returns the luminance of torchvision's rgb_to_grayscale; the first channel of images not in
/// colour.
template <class T>
LINNET_HOST_DEVICE T luminance(const T* pixel, std::int64_t channels) {
  if (channels != 3) return pixel[0];
  return static_cast<T>(0.2989) * pixel[0] + static_cast<T>(0.587) * pixel[1] +
         static_cast<T>(0.114) * pixel[2];
}

/// One stage on one pixel. mean: of the image's luminance. top: of the colours' range.
template <class T>
LINNET_HOST_DEVICE void jitter_pixel(T* pixel, std::int64_t channels, int stage, T factor, T mean,
                                     T top) {
  T other = 0;
  if (stage == kContrast) other = mean;
  if (stage == kSaturation) other = luminance(pixel, channels);
  if (stage == kSaturation && channels != 3) return;
  for (std::int64_t c = 0; c < channels; ++c) {
    const T y = factor * pixel[c] + (1 - factor) * other;
    pixel[c] = y < 0 ? 0 : y > top ? top : y;
  }
}

/// Attributes as a kernel keeps them.
struct AugmentTask {
  AugmentTask(const AugmentAttrs& attrs, const Shape& record)
      : rule(attrs.rule), h(record[0]), w(record[1]), channels(record[2]) {
    for (std::int64_t c = 0; c < channels; ++c) {
      const auto at = static_cast<std::size_t>(c);
      scale[at] = static_cast<float>(attrs.scale[attrs.scale.size() == 1 ? 0 : at]);
      shift[at] = static_cast<float>(attrs.shift[attrs.shift.size() == 1 ? 0 : at]);
    }
  }

  AugmentRule rule;
  std::int64_t h;
  std::int64_t w;
  std::int64_t channels;
  float scale[AugmentOp::kMostChannels] = {};  // NOLINT(*-avoid-c-arrays): a kernel's argument
  float shift[AugmentOp::kMostChannels] = {};  // NOLINT(*-avoid-c-arrays)
};

}  // namespace linnet
