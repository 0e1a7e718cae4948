// SPDX-License-Identifier: Apache-2.0
#include <linnet/convert.h>

#include "fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  const auto path = fuzz::put("x.npz", std::span(data, size));
  fuzz::accepts([&] {
    const State weights = read_weights(path);
    write_weights(path, weights);
    fuzz::expect(same_bits(read_weights(path), weights),
                 "arrays that were read are written and read again as they are");
  });
  return 0;
}
