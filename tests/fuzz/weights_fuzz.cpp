// SPDX-License-Identifier: Apache-2.0
#include <linnet/convert.h>

#include "fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  const auto path = fuzz::put("x.safetensors", std::span(data, size));
  fuzz::accepts([&] {
    const State weights = read_weights(path);
    for (const char* network : {"gru-text", "lstm-text"}) {
      fuzz::accepts([&] {
        ImportOptions options;
        options.network = network;
        options.steps = 3;
        const Imported imported = import_weights(weights, options, {.device = "cpu", .threads = 1});
        const State theirs = export_weights(imported.model, imported.names);
        fuzz::expect(imported.placed == static_cast<std::int64_t>(theirs.size()),
                     "as many tensors are written as found a place");
      });
    }
  });
  return 0;
}
