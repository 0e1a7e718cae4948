// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/datasets.h>
#include <linnet/importance.h>
#include <linnet/model.h>
#include <linnet/network.h>
#include <linnet/samples.h>
#include <linnet/tables.h>
#include <linnet/text_task.h>
#include <linnet/trainer.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/data_settings.h"
#include "tasks/task_pages.h"
#include "tasks/task_report.h"

namespace linnet {

/// Names settings that no task describes, and not all take.
enum class TaskSettings : std::uint8_t {
  images,   ///< how image files become samples, augmentation
  classes,  ///< what becomes of classes that differ from a model's
};

/// Holds settings that a task describes, by_flags(). Fields of another group are also those of
/// another task.
struct TaskFlags {
  std::string_view group = "Tables";    ///< of the help page
  std::string_view purpose = "tables";  ///< "--folds is for PURPOSE"
  const Description* all = nullptr;
};

/// Describes an input of the networks that a task's samples fit.
struct TaskInput {
  std::string name = {};
  std::int64_t width = 0;
  std::string_view what = {};  ///< what several of its numbers are called
};

/// Says how surely files are those of a task: the surest takes them.
struct TaskClaim {
  enum Sureness : std::uint8_t { none, unlikely, perhaps, surely };
  Sureness sureness = none;
  std::string why_not = {};  ///< a sentence on files that look as if they were; else empty
};

/// Says how a training on files is prepared.
struct TaskFileOptions {
  DataSettings settings = {};  ///< those that tasks describe
  DatasetOptions files = {};   ///< how image files become samples
  std::uint64_t seed = 0;
  const Model* from = nullptr;  ///< a model whose samples are read in the same way; null: none
  std::string from_name = {};   ///< its name in errors
  std::function<std::vector<std::string>()> words = {};  ///< of its training's texts
  datasets::Places places = {};
  /// TableTaskOptions::validation_folds where the settings do not say.
  std::int64_t validation_folds = 1;
  /// Whether LevenbergMarquardt trains, which takes other networks and recipes.
  bool least_squares = false;
};

class Task;
/// Holds a training on files. The network is that of the model to start from, where there is one.
struct PreparedTask {
  std::shared_ptr<const Task> task = {};
  Network network;
  TrainingOptions training = {};
};

/// Names files that a model may read beside arrays.
enum class TaskFiles : std::uint8_t { images, texts, tables };

/// Says which samples with targets a trained model is measured on.
struct LabelledFiles {
  std::filesystem::path path = {};
  TextColumns columns = {};             ///< of texts in a table; the sheet of any
  std::vector<std::string> words = {};  ///< of the training's texts
  bool force = false;                   ///< leaves out rows whose class the model does not know
};

/// Holds them.
struct LabelledData {
  Splits splits = {};
  std::vector<std::string> notes = {};
  std::vector<std::int64_t> row_numbers = {};  ///< in the table's file, from 1; empty: other data
};

/// Holds samples that the rows of a request are, and sentences on each row.
struct RequestRows {
  Dataset data = {};
  std::vector<std::vector<std::string>> notes = {};
};

/// Holds the answer on a whole table: the forecast after its rows.
struct TableAnswer {
  struct Row {
    std::vector<std::string> texts = {};
    std::vector<double> values = {};
  };
  std::vector<std::string> header = {};  ///< names of texts and values
  std::vector<Row> rows = {};
  std::vector<std::string> notes = {};  ///< on rows that are unlike the training's
  nlohmann::ordered_json json = {};     ///< all of it
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
  /// Returns the settings that the task takes; check_settings() refuses those of other tasks.
  virtual std::vector<TaskFlags> flags() const;
  virtual bool accepts(TaskSettings /*settings*/) const { return true; }

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
  /// Returns how many parts of a cross-validation are trained in turn; 0: there is none.
  virtual std::int64_t folds() const { return 0; }
  /// Returns the table whose rows are the samples; nothing: they are none.
  virtual std::optional<Table> table() const { return {}; }
  /// Returns the rows in their file, from 1, of the test set, or else of the validation set.
  virtual std::vector<std::int64_t> row_numbers(bool /*test*/) const { return {}; }
  /// Returns what the model is worth on the held-out samples; nothing: its predictions are compared
  /// with the targets, as those of any network.
  virtual std::optional<TaskReport> report(Model& /*model*/) const { return {}; }

  /// Returns whether a file or folder holds such data, to learn from as the settings say.
  virtual TaskClaim claims(const std::filesystem::path& /*path*/,
                           const DataSettings& /*settings*/) const {
    return {};
  }
  /// Reads and splits what claims() has found, and chooses network and recipe. Throws Error where
  /// a model to start from takes other samples.
  virtual PreparedTask prepare(const std::filesystem::path& path,
                               const TaskFileOptions& options) const;
  /// Returns what lies there, in short, and the commands that fit it.
  virtual TaskPage page(const std::filesystem::path& path) const;
  /// Reads all that lies there and describes it.
  virtual TaskSurvey survey(const std::filesystem::path& path, const DataSettings& settings,
                            const SurveyProgress& progress) const;

