// SPDX-License-Identifier: Apache-2.0
// Mends the check sum of every chunk of a changed PNG: else nearly all end at the first.
#include <zlib.h>

#include <cstddef>
#include <cstdint>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

constexpr std::size_t kSignature = 8;
constexpr std::size_t kAround = 12;  // length, type and check sum

std::uint32_t big_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned int seed) {
  size = LLVMFuzzerMutate(data, size, most);
  if (seed % 16 == 0) return size;
  for (std::size_t at = kSignature; at + kAround <= size;) {
    const std::size_t length = big_endian(data + at);
    if (length > size - at - kAround) break;
    const auto sum =
        static_cast<std::uint32_t>(crc32(0, data + at + 4, static_cast<unsigned>(length + 4)));
    for (std::size_t i = 0; i < 4; ++i) {
      data[at + 8 + length + i] = static_cast<std::uint8_t>(sum >> (24 - 8 * i));
    }
    at += kAround + length;
  }
  return size;
}
