// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <toml++/toml.h>

#include <filesystem>

#include "config/workloads.h"

namespace linnet::command {

/// Reads [training], [optimizer], [schedule], [loss] and [augment] of a table into `job`; `path` is
/// what errors call it. Throws Error at the first wrong value.
void read_recipe(const toml::table& table, const std::filesystem::path& path, Job& job);

/// Reads a training from a TOML file; examples/mnist.toml shows every table and key. A relative
/// [data] path counts from the file's own folder. Throws Error "file:line:column: ..." for a
/// damaged file, an unknown key (with the nearest known one), a wrong type or a layer that does not
/// fit.
Job read_config(const std::filesystem::path& path);

}  // namespace linnet::command
