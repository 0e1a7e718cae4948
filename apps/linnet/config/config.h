// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "config/prepared.h"
#include "config/workloads.h"

namespace linnet::command {

/// Reads [training], [optimizer], [schedule], [loss] and [augment] of a table into `job`; `path` is
/// what errors call it. Throws Error at the first wrong value.
void read_recipe(const toml::table& table, const std::filesystem::path& path, Job& job);

/// Says what arguments add to a configuration.
struct ConfigOptions {
  /// A model to start from, as Job::from. With one [network] may be missing: a network of nothing
  /// takes its place.
  std::string from = {};
  std::string file = {};                   ///< of data, instead of that in [data]
  DataSettings data = {};                  ///< of a file, instead of [data]
  std::optional<std::uint64_t> seed = {};  ///< of a file's split, instead of that in [training]
  CheckData check = {};                    ///< of what arguments say beside the settings of a file
  std::optional<std::string> optimizer = {};  ///< its kind, instead of that in [optimizer]
  KeptTask* kept = nullptr;                   ///< see prepare()
};

/// Returns a file's text as a table; nothing else parses TOML (tools/check_gates.py). Throws Error
/// "file:line:column: ..." for a damaged file, and for one whose tables and arrays are nested more
/// than 64 deep.
toml::table parse_toml(const std::string& text, const std::filesystem::path& path);
/// Does the same for a file, of at most 16 MiB.
toml::table read_toml(const std::filesystem::path& path);

/// Reads a training from a TOML file; examples/mnist.toml shows every table and key. A relative
/// [data] path counts from the file's own folder. Throws Error "file:line:column: ..." for a
/// damaged file, an unknown key (with the nearest known one), a wrong type or a layer that does not
/// fit.
Job read_config(const std::filesystem::path& path, const ConfigOptions& options = {});
/// Does the same for a file's text, which a run has kept.
Job parse_config(const std::string& text, const std::filesystem::path& path,
                 const ConfigOptions& options = {});

/// Returns what a job's configuration says in [training]; empty where it has none.
toml::table configured_training(const Job& job);

}  // namespace linnet::command
