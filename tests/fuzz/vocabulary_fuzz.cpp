// SPDX-License-Identifier: Apache-2.0
#include "data/vocabulary.h"

#include "fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  const auto path = fuzz::put("vocabulary.txt", std::span(data, size));
  std::vector<std::int32_t> ids(16);
  const std::string text(fuzz::text_of(data, size));
  fuzz::accepts([&] {
    const Vocabulary vocabulary = read_vocabulary(path);
    vocabulary.encode(text, ids);
    for (const std::int32_t id : ids) {
      fuzz::expect(id >= 0 && id < vocabulary.size(), "every id is one of the vocabulary's");
    }
  });
  // What counting gives is what a run saves and `predict` reads.
  const Vocabulary counted = Vocabulary::from_texts(std::span(&text, 1), 30);
  write_vocabulary(path, counted);
  const bool read = fuzz::accepts([&] {
    fuzz::expect(read_vocabulary(path).words() == counted.words(),
                 "a vocabulary is read as it was written");
  });
  fuzz::expect(read || counted.words().empty(), "a vocabulary of words can be read again");
  return 0;
}
