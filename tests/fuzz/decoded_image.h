// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "data/image_transform.h"
#include "formats/exif.h"
#include "formats/image_header.h"
#include "fuzz/fuzz_input.h"

namespace linnet::fuzz {

/// Decodes an input by one format's decoder and does with the image what reading images does.
template <class Decoder>
int decode(const Decoder& decoder, const std::uint8_t* data, std::size_t size) {
  accepts([&] {
    const std::string_view file = text_of(data, size);
    const Image image = decoder(file, "image");
    expect(image.height > 0 && image.width > 0 && (image.channels == 1 || image.channels == 3) &&
               std::ssize(image.pixels) == image.height * image.width * image.channels,
           "an image has the pixels that its size calls for");
    expect(exif_orientation(file) <= 8, "there are eight orientations");
    const ImageHeader header = image_header(file);
    expect(header.channels == 0 || (header.height == image.height && header.width == image.width &&
                                    header.channels == image.channels),
           "a header says what the decoder gives");
    const Image turned = upright(image, exif_orientation(file));
    expect(turned.pixels.size() == image.pixels.size(), "an image that is turned has its pixels");
    resize_image(with_channels(image, image.channels == 1 ? 3 : 1), 5, 7);
  });
  return 0;
}

}  // namespace linnet::fuzz
