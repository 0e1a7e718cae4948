// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <linnet/network.h>

namespace linnet::fuzz {

/// Small networks that between them hold most operators, by name.
std::vector<std::pair<std::string, Network>> seed_networks();

/// Writes good inputs of every target, <folder>/<target>/<name>: what fuzzing begins with.
void write_seeds(const std::filesystem::path& folder);

}  // namespace linnet::fuzz
