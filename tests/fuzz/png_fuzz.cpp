// SPDX-License-Identifier: Apache-2.0
#include "formats/image_formats.h"
#include "fuzz/decoded_image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return linnet::fuzz::decode(
      [](std::string_view file, const std::filesystem::path& path) {
        // The last byte chooses the range of 16-bit samples.
        const std::int64_t white = file.empty() || file.back() == 0 ? 0 : 4095;
        return linnet::decode_png(file, path, white);
      },
      data, size);
}
