// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/callback.h>
#include <linnet/model.h>

#include <cstdint>
#include <string>
#include <vector>

#include "config/workloads.h"
#include "report/json.h"
#include "report/timed_run.h"

namespace linnet::command {

// What `linnet train` and `linnet bench` write about a run, key by key alike.

/// The workload and its data, where it runs, and how it is trained for `epochs` epochs.
void add_setup(Json& json, const Job& job, const Model& model, const Dataset& train,
               std::int64_t test_samples, std::size_t epochs);
/// train_loss, train_accuracy, validation_… and test_… of the last epoch; what was not measured is
/// null.
void add_scores(Json& json, const std::vector<EpochReport>& epochs);
/// samples_per_second at the median epoch, and epoch_seconds.
void add_speed(Json& json, std::int64_t samples, const Spread& seconds);
/// version, commit, compiler, the machine, and the libraries that compute.
void add_origin(Json& json, const Model& model, const ModelOptions& options);

/// Returns text such as "oneDNN 3.1.0" (where this process has opened it), and for a GPU
/// "driver 13.0", "cuDNN 9.19", ...
std::vector<std::string> libraries(const Model& model, const ModelOptions& options);

}  // namespace linnet::command
