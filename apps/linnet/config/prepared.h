// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <optional>
#include <string>

#include "config/section.h"
#include "config/workloads.h"
#include "tasks/task.h"

namespace linnet::command {

/// Adds the flags that tasks describe to the command.
void add_task_flags(CLI::App& command, Setting& given);
/// Adds what [data] says of them; settings that are given already stay.
void add_data(Section& data, DataSettings& settings);

/// Refuses what else was given and does nothing for the task of a file or folder.
using CheckData = std::function<void(const Task& task, const std::string& path)>;

/// Keeps what prepare() made of a file or folder.
struct KeptTask {
  std::string path = {};
  TaskFileOptions options = {};
  std::optional<PreparedTask> made = {};
};

/// Sets data, network and recipe of a job to those of a file or folder, and of Job::from where
/// there is one. What `kept` holds of the same data is not made again; null: nothing is kept.
/// Throws Error where no task takes it, and for settings that its task does not.
void prepare(Job& job, const std::string& path, TaskFileOptions options, const CheckData& check,
             KeptTask* kept = nullptr);
/// Returns a job that is called as a file or folder.
Job job_called(const std::string& path, const std::string& from);

/// Returns the data with labels as the model counts its classes. Throws Error where a model to
/// start from has other classes, or another number of outputs, and where a network has more outputs
/// than there are classes, saying what to do; `force` lets it pass and takes the classes by number.
Splits match_classes(const Job& job, Model& model, Splits splits, bool force);

}  // namespace linnet::command
