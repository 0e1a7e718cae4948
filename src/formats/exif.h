// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "formats/image.h"

namespace linnet {

/// From this orientation on, rows become columns.
inline constexpr int kTurned = 5;

/// Returns the orientation, 1 to 8, that the EXIF data of a PNG, JPEG, TIFF or WebP file give its
/// image: 1 is as stored, also where there are none or they are damaged. Data count that stand
/// before the image's own (in a WebP file anywhere). 0: the bytes end before it is known.
int exif_orientation(std::string_view file);

/// Returns the image as a viewer shows one of this orientation: turned, mirrored, or both.
Image upright(Image image, int orientation);

}  // namespace linnet