  // What follows asks a trained model. A task of no data knows it, too: task_of().

  /// Returns whether the model learned from such data.
  virtual bool made(const Model& /*model*/) const { return false; }
  /// Returns what the model takes: "rows".
  virtual std::string_view takes() const { return "numbers"; }
  virtual bool reads(TaskFiles /*files*/) const { return false; }
  /// Reads files as read_samples() says.
  virtual Samples read(std::span<const std::filesystem::path> paths, const Model& model,
                       const ReadOptions& options) const;
  /// Returns whether load() reads the file or the folder; else load_dataset() does.
  virtual bool knows(const std::filesystem::path& /*path*/) const { return false; }
  /// Reads samples with targets, and gives them the shape and classes of the training's.
  virtual LabelledData load(const Model& model, const LabelledFiles& files) const;
  /// Returns what the model is worth on samples of load(), in the task's own way; nothing: its
  /// predictions are compared with the targets.
  virtual std::optional<TaskReport> score(Model& /*model*/, const Dataset& /*data*/,
                                          const std::string& /*part*/) const {
    return {};
  }
  /// Returns the columns that the model predicts; empty: none have names.
  virtual std::vector<std::string> targets(const Model& /*model*/) const { return {}; }

  /// Returns the value above which a row is unlike those of the training; nothing: values say no
  /// such thing.
  virtual std::optional<double> threshold(const Model& /*model*/) const { return {}; }

  /// Returns how the tables of the model are read.
  virtual TableOptions reading(const Model& /*model*/) const { return {}; }
  /// Returns the columns of the rows that a request brings; empty: it brings none.
  virtual std::vector<std::string> row_columns(const Model& /*model*/) const { return {}; }
  /// Returns how many columns the table of the training had.
  virtual std::size_t table_width(const Model& /*model*/) const { return 0; }
  /// Returns how many numbers a row becomes, beside ids.
  virtual std::size_t features(const Model& /*model*/) const { return 0; }
  /// Returns whether each row of a table is a sample.
  bool takes_rows(const Model& model) const { return !answers_tables() && table_width(model) > 0; }
  /// Returns the samples that rows are.
  virtual RequestRows samples_of(const Model& model, const Table& rows) const;
  /// Adds to the server's description what is known of such models alone.
  virtual void describe(const Model& /*model*/, nlohmann::ordered_json& /*json*/) const {}

  /// Returns whether a table has one answer, instead of each of its rows a prediction.
  virtual bool answers_tables() const { return false; }
  /// Returns it, with the interval of this coverage around each value; 0: without.
  virtual TableAnswer answer(Model& model, const Table& rows, double interval) const;
  /// Returns what the model is worth on a table that answer() would take.
  virtual TaskReport measure(Model& model, const Table& rows) const;

 private:
  bool brings_data_ = false;
  Splits data_;
  std::vector<std::string> notes_;
};

/// Returns the task of arrays whose data a name or a path gives.
std::shared_ptr<const Task> task_of_arrays();

/// Returns the task of a trained model. Without `texts`, a model of texts reads arrays of ids
/// alone.
const Task& task_of(const Model& model, bool texts = true);

/// Returns a task of each kind, without data.
const std::vector<std::unique_ptr<const Task>>& all_tasks();

/// Holds the task of a file or folder to learn from.
struct FoundTask {
  const Task* task = nullptr;  ///< null: no task takes it
  bool likely = false;         ///< else it is taken where something must
  std::string why_not = {};    ///< a sentence, where there is one
};
FoundTask task_of_files(const std::filesystem::path& path, const DataSettings& settings = {});

/// Throws Error for settings that other tasks describe and `task` does not, on `data`.
void check_settings(const Task& task, const DataSettings& settings, const std::string& data);

/// Returns the task of a file or folder. Throws Error where no task takes it, saying why, and for
/// settings of others.
const Task& task_for(const std::filesystem::path& path, const DataSettings& settings);

/// Returns "'photos' holds images", or "the data set is not a table" for the name "".
std::string sentence_on(const Task& task, const std::string& data);

/// Reads a table as that of a model, `sheet` of a spreadsheet (empty: the first); adds a note where
/// there are several.
Table read_sheet(const std::filesystem::path& file, TableOptions reading, const std::string& sheet,
                 std::vector<std::string>& notes);

/// Returns ": 10 classes", or "" where the samples have none.
std::string classes_text(const Dataset& train);

/// Returns "a, b, c and 2 more".
std::string some_names(const std::vector<std::string>& names);

}  // namespace linnet
