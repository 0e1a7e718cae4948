// SPDX-License-Identifier: Apache-2.0
#include "formats/tar.h"

#include "fuzz/fuzz_input.h"

// Archives, plain or packed; nothing is written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  const auto path = fuzz::put("tar", std::span(data, size));
  fuzz::accepts([&] {
    read_tar(path, [](const std::string& name, std::string_view) {
      const std::filesystem::path inside = std::filesystem::path(name).lexically_normal();
      fuzz::expect(inside.is_relative() && *inside.begin() != "..",
                   "a path stays in the archive's folder");
    });
  });
  return 0;
}
