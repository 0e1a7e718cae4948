// SPDX-License-Identifier: Apache-2.0
#include "formats/idx.h"
#include "fuzz/fuzz_input.h"

// The first byte says how many dimensions are asked for; the file is the rest.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  if (size == 0) return 0;
  const int rank = 1 + data[0] % 4;
  const auto path = fuzz::put("idx", std::span(data, size).subspan(1));
  fuzz::accepts([&] {
    const IdxArray array = read_idx(path, rank);
    std::int64_t elements = 1;
    for (const std::int64_t dim : array.dims) elements *= dim;
    fuzz::expect(std::ssize(array.dims) == rank && std::ssize(array.bytes) == elements,
                 "an IDX file has the bytes that its dimensions call for");
  });
  return 0;
}
