// SPDX-License-Identifier: Apache-2.0
#include <linnet/network.h>

#include "fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  fuzz::accepts([&] {
    const Network network = Network::from_json(std::string(fuzz::text_of(data, size)));
    network.output_shape();
    const std::string written = network.to_json();
    fuzz::expect(Network::from_json(written).to_json() == written,
                 "a network is read as it was written");
  });
  return 0;
}
