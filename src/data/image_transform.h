// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "data/image.h"

namespace linnet {

/// Reads and decodes one file. Throws Error naming it.
Image read_image(const std::filesystem::path& path);

/// The image with 1 or 3 channels: grey is written three times, a colour becomes its luma (ITU-R
/// BT.601, rounded).
Image with_channels(Image image, std::int64_t channels);

/// Bilinear: each axis by a triangle filter around the pixel's centre, made wider by the factor
/// where the image shrinks, so that nothing is passed over (as Pillow's BILINEAR and PyTorch's
/// antialias=True); computed in f32, rounded. The sides need not keep their ratio.
Image resize_image(const Image& image, std::int64_t height, std::int64_t width);

}  // namespace linnet
