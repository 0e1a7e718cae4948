// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "data/image_transform.h"
#include "fuzz/fuzz_input.h"

namespace linnet::fuzz {

/// Decodes an input by one format's decoder and does with the image what reading images does.
template <class Decoder>
int decode(const Decoder& decoder, const std::uint8_t* data, std::size_t size) {
  accepts([&] {
    const Image image = decoder(text_of(data, size), "image");
    expect(image.height > 0 && image.width > 0 && (image.channels == 1 || image.channels == 3) &&
               std::ssize(image.pixels) == image.height * image.width * image.channels,
           "an image has the pixels that its size calls for");
    resize_image(with_channels(image, image.channels == 1 ? 3 : 1), 5, 7);
  });
  return 0;
}

}  // namespace linnet::fuzz
