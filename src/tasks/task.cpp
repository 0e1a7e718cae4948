// SPDX-License-Identifier: Apache-2.0
#include "tasks/task.h"

#include <fmt/format.h>
#include <linnet/datasets.h>

#include <algorithm>

#include "base/check.h"
#include "base/counted.h"
#include "base/join.h"
#include "table/contents.h"
#include "tasks/read_arrays.h"
#include "tasks/registry.h"

namespace linnet {

std::string_view Task::samples(const Dataset& train) const {
  return train.info().vocabulary.empty() ? "samples" : "texts";
}

std::string Task::title(const std::string& job, const Dataset& train) const {
  return fmt::format("{} on {}{}", job, train.info().name, classes_text(train));
}

std::vector<RefusedSettings> Task::refused() const {
  return {{TaskSettings::windows, "series, the rows of a table"},
          {TaskSettings::rows, "tables"},
          {TaskSettings::texts, "tables"}};
}

PreparedTask Task::prepare(const std::filesystem::path& path,
                           const TaskFileOptions& /*options*/) const {
  fail("no task prepares a training on '{}'", path.string());
}

Samples Task::read(std::span<const std::filesystem::path> paths, const Model& model,
                   const ReadOptions& options) const {
  return read_arrays(paths, model, options);
}

LabelledData Task::load(const Model& /*model*/, const LabelledFiles& files) const {
  return {.splits = load_dataset(files.path)};
}

RequestRows Task::samples_of(const Model& model, const Table& /*rows*/) const {
  fail("the model takes no rows of a table; its input is {}",
       to_string(model.network().input_shape()));
}

TableAnswer Task::answer(Model& /*model*/, const Table& rows) const {
  fail("the model has no answer on a table as a whole; got '{}'", rows.name());
}

TaskReport Task::measure(Model& /*model*/, const Table& rows) const {
  fail("the model has no answer on a table as a whole; got '{}'", rows.name());
}

namespace {

const std::vector<std::unique_ptr<const Task>>& all_tasks() {
  static const Tasks tasks = [] {
    Tasks all;
    register_tasks(all);
    return all;
  }();
  return tasks.all();
}

}  // namespace

const Task* task_of_files(const std::filesystem::path& path, const TextColumns& columns) {
  const Task* best = nullptr;
  TaskClaim most = TaskClaim::none;
  for (const auto& task : all_tasks()) {
    const TaskClaim claim = task->claims(path, columns);
    if (claim <= most) continue;
    most = claim;
    best = task.get();
  }
  return best;
}

const Task& task_of(const Model& model, bool texts) {
  const auto found =
      std::ranges::find_if(all_tasks(), [&](const auto& task) { return task->made(model); });
  const bool arrays = found == all_tasks().end() || (!texts && (*found)->reads(TaskFiles::texts));
  return arrays ? *task_of_arrays() : **found;
}

Samples read_samples(std::span<const std::filesystem::path> paths, const Model& model,
                     const ReadOptions& options) {
  return task_of(model).read(paths, model, options);
}

Table read_sheet(const std::filesystem::path& file, TableOptions reading, const std::string& sheet,
                 std::vector<std::string>& notes) {
  reading.sheet = sheet;
  Table table = read_table(file, reading);
  const std::string& source = table.contents()->source_note;
  if (!source.empty()) notes.push_back(source);
  return table;
}

std::shared_ptr<const Task> task_of_arrays() {
  static const auto task = std::make_shared<const Task>();
  return task;
}

std::string classes_text(const Dataset& train) {
  const std::size_t classes = train.info().classes.size();
  return classes == 0 ? "" : fmt::format(": {}", counted(classes, "class"));
}

std::string some_names(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  if (names.size() <= kShown) return join(names, ", ");
  return fmt::format("{} and {} more", join(std::span(names).first(kShown), ", "),
                     names.size() - kShown);
}

}  // namespace linnet
