// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/workloads.h"
#include "tasks/task.h"

namespace linnet::command {

/// Returns whether a path is a folder whose images have their targets in a table.
bool is_image_folder(const std::string& path);

/// Returns the task of a file or folder. Throws Error where no task takes it.
const Task& task_at(const std::string& path, const TextColumns& columns);

/// Returns the training of a file or folder of which task_of_files() knows the task. `from`: a
/// model to start from, whose network it takes; empty: none. Throws Error for other data, saying
/// what to do.
Job prepared_job(const std::string& path, TaskFileOptions options, const std::string& from);

/// Returns the data with labels as the model counts its classes. Throws Error where a model to
/// start from has other classes, or another number of outputs, and where a network has more outputs
/// than there are classes, saying what to do; `force` lets it pass and takes the classes by number.
Splits match_classes(const Job& job, Model& model, Splits splits, bool force);

}  // namespace linnet::command
