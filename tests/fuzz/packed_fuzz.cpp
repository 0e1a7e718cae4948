// SPDX-License-Identifier: Apache-2.0
#include "formats/packed.h"

#include "fuzz/fuzz_input.h"

// gzip and xz, told apart by the first bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  constexpr std::size_t kLimit = std::size_t{1} << 18;
  const auto path = fuzz::put("packed", std::span(data, size));
  fuzz::accepts([&] {
    fuzz::expect(read_unpacked(path, kLimit).size() <= kLimit, "no more than the limit comes out");
  });
  return 0;
}
