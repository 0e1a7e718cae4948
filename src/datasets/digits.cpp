// SPDX-License-Identifier: Apache-2.0
#include <linnet/datasets.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/folder.h"
#include "base/random.h"
#include "datasets/digit_strokes.h"

namespace linnet {
namespace {

constexpr int kSide = 28;
constexpr std::int64_t kMostSamples = 10'000'000;
// Keeps these numbers apart from those that other uses draw with the same seed.
constexpr std::uint64_t kDigitsKey = 0x6C696E6E65742D64U;

using Canvas = std::array<float, kSide * kSide>;

/// The random numbers of one image, in the order in which they are asked for.
class Sequence {
 public:
  Sequence(std::uint64_t seed, std::uint64_t image) : key_(seed ^ kDigitsKey), image_(image) {}
  std::uint32_t word() {
    if (used_ == words_.size()) {
      words_ = philox(key_, block_++, image_);
      used_ = 0;
    }
    return words_[used_++];
  }
  float between(float low, float high) { return low + (high - low) * unit_float(word()); }
  /// Close to a standard normal number, by the sum of a word's four bytes: many are needed.
  float bell() {
    const std::uint32_t w = word();
    const std::uint32_t sum = (w & 255U) + (w >> 8 & 255U) + (w >> 16 & 255U) + (w >> 24);
    return (static_cast<float>(sum) - 510.0F) * (1.0F / 147.8F);
  }

 private:
  std::uint64_t key_;
  std::uint64_t image_;
  std::uint64_t block_ = 0;
  std::array<std::uint32_t, 4> words_{};
  std::size_t used_ = 4;
};

/// Describes how one writer draws one digit: from the unit box of its strokes to pixels.
class Hand {
 public:
  explicit Hand(Sequence& random)
      : height_(random.between(15.0F, 21.0F)),
        width_(height_ * random.between(0.5F, 0.85F)),
        slant_(random.between(-0.15F, 0.4F)),
        turn_(random.between(-0.2F, 0.2F)),
        x_(random.between(11.5F, 16.5F)),
        y_(random.between(12.0F, 16.0F)) {
    for (float& number : wave_) number = random.between(-0.06F, 0.06F);
    for (float& number : phase_) number = random.between(0.0F, 6.2831853F);
  }

  StrokePoint to_pixels(StrokePoint p) const {
    // Slow waves over the box bend straight lines and make no two circles alike.
    const float bent_x =
        p.x + wave_[0] * std::sin(4 * p.y + phase_[0]) + wave_[1] * std::sin(6 * p.x + phase_[1]);
    const float bent_y =
        p.y + wave_[2] * std::sin(5 * p.x + phase_[2]) + wave_[3] * std::sin(5 * p.y + phase_[3]);
    const float v = (bent_y - 0.5F) * height_;
    const float u = (bent_x - 0.5F) * width_ - slant_ * v;
    return {x_ + u * std::cos(turn_) - v * std::sin(turn_),
            y_ + u * std::sin(turn_) + v * std::cos(turn_)};
  }

 private:
  float height_, width_, slant_, turn_, x_, y_;
  std::array<float, 4> wave_{};
  std::array<float, 4> phase_{};
};

float distance(float x, float y, StrokePoint a, StrokePoint b) {
  const float dx = b.x - a.x;
  const float dy = b.y - a.y;
  const float squared = dx * dx + dy * dy;
  const float along = squared > 0 ? ((x - a.x) * dx + (y - a.y) * dy) / squared : 0.0F;
  const float t = std::clamp(along, 0.0F, 1.0F);
  const float gap_x = x - a.x - t * dx;
  const float gap_y = y - a.y - t * dy;
  return std::sqrt(gap_x * gap_x + gap_y * gap_y);
}

/// Inks the pixels near a segment; a pixel's edge fades over one pixel of distance.
void draw(StrokePoint a, StrokePoint b, float radius, Canvas& canvas) {
  const auto first = [&](float p, float q) {
    return std::clamp(static_cast<int>(std::floor(std::min(p, q) - radius - 1)), 0, kSide - 1);
  };
  const auto last = [&](float p, float q) {
    return std::clamp(static_cast<int>(std::ceil(std::max(p, q) + radius + 1)), 0, kSide - 1);
  };
  for (int y = first(a.y, b.y); y <= last(a.y, b.y); ++y) {
    for (int x = first(a.x, b.x); x <= last(a.x, b.x); ++x) {
      const float gap = distance(static_cast<float>(x), static_cast<float>(y), a, b);
      float& ink = canvas[static_cast<std::size_t>(y * kSide + x)];
      ink = std::max(ink, std::clamp(radius + 0.5F - gap, 0.0F, 1.0F));
    }
  }
}

/// Draws one image into `pixels` (28 * 28) and returns the digit.
std::int32_t draw_digit(Sequence random, std::uint8_t* pixels) {
  const auto digit = static_cast<std::int32_t>(random.word() % 10);
  const auto& forms = digit_forms(digit);
  const std::vector<Stroke>& form = forms[random.word() % forms.size()];
  const Hand hand(random);
  const float radius = random.between(0.7F, 1.9F);
  const float ink = random.between(0.65F, 1.0F);
  const float noise = random.between(0.0F, 0.12F);

  Canvas canvas{};
  for (const Stroke& stroke : form) {
    StrokePoint from = hand.to_pixels(stroke.front());
    for (std::size_t i = 1; i < stroke.size(); ++i) {
      const StrokePoint to = hand.to_pixels(stroke[i]);
      draw(from, to, radius, canvas);
      from = to;
    }
  }
  for (std::size_t i = 0; i < canvas.size(); ++i) {
    const float value = std::clamp(canvas[i] * ink + noise * random.bell(), 0.0F, 1.0F);
    pixels[i] = static_cast<std::uint8_t>(value * 255.0F + 0.5F);
  }
  return digit;
}

Dataset draw_part(std::int64_t count, std::uint64_t seed, std::uint64_t part) {
  require(count >= 0 && count <= kMostSamples,
          "digits: the number of images must lie in [0, {}]; got {}", kMostSamples, count);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(count) * kSide * kSide);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    // Even images are for training and odd ones for testing: no image is ever in both.
    labels[i] = draw_digit(Sequence(seed, 2 * i + part), &pixels[i * kSide * kSide]);
  }
  return {{{"image", Tensor(std::move(pixels), {count, kSide, kSide, 1})}},
          {{"label", Tensor(std::move(labels))}},
          {.name = "digits", .classes = numbered_names(10)}};
}

}  // namespace

Splits datasets::digits(std::int64_t train, std::int64_t test, std::uint64_t seed) {
  return {.train = draw_part(train, seed, 0), .test = draw_part(test, seed, 1)};
}

}  // namespace linnet
