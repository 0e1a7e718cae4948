// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace linnet::command {

/// The largest seed: TOML and JSON hold it.
inline constexpr long long kLargestSeed = std::numeric_limits<long long>::max();

/// Accepts one of `names`; the error names them all, and the nearest one if one is near.
CLI::Validator one_of(std::vector<std::string> names);
/// Returns where a name that one_of() has accepted stands in them.
std::size_t index_of(const std::vector<std::string>& names, const std::string& name);
/// Accepts integers of at least `least`, and at most `most`: sums and products of a few don't
/// overflow.
CLI::Validator at_least(long long least, long long most = std::numeric_limits<std::int32_t>::max());
/// Accepts numbers of bytes of at least `least`, also with a unit, e.g. 512MiB, and turns them into
/// plain ones.
CLI::Validator byte_count(std::uint64_t least);
/// Adds --disable-pass, which may be given several times.
void add_disabled_passes(CLI::App& command, std::vector<std::string>& passes);

}  // namespace linnet::command
