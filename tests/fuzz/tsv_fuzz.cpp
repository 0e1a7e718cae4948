// SPDX-License-Identifier: Apache-2.0
#include "datasets/texts.h"
#include "fuzz/fuzz_input.h"

// Reviews by lines: the training set and the test set are the same file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  std::filesystem::create_directories(fuzz::folder() / "imdb");
  fuzz::put("imdb/train.tsv", std::span(data, size));
  fuzz::put("imdb/test.tsv", std::span(data, size));
  fuzz::accepts([&] {
    const Splits splits = load_texts(fuzz::folder() / "imdb", {.ids = 40, .length = 9});
    splits.train.check_labels();
    for (const std::int32_t id : splits.train.inputs()[0].data.as<std::int32_t>()) {
      fuzz::expect(id >= 0 && id < 40, "ids lie below the number asked for");
    }
  });
  return 0;
}
