// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "formats/image.h"

namespace linnet {

/// Reads and decodes one file. Throws Error naming it.
Image read_image(const std::filesystem::path& path, const ImageReading& reading = {});

/// Returns the image with 1 or 3 channels: grey is written three times, a colour becomes its luma
/// (ITU-R BT.601, rounded).
Image with_channels(Image image, std::int64_t channels);

/// Bilinear: each axis by a triangle filter around the pixel's centre, made wider by the factor
/// where the image shrinks, so that nothing is passed over; rounded after each axis. Byte for byte
/// Pillow's BILINEAR, which torchvision uses. The sides need not keep their ratio.
Image resize_image(const Image& image, std::int64_t height, std::int64_t width);

/// Resizes so that the shorter side has so many pixels and the other keeps the ratio, rounded down,
/// and returns the centre: torchvision's Resize(shorter_side) and CenterCrop((height, width)).
/// Throws Error for a centre that is larger.
Image centre_of_resized(const Image& image, std::int64_t shorter_side, std::int64_t height,
                        std::int64_t width);

}  // namespace linnet
