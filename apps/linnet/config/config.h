// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <string>

#include "config/workloads.h"

namespace linnet::command {

/// Reads [training], [optimizer], [schedule], [loss] and [augment] of a table into `job`; `path` is
/// what errors call it. Throws Error at the first wrong value.
void read_recipe(const toml::table& table, const std::filesystem::path& path, Job& job);

/// Reads a training from a TOML file; examples/mnist.toml shows every table and key. A relative
/// [data] path counts from the file's own folder. Throws Error "file:line:column: ..." for a
/// damaged file, an unknown key (with the nearest known one), a wrong type or a layer that does not
/// fit. Where it `needs_network` not, [network] may be missing: a network of nothing takes its
/// place.
Job read_config(const std::filesystem::path& path, bool needs_network = true);
/// Does the same for a file's text, which a run has kept.
Job parse_config(const std::string& text, const std::filesystem::path& path,
                 bool needs_network = true);

}  // namespace linnet::command
