// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_input.h"
#include "io/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  const auto path = fuzz::put("x.npy", std::span(data, size));
  fuzz::accepts([&] {
    const NpyArray array = read_npy(path);
    // Only what was read may fail to be written: a shape may be too long for a header.
    write_npy(path, array.dtype, array.shape, array.bytes);
    const NpyArray again = read_npy(path);
    fuzz::expect(again.dtype == array.dtype && again.shape == array.shape &&
                     again.bytes == array.bytes,
                 "an array that was read is written and read again as it is");
  });
  return 0;
}
