// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace linnet::fuzz {

struct Target {
  std::string name;
  int (*run)(const std::uint8_t* data, std::size_t size);
};

/// Every fuzz target, as fuzz_corpus_test calls it.
const std::vector<Target>& targets();

}  // namespace linnet::fuzz
