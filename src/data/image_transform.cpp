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

std::vector<Taps> triangle_taps(std::int64_t from, std::int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double radius = std::max(scale, 1.0);
  std::vector<Taps> all;
  std::vector<double> shares;
  for (std::int64_t i = 0; i < to; ++i) {
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
  std::vector<std::uint8_t> pixels;
  if (channels == 3) {
    pixels.reserve(image.pixels.size() * 3);
    for (const std::uint8_t grey : image.pixels) pixels.insert(pixels.end(), 3, grey);
  } else {
    pixels.reserve(image.pixels.size() / 3);
    for (std::size_t i = 0; i + 2 < image.pixels.size(); i += 3) {
      pixels.push_back(to_byte(0.299F * static_cast<float>(image.pixels[i]) +
                               0.587F * static_cast<float>(image.pixels[i + 1]) +
                               0.114F * static_cast<float>(image.pixels[i + 2])));
    }
  }
  image.pixels = std::move(pixels);
  image.channels = channels;
  return image;
}

Image resize_image(const Image& image, std::int64_t height, std::int64_t width) {
  require(height > 0 && width > 0, "an image cannot be resized to {} x {}", height, width);
  if (image.height == height && image.width == width) return image;
  const auto channels = static_cast<std::size_t>(image.channels);
  const std::vector<Taps> across = triangle_taps(image.width, width);
  std::vector<std::uint8_t> narrow(static_cast<std::size_t>(width) * channels);
  Image result{height, width, image.channels, {}};
  RowSums sums(triangle_taps(image.height, height), narrow.size(), result.pixels);
  for (std::int64_t y = 0; y < image.height; ++y) {
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

Image centre_of_resized(const Image& image, std::int64_t shorter_side, std::int64_t height,
                        std::int64_t width) {
  require(shorter_side >= std::max(height, width),
          "a centre crop of {} x {} cannot be taken from images whose shorter side is {}", height,
          width, shorter_side);
  const std::int64_t shorter = std::min(image.height, image.width);
  const auto length = [&](std::int64_t side) {
    return side == shorter ? shorter_side : side * shorter_side / shorter;
  };
  const Image resized = resize_image(image, length(image.height), length(image.width));
  // Half a pixel goes to the even number, as Python rounds it.
  const std::int64_t top = std::llrint(static_cast<double>(resized.height - height) / 2);
  const std::int64_t left = std::llrint(static_cast<double>(resized.width - width) / 2);
  Image centre{height, width, image.channels, {}};
  const auto row_bytes = static_cast<std::ptrdiff_t>(width * image.channels);
  for (std::int64_t y = 0; y < height; ++y) {
    const auto row =
        resized.pixels.begin() +
        static_cast<std::ptrdiff_t>(((top + y) * resized.width + left) * image.channels);
    centre.pixels.insert(centre.pixels.end(), row, row + row_bytes);
  }
  return centre;
}

}  // namespace linnet
