// SPDX-License-Identifier: Apache-2.0
#include "data/image_transform.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/files.h"
#include "base/memory.h"

namespace linnet {
namespace {

/// Weights are whole numbers of 2^-22, and each pass rounds to bytes: as Pillow computes, so that
/// a network sees the pixels that it was trained on elsewhere.
constexpr int kFraction = 22;
constexpr std::int32_t kHalf = 1 << (kFraction - 1);

std::uint8_t byte_of_sum(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kFraction, 0, 255));
}

/// The source pixels [first, first + weights.size()) that one target pixel is a mean of.
struct Taps {
  std::int64_t first = 0;
  std::vector<std::int32_t> weights;
};

/// Of the target pixels [first, first + count) of `to`.
std::vector<Taps> triangle_taps(std::int64_t from, std::int64_t to, std::int64_t first,
                                std::int64_t count) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double radius = std::max(scale, 1.0);
  std::vector<Taps> all;
  std::vector<double> shares;
  for (std::int64_t i = first; i < first + count; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    Taps taps;
    taps.first = std::max<std::int64_t>(0, std::llround(std::floor(centre - radius + 0.5)));
    const std::int64_t end =
        std::min<std::int64_t>(from, std::llround(std::floor(centre + radius + 0.5)));
    shares.clear();
    double sum = 0;
    for (std::int64_t j = taps.first; j < end; ++j) {
      const double distance = std::abs((static_cast<double>(j) - centre + 0.5) * (1 / radius));
      shares.push_back(std::max(0.0, 1.0 - distance));
      sum += shares.back();
    }
    taps.weights.reserve(shares.size());
    for (const double share : shares) {
      taps.weights.push_back(static_cast<std::int32_t>(0.5 + share / sum * (1 << kFraction)));
    }
    all.push_back(std::move(taps));
  }
  return all;
}

std::uint8_t to_byte(float value) {
  return static_cast<std::uint8_t>(std::clamp(value + 0.5F, 0.0F, 255.0F));
}

/// Makes the rows of an image of weighted sums of a higher one's rows, which come one by one. Only
/// the sums that have begun and not ended are held: two or three where an image shrinks.
class RowSums {
 public:
  RowSums(std::vector<Taps> taps, std::size_t columns, std::vector<std::uint8_t>& to)
      : taps_(std::move(taps)), columns_(columns), to_(to) {
    to_.reserve(taps_.size() * columns_);
  }

  void add(std::int64_t y, const std::vector<std::uint8_t>& row) {
    while (next_ < taps_.size() && taps_[next_].first <= y) {
      open_.emplace_back(columns_, kHalf);
      ++next_;
    }
    const std::size_t first = next_ - open_.size();
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const Taps& taps = taps_[first + i];
      const auto at = static_cast<std::size_t>(y - taps.first);
      if (at >= taps.weights.size()) continue;
      const std::int32_t weight = taps.weights[at];
      for (std::size_t x = 0; x < columns_; ++x) open_[i][x] += weight * row[x];
    }
    while (!open_.empty() && ends(taps_[next_ - open_.size()]) == y + 1) {
      for (const std::int32_t sum : open_.front()) to_.push_back(byte_of_sum(sum));
      open_.pop_front();
    }
  }

 private:
  static std::int64_t ends(const Taps& taps) { return taps.first + std::ssize(taps.weights); }

  std::vector<Taps> taps_;
  std::size_t columns_;
  std::vector<std::uint8_t>& to_;
  std::size_t next_ = 0;  // the first that has not begun
  std::deque<std::vector<std::int32_t>> open_;
};

}  // namespace

Image read_image(const std::filesystem::path& path, const ImageReading& reading) {
  return in_memory(fmt::format("'{}'", path.string()),
                   [&] { return decode_image(read_file(path), path, reading); });
}

Image with_channels(Image image, std::int64_t channels) {
  LINNET_ASSERT(channels == 1 || channels == 3);
  if (image.channels == channels) return image;
  if (channels == 3) {
    std::vector<std::uint8_t> pixels;
    pixels.reserve(image.pixels.size() * 3);
    for (const std::uint8_t grey : image.pixels) pixels.insert(pixels.end(), 3, grey);
    image.pixels = std::move(pixels);
  } else {
    auto to = image.pixels.begin();  // in place: lumas lie before the colours that follow
    for (std::size_t i = 0; i + 2 < image.pixels.size(); i += 3) {
      *to++ = to_byte(0.299F * static_cast<float>(image.pixels[i]) +
                      0.587F * static_cast<float>(image.pixels[i + 1]) +
                      0.114F * static_cast<float>(image.pixels[i + 2]));
    }
    image.pixels.erase(to, image.pixels.end());
  }
  image.channels = channels;
  return image;
}

namespace {

/// A part of an image.
struct Window {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// Returns a window of the image resized to a size. What lies outside is not computed.
Image resized_window(const Image& image, std::int64_t height, std::int64_t width,
                     const Window& window) {
  const auto channels = static_cast<std::size_t>(image.channels);
  const std::vector<Taps> across = triangle_taps(image.width, width, window.left, window.width);
  std::vector<std::uint8_t> narrow(across.size() * channels);
  Image result{window.height, window.width, image.channels, {}};
  std::vector<Taps> down = triangle_taps(image.height, height, window.top, window.height);
  const std::int64_t first = down.front().first;
  const std::int64_t end = down.back().first + std::ssize(down.back().weights);
  RowSums sums(std::move(down), narrow.size(), result.pixels);
  for (std::int64_t y = first; y < end; ++y) {
    const std::uint8_t* row =
        image.pixels.data() + static_cast<std::size_t>(y * image.width) * channels;
    std::uint8_t* out = narrow.data();
    for (const Taps& taps : across) {
      for (std::size_t c = 0; c < channels; ++c) {
        const std::uint8_t* in = row + static_cast<std::size_t>(taps.first) * channels + c;
        std::int32_t sum = kHalf;
        for (const std::int32_t weight : taps.weights) {
          sum += weight * *in;
          in += channels;
        }
        *out++ = byte_of_sum(sum);
      }
    }
    sums.add(y, narrow);
  }
  return result;
}

}  // namespace

Image resize_image(const Image& image, std::int64_t height, std::int64_t width) {
  require(height > 0 && width > 0, "an image cannot be resized to {} x {}", height, width);
  if (image.height == height && image.width == width) return image;
  return resized_window(image, height, width, {.height = height, .width = width});
}

Image centre_of_resized(const Image& image, std::int64_t shorter_side, std::int64_t height,
                        std::int64_t width) {
  require(shorter_side >= std::max(height, width),
          "a centre crop of {} x {} cannot be taken from images whose shorter side is {}", height,
          width, shorter_side);
  const std::int64_t shorter = std::min(image.height, image.width);
  const auto length = [&](std::int64_t side) {
    return side == shorter ? shorter_side : side * shorter_side / shorter;
  };
  const std::int64_t high = length(image.height);
  const std::int64_t wide = length(image.width);
  // Half a pixel goes to the even number, as Python rounds it.
  return resized_window(image, high, wide,
                        {.top = std::llrint(static_cast<double>(high - height) / 2),
                         .left = std::llrint(static_cast<double>(wide - width) / 2),
                         .height = height,
                         .width = width});
}

}  // namespace linnet
