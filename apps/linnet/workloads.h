// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/network.h>
#include <linnet/trainer.h>

#include <filesystem>
#include <string>
#include <vector>

namespace linnet::command {

/// Everything that a training needs to be told.
struct Job {
  std::string name;  ///< the workload, or the configuration file without its extension
  Network network;
  TrainingOptions training = {};
  ModelOptions model = {};
  std::string data = {};  ///< a path, "fashion-mnist" or "digits"; "" means Fashion-MNIST
};

/// The names that --workload takes.
std::vector<std::string> workload_names();
/// Throws Error for an unknown name, with the nearest one.
Job workload(const std::string& name);

/// `config` or else `workload_name`: exactly one of them must be given; Error otherwise, naming
/// `command` ("linnet train").
Job job_from(const std::string& config, const std::string& workload_name,
             const std::string& command);

/// The names that --schedule takes, in the order of Schedule::Kind.
const std::vector<std::string>& schedule_names();

/// The names that --optimizer takes, in the order of Optimizer::Kind, and each one's defaults.
const std::vector<std::string>& optimizer_names();
Optimizer default_optimizer(Optimizer::Kind kind);

/// What is fetched or measured once is kept here: $XDG_CACHE_HOME/linnet or ~/.cache/linnet.
std::filesystem::path cache_folder();

struct LoadedData {
  DatasetPair parts;
  std::string note;  ///< a sentence for the user, if something else was taken than asked for
};

/// Throws Error for a name that is neither a path nor a known data set. Where Fashion-MNIST cannot
/// be had, drawn digits take its place and the note says so.
LoadedData load_data(const std::string& name, std::uint64_t seed);

}  // namespace linnet::command
