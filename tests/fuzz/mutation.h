// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>

/// libFuzzer's own mutation of bytes; returns the new size.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace linnet::fuzz {

using Json = nlohmann::ordered_json;
using Random = std::minstd_rand;

/// A number below `count`, from the random bits that are not the lowest.
inline std::size_t below(Random& random, std::size_t count) { return random() / 7 % count; }

/// Changes one place of the tree: a number, a name, or the order and number of what a list holds.
void change(Json& tree, Random& random);

}  // namespace linnet::fuzz
