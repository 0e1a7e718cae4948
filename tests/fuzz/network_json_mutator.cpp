// SPDX-License-Identifier: Apache-2.0
// Changes a network's JSON by its tree; now and then as bytes.
#include <cstring>
#include <string>
#include <string_view>

#include "fuzz/mutation.h"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned int seed) {
  using namespace linnet::fuzz;
  Random random(seed);
  Json json =
      Json::parse(std::string_view(reinterpret_cast<const char*>(data), size), nullptr, false);
  if (json.is_discarded() || below(random, 6) == 0) return LLVMFuzzerMutate(data, size, most);
  for (std::size_t changes = 1 + below(random, 3); changes > 0; --changes) change(json, random);
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
