// SPDX-License-Identifier: Apache-2.0
#include "tasks/task.h"

#include <fmt/format.h>
#include <linnet/datasets.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/join.h"
#include "base/shell_word.h"
#include "table/contents.h"
#include "tasks/options.h"
#include "tasks/read_arrays.h"
#include "tasks/registry.h"

namespace linnet {

std::string_view Task::samples(const Dataset& train) const {
  return train.info().vocabulary.empty() ? "samples" : "texts";
}

std::string Task::title(const std::string& job, const Dataset& train) const {
  return fmt::format("{} on {}{}", job, train.info().name, classes_text(train));
}

std::vector<TaskFlags> Task::flags() const {
  static const Description kShare = [] {
    Description all = flags_of<ImageTaskOptions>();
    std::erase_if(all.fields, [](const Field& field) { return field.key != "validation"; });
    return all;
  }();
  return {{.all = &kShare}};
}

PreparedTask Task::prepare(const std::filesystem::path& path,
                           const TaskFileOptions& /*options*/) const {
  fail("no task prepares a training on '{}'", path.string());
}

const Task& task_for(const std::filesystem::path& path, const DataSettings& settings) {
  const FoundTask found = task_of_files(path, settings);
  require<DataError>(found.task != nullptr, "{}",
                     found.why_not.empty()
                         ? fmt::format("'{}' holds no table, texts or images to learn from",
                                       path.string())
                         : found.why_not);
  check_settings(*found.task, settings, path.string());
  return *found.task;
}

TaskPage Task::page(const std::filesystem::path& path) const {
  const std::string word = shell_word(path.string());
  TaskPage page{.found = sentence_on(*this, path.string()) + "."};
  page.commands.emplace_back("linnet data info " + word, "what it holds");
  page.commands.emplace_back("linnet train " + word, "learns from it");
  page.add_use("INPUT", "predictions for new samples");
  return page;
}

TaskSurvey Task::survey(const std::filesystem::path& path, const DataSettings& settings,
                        const SurveyProgress& progress) const {
  settings.refuse({"target"}, "tables", sentence_on(*this, path.string()));
  return shown_survey(survey_dataset(path, progress), path.string());
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

TableAnswer Task::answer(Model& /*model*/, const Table& rows, double /*interval*/) const {
  fail("the model has no answer on a table as a whole; got '{}'", rows.name());
}

TaskReport Task::measure(Model& /*model*/, const Table& rows) const {
  fail("the model has no answer on a table as a whole; got '{}'", rows.name());
}

const std::vector<std::unique_ptr<const Task>>& all_tasks() {
  static const Tasks tasks = [] {
    Tasks all;
    register_tasks(all);
    return all;
  }();
  return tasks.all();
}

FoundTask task_of_files(const std::filesystem::path& path, const DataSettings& settings) {
  FoundTask found;
  TaskClaim::Sureness most = TaskClaim::none;
  for (const auto& task : all_tasks()) {
    TaskClaim claim = task->claims(path, settings);
    if (found.why_not.empty()) found.why_not = std::move(claim.why_not);
    if (claim.sureness <= most) continue;
    most = claim.sureness;
    found.task = task.get();
    found.likely = most > TaskClaim::unlikely;
  }
  return found;
}

std::string sentence_on(const Task& task, const std::string& data) {
  return fmt::format("{} {}", data.empty() ? "the data set" : fmt::format("'{}'", data), task.is());
}

void check_settings(const Task& task, const DataSettings& settings, const std::string& data) {
  const std::vector<TaskFlags> taken = task.flags();
  for (const auto& other : all_tasks()) {
    for (const TaskFlags& flags : other->flags()) {
      std::vector<std::string_view> keys;
      for (const Field& field : flags.all->fields) {
        const bool elsewhere = !field.flag_group.empty() && field.flag_group != flags.group;
        const auto has = [&](const TaskFlags& one) { return one.all->find(field.key) != nullptr; };
        if (!elsewhere && std::ranges::none_of(taken, has)) keys.push_back(field.key);
      }
      settings.refuse(keys, flags.purpose, sentence_on(task, data));
    }
  }
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
