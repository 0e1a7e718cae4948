// SPDX-License-Identifier: Apache-2.0
#include "formats/image_formats.h"
#include "fuzz/decoded_image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return linnet::fuzz::decode(linnet::decode_jpeg, data, size);
}
