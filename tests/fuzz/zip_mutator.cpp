// SPDX-License-Identifier: Apache-2.0
// Mends the check sum of every stored file of a changed archive: else nearly all end at the first.
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

constexpr std::size_t kEntry = 46;
constexpr std::size_t kLocal = 30;

std::uint64_t number(const std::uint8_t* bytes, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
  return value;
}

/// Mends the entry of the directory that stands here, where it names a stored file.
void mend(std::uint8_t* data, std::size_t size, std::uint8_t* entry) {
  const std::uint64_t bytes = number(entry + 20, 4);
  const std::uint64_t start = number(entry + 42, 4);
  if (number(entry + 10, 2) != 0 || start + kLocal > size) return;
  const std::uint64_t begin =
      start + kLocal + number(data + start + 26, 2) + number(data + start + 28, 2);
  if (begin > size || bytes > size - begin) return;
  const auto sum = static_cast<std::uint32_t>(crc32(0, data + begin, static_cast<unsigned>(bytes)));
  for (std::size_t i = 0; i < 4; ++i) entry[16 + i] = static_cast<std::uint8_t>(sum >> (8 * i));
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned int seed) {
  size = LLVMFuzzerMutate(data, size, most);
  if (seed % 16 == 0) return size;
  for (std::size_t at = 0; at + kEntry <= size; ++at) {
    if (std::memcmp(data + at, "PK\x01\x02", 4) == 0) mend(data, size, data + at);
  }
  return size;
}
