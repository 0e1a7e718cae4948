// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/network.h>
#include <linnet/trainer.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/named_data.h"
#include "report/json.h"
#include "tasks/task.h"

namespace linnet::command {

struct ConfigOptions;

/// Describes how much of a workload a benchmark does.
struct BenchSize {
  std::int64_t batch = 1;
  std::int64_t samples = 0;  ///< of an epoch at most; 0: all
  std::int64_t warmup = 1;   ///< epochs before the clock starts
  std::int64_t epochs = 3;   ///< on the clock
};

/// A network of the literature, and a file of its weights; empty: none.
struct ZooNetwork {
  std::string network = {};
  std::string weights = {};
};

/// Everything that a training needs to be told.
struct Job {
  std::string name;  ///< the workload, or the configuration file without its extension
  Network network;
  std::string configuration = {};  ///< text of the configuration file; empty: a workload
  TrainingOptions training = {};
  ModelOptions model = {};
  std::string data = {};          ///< a path, "fashion-mnist" or "digits"; "" means Fashion-MNIST
  double validation = 0;          ///< share of the training data that is held out, in [0, 1)
  bool forward_only = false;      ///< features of a network without a loss: nothing to train
  bool balanced_classes = false;  ///< class weights that follow from the training data
  double oversample = 0;          ///< OversampleOptions::share of the training set; 0: as it is
  /// The same network for other images, of a workload whose network takes any; null else.
  std::function<Network(const Shape& sample)> for_images = {};
  /// Views that the saved model averages: --tta's, else those of the model that `from` names.
  std::optional<TestViews> views = {};
  DatasetOptions images = {};            ///< of image files; `streamed` is the training's
  std::string from = {};                 ///< a model to start from, a file or a run; empty: none
  ZooNetwork zoo = {};                   ///< in place of the task's network
  std::vector<std::string> freeze = {};  ///< patterns of parameters that do not train
  std::int64_t head = 0;                 ///< outputs of its new last layer; 0: it keeps its own
  std::shared_ptr<const Task> task = task_of_arrays();  ///< what it learns from
  /// As others have published it, by mode, "train" or "infer"; of a workload alone.
  std::map<std::string, BenchSize> published = {};
  /// The settings of the optimizer and of the schedule that the workload or the configuration
  /// names, as in [optimizer] and [schedule]; the others are the defaults of their kinds.
  std::vector<std::string> optimizer_settings = {"learning_rate", "momentum"};
  std::vector<std::string> schedule_settings = {};
};

/// Returns whether `mode`, "train" or "infer", asks for predictions; "": for what the job is for.
/// Throws Error for trainings of a job that is forward_only.
bool infers(const Job& job, const std::string& mode);

/// Returns the job's network, or the one that fits images of another size (see Job::for_images).
Network network_for(const Job& job, const Shape& sample);

/// Returns benchmarks/workloads.json, the one table of the workloads.
const Json& workload_table();
/// Returns the names that --workload takes, in the order of the table.
std::vector<std::string> workload_names(const Json& table = workload_table());
/// Returns the workload as `linnet train` trains it. Throws Error for an unknown name, with the
/// nearest one.
Job workload(const std::string& name, const Json& table = workload_table());
/// Returns the workload as benchmarks train it, which is for speed; the recipe may be better.
Job published_workload(const std::string& name, const Json& table = workload_table());

/// Returns whether a word is the name of a workload, not of a configuration file.
bool names_workload(const std::string& word);

/// `config` or else `workload_name`: exactly one of them must be given; Error otherwise, naming
/// `command` ("linnet train").
Job job_from(const std::string& config, const std::string& workload_name,
             const std::string& command);
/// Does the same with what arguments add to a configuration file.
Job job_from(const std::string& config, const std::string& workload_name,
             const std::string& command, const ConfigOptions& options);

}  // namespace linnet::command
