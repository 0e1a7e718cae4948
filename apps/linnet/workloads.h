// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/network.h>
#include <linnet/trainer.h>

#include <functional>
#include <string>
#include <vector>

#include "named_data.h"

namespace linnet::command {

/// Everything that a training needs to be told.
struct Job {
  std::string name;  ///< the workload, or the configuration file without its extension
  Network network;
  TrainingOptions training = {};
  ModelOptions model = {};
  std::string data = {};          ///< a path, "fashion-mnist" or "digits"; "" means Fashion-MNIST
  bool forward_only = false;      ///< features of a network without a loss: nothing to train
  bool balanced_classes = false;  ///< class weights that follow from the training data
  /// The same network for other images, of a workload whose network takes any; null else.
  std::function<Network(const Shape& sample)> for_images = {};
  DatasetOptions images = {};  ///< of image files; `streamed` is the training's
  /// The settings of the optimizer that the workload or the configuration names, as in [optimizer];
  /// the others are the defaults of its kind.
  std::vector<std::string> optimizer_settings = {"learning_rate", "momentum"};
};

/// The job's network, or the one that fits images of another size (see Job::for_images).
Network network_for(const Job& job, const Shape& sample);

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

/// A number that [optimizer] may hold, by its name there.
struct OptimizerSetting {
  std::string name;
  double Optimizer::*field;
};
const std::vector<OptimizerSetting>& optimizer_settings();

/// The job's optimizer as another kind: what the job names stays, what it does not is the new
/// kind's default.
Optimizer with_kind(const Job& job, Optimizer::Kind kind);

}  // namespace linnet::command
