// SPDX-License-Identifier: Apache-2.0
#include "datasets/cifar.h"

#include "fuzz/fuzz_input.h"

namespace {

void load(const char* name, bool coarse, std::uint8_t kept) {
  using namespace linnet;
  fuzz::accepts([&] {
    const Splits splits = load_cifar(fuzz::folder() / name,
                                     {.labels = coarse ? CifarLabels::coarse : CifarLabels::fine,
                                      .train_samples = kept,
                                      .test = true});
    splits.train.check_labels();
    splits.test.check_labels();
  });
}

}  // namespace

// The first byte says which version, which labels and how many samples; all files are the rest.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  if (size == 0) return 0;
  const std::span file = std::span(data, size).subspan(1);
  const bool hundred = (data[0] & 1) != 0;
  const char* folder = hundred ? "cifar100" : "cifar10";
  std::filesystem::create_directories(fuzz::folder() / folder);
  const std::string at = std::string(folder) + "/";
  fuzz::put(at + (hundred ? "train.bin" : "data_batch_1.bin"), file);
  fuzz::put(at + (hundred ? "test.bin" : "test_batch.bin"), file);
  load(folder, (data[0] & 2) != 0, data[0] >> 4);
  return 0;
}
