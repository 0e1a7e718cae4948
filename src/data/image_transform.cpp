// SPDX-License-Identifier: Apache-2.0
#include "data/image_transform.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/files.h"

namespace linnet {
namespace {

/// The source pixels [first, first + weights.size()) that one target pixel is a mean of.
struct Taps {
  std::int64_t first = 0;
  std::vector<float> weights;
};

std::vector<Taps> triangle_taps(std::int64_t from, std::int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double radius = std::max(scale, 1.0);
  std::vector<Taps> all;
  for (std::int64_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    Taps taps;
    taps.first = std::max<std::int64_t>(0, std::llround(std::floor(centre - radius + 0.5)));
    const std::int64_t end =
        std::min<std::int64_t>(from, std::llround(std::floor(centre + radius + 0.5)));
    double sum = 0;
    for (std::int64_t j = taps.first; j < end; ++j) {
      const double distance = std::abs(static_cast<double>(j) + 0.5 - centre) / radius;
      taps.weights.push_back(static_cast<float>(std::max(0.0, 1.0 - distance)));
      sum += taps.weights.back();
    }
    for (float& weight : taps.weights) weight = static_cast<float>(weight / sum);
    all.push_back(std::move(taps));
  }
  return all;
}

std::uint8_t to_byte(float value) {
  return static_cast<std::uint8_t>(std::clamp(value + 0.5F, 0.0F, 255.0F));
}

}  // namespace

Image read_image(const std::filesystem::path& path) { return decode_image(read_file(path), path); }

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
  require(height > 0 && width > 0, "an image can't be resized to {} x {}", height, width);
  if (image.height == height && image.width == width) return image;
  const auto channels = static_cast<std::size_t>(image.channels);
  const auto columns = static_cast<std::size_t>(width) * channels;
  const std::vector<Taps> across = triangle_taps(image.width, width);
  const std::vector<Taps> down = triangle_taps(image.height, height);

  std::vector<float> narrow(static_cast<std::size_t>(image.height) * columns);
  float* out = narrow.data();
  for (std::int64_t y = 0; y < image.height; ++y) {
    const std::uint8_t* row =
        image.pixels.data() + static_cast<std::size_t>(y * image.width) * channels;
    for (const Taps& taps : across) {
      for (std::size_t c = 0; c < channels; ++c) {
        const std::uint8_t* in = row + static_cast<std::size_t>(taps.first) * channels + c;
        float sum = 0;
        for (const float weight : taps.weights) {
          sum += weight * static_cast<float>(*in);
          in += channels;
        }
        *out++ = sum;
      }
    }
  }

  Image result{height, width, image.channels, {}};
  result.pixels.reserve(static_cast<std::size_t>(height) * columns);
  std::vector<float> sums(columns);
  for (const Taps& taps : down) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    const float* in = narrow.data() + static_cast<std::size_t>(taps.first) * columns;
    for (const float weight : taps.weights) {
      for (std::size_t x = 0; x < columns; ++x) sums[x] += weight * in[x];
      in += columns;
    }
    for (const float sum : sums) result.pixels.push_back(to_byte(sum));
  }
  return result;
}

}  // namespace linnet
