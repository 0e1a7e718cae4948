// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/importance.h>
#include <linnet/model.h>
#include <linnet/network.h>
#include <linnet/tables.h>
#include <linnet/trainer.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/task_report.h"

namespace linnet {

/// Names settings that are for some tasks alone.
enum class TaskSettings : std::uint8_t {
  images,   ///< how image files become samples, augmentation
  texts,    ///< which column holds texts
  classes,  ///< what becomes of classes that differ from a model's
  windows,  ///< how rows become windows
  rows,     ///< how a table becomes samples
};

/// Says of settings that a task does not take which data they are for.
struct RefusedSettings {
  TaskSettings settings = TaskSettings::images;
  std::string_view wanted = {};
};

/// Describes an input of the networks that a task's samples fit.
struct TaskInput {
  std::string name = {};
  std::int64_t width = 0;
  std::string_view what = {};  ///< what several of its numbers are called
};

/// Says what a training learns from, and answers all that depends on it. Each folder of src/tasks
/// holds a kind of data (docs/adding-a-task.md). This class itself is the task of arrays whose data
/// a name or a path gives.
class Task {
 public:
  Task() = default;
  /// A task that brings its data: samples of all parts, and sentences on what was decided.
  Task(Splits data, std::vector<std::string> notes)
      : brings_data_(true), data_(std::move(data)), notes_(std::move(notes)) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  virtual ~Task() = default;

  /// Returns whether data(), a network and a recipe come with the task; else a name gives the data.
  bool brings_data() const { return brings_data_; }
  const Splits& data() const { return data_; }
  const std::vector<std::string>& notes() const { return notes_; }

  /// Returns how several samples are called: "rows".
  virtual std::string_view samples(const Dataset& train) const;
  /// Returns the title of a report: "Prediction of species from 7 columns of penguins.csv".
  virtual std::string title(const std::string& job, const Dataset& train) const;
  /// Returns what follows the data's name in a sentence: "is a table".
  virtual std::string_view is() const { return "is not a table"; }
  /// Returns the settings that do nothing for the task.
  virtual std::vector<RefusedSettings> refused() const;

  /// Returns what the networks of a user read; empty: they say it themselves.
  virtual std::vector<TaskInput> inputs() const { return {}; }
  /// Returns why a user cannot describe a network; "": they can.
  virtual std::string_view fixed_network() const { return {}; }
  /// Returns why a model keeps its last layer, which follows "--replace-head is not for"; "": it
  /// may get another.
  virtual std::string fixed_head(const std::string& /*data*/) const { return {}; }
  /// Adds what a user's network needs at its end, and names its output in the recipe.
  virtual void finish(Network& /*network*/, TrainingOptions& /*training*/) const {}
  /// Puts the user's loss in place of those of the recipe: `chosen`, or one for each output.
  virtual void replace_loss(TrainingOptions& /*training*/, std::optional<Loss> /*chosen*/,
                            bool /*by_output*/) const {}
  /// Gives a model what it has to know of the data.
  virtual void equip(Model& /*model*/) const {}

  /// Returns whether the model learns classes, so that there is a share of right ones.
  virtual bool learns_classes() const { return true; }
  /// Returns the columns that samples are made of; empty: they have none.
  virtual std::vector<std::string> columns() const { return {}; }
  /// Returns the table whose rows are the samples; nothing: they are none.
  virtual std::optional<Table> table() const { return {}; }
  /// Returns the rows in their file, from 1, of the test set, or else of the validation set.
  virtual std::vector<std::int64_t> row_numbers(bool /*test*/) const { return {}; }
  /// Returns what the model is worth on the held-out samples; nothing: its predictions are compared
  /// with the targets, as those of any network.
  virtual std::optional<TaskReport> report(Model& /*model*/) const { return {}; }

 private:
  bool brings_data_ = false;
  Splits data_;
  std::vector<std::string> notes_;
};

/// Returns the task of arrays whose data a name or a path gives.
std::shared_ptr<const Task> task_of_arrays();

/// Returns ": 10 classes", or "" where the samples have none.
std::string classes_text(const Dataset& train);

/// Returns "a, b, c and 2 more".
std::string some_names(const std::vector<std::string>& names);

}  // namespace linnet
