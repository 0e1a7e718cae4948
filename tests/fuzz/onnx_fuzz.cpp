// SPDX-License-Identifier: Apache-2.0
#include <linnet/onnx.h>

#include "fuzz/fuzz_input.h"
#include "nn/definition.h"

// What is imported is a network that a model file can hold.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  const auto path = fuzz::put("x.onnx", std::span(data, size));
  for (const bool batch_axis : {true, false}) {
    OnnxImportOptions options;
    options.batch_axis = batch_axis;
    fuzz::accepts([&] {
      const OnnxImport import = import_onnx(path, options, {.device = "cpu", .threads = 1});
      const Network& network = import.model.network();
      const Network again = Network::from_json(network.to_json());
      fuzz::expect(again.parameters() == network.parameters(),
                   "a network is read as it was written");
    });
  }
  return 0;
}
