// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_input.h"
#include "report/run_folder.h"
#include "report/saved_run.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  static const std::filesystem::path model = fuzz::put(command::kModelFile, "");
  fuzz::put(command::kSummaryFile, std::span(data, size));
  fuzz::accepts([&] {
    const command::SavedRun run = command::find_run(model.parent_path());
    fuzz::expect(run.model == model, "the run's model is the folder's");
  });
  return 0;
}
