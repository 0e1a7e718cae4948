// SPDX-License-Identifier: Apache-2.0
#include <linnet/tensor.h>

#include "fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  const auto path = fuzz::put("x.npy", std::span(data, size));
  fuzz::accepts([&] {
    const Tensor array = read_npy(path);
    write_npy(path, array);
    fuzz::expect(same_bits(read_npy(path), array),
                 "an array that was read is written and read again as it is");
  });
  return 0;
}
