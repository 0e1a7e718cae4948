// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"
#include "fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  const auto path = fuzz::put("job.toml", std::span(data, size));
  fuzz::accepts([&] {
    const command::Job job = command::read_config(path);
    fuzz::expect(job.name == "job" && job.training.epochs >= 1 && job.training.batch >= 1,
                 "a training has epochs and a batch");
  });
  return 0;
}
