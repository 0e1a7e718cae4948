// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "tasks/task.h"

namespace linnet {

/// Holds a task without data of each kind.
class Tasks {
 public:
  void add(std::unique_ptr<const Task> task) { all_.push_back(std::move(task)); }
  const std::vector<std::unique_ptr<const Task>>& all() const { return all_; }

 private:
  std::vector<std::unique_ptr<const Task>> all_;
};

/// Adds the tasks of all folders: each NAME/ defines `void register_NAME_task(Tasks&)`.
void register_tasks(Tasks& tasks);

}  // namespace linnet
