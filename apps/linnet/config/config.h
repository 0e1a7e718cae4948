// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "config/workloads.h"

namespace linnet::command {

/// Reads a training from a TOML file; examples/mnist.toml shows every table and key. A relative
/// [data] path counts from the file's own folder. Throws Error "file:line:column: ..." for a
/// damaged file, an unknown key (with the nearest known one), a wrong type or a layer that does not
/// fit.
Job read_config(const std::filesystem::path& path);

}  // namespace linnet::command
