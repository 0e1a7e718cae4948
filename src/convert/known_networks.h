// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/convert.h>

#include <cstdint>
#include <string_view>

namespace linnet {

/// Sizes of a network, from its weights and options.
struct NetworkSizes {
  WeightNames names = WeightNames::linnet;  ///< Keras's networks differ in details
  PixelScale pixels = PixelScale::imagenet;
  Shape image = {};  ///< (height, width)
  std::int64_t steps = 0;
  std::int64_t classes = 0;
  std::int64_t vocabulary = 0;
  std::int64_t features = 0;
  std::int64_t units = 0;
};

/// A network whose weights are known by other names.
struct KnownNetwork {
  std::string_view name;
  std::string_view family;
  std::int64_t side = 0;  ///< height and width of its images; 0: it takes texts
  Network (*make)(const NetworkSizes& sizes);
};

/// Throws Error for an unknown name, with the nearest one.
const KnownNetwork& known_network(std::string_view name);

/// Returns the pixels that the published weights of a network were trained on.
PixelScale published_pixels(const KnownNetwork& known, WeightNames names);
/// Returns the first layer for these pixels.
Layer pixels_layer(PixelScale scale);

}  // namespace linnet
