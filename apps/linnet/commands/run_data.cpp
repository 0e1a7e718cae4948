// SPDX-License-Identifier: Apache-2.0
#include "commands/run_data.h"

#include <fmt/format.h>
#include <linnet/text_task.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/files.h"
#include "base/folder.h"
#include "base/join.h"
#include "config/model_rows.h"
#include "config/named_data.h"
#include "config/options.h"
#include "datasets/load_dataset.h"
#include "report/print.h"
#include "tasks/task.h"

namespace linnet::command {
namespace {

/// Returns the columns of a table of images that are learned: those of the training if not given.
std::vector<std::string> image_targets(const RunDataOptions& options, const SavedRun& run) {
  const auto folder = datasets::find(options.data, data_places());
  if (!folder || find_dataset(*folder).kind != DataKind::image_table) return {};
  if (options.target.empty()) return run.arguments("--target");
  return {options.target};
}

DatasetOptions loading(const RunDataOptions& options, const SavedRun& run, const Model& model) {
  DatasetOptions load{.threads = options.threads,
                      .seed = options.seed.value_or(run.seed),
                      .ignored_label = options.ignore_index};
  read_images(options.images, load);
  load.targets = image_targets(options, run);
  return datasets::options_for(model, options.data, data_places(), std::move(load));
}

/// Returns the file or folder that is named; "" where there is none, and a name is known otherwise.
std::string place_of(const std::string& data) {
  if (is_file(data)) return data;
  const auto folder = datasets::find(data, data_places());
  return folder ? folder->string() : "";
}

LabelledFiles files_of(const RunDataOptions& options, const SavedRun& run, const Task& task) {
  LabelledFiles files{.path = options.data,
                      .columns = {.text = options.text,
                                  .target = options.target,
                                  .sheet = options.sheet},
                      .force = options.force};
  if (!task.reads(TaskFiles::texts)) return files;
  files.path = place_of(options.data);
  TextColumns& columns = files.columns;
  const bool table = is_table_name(files.path);
  if (table && columns.text.empty()) columns.text = run.argument("--text");
  if (table && columns.target.empty()) columns.target = run.argument("--target");
  require(columns.target.empty() || !columns.text.empty(),
          "--target names the column of the labels; --text has to name that of the texts");
  files.words = run.words();
  return files;
}

/// Refuses options that do nothing for data that a task reads, `known`, or for arrays and images.
void check_options(const RunDataOptions& options, const Task& task, bool known) {
  const GivenOptions& given = options.given;
  if (known) {
    const std::string what = sentence_on(task, options.data);
    given.refuse({"--seed"}, "generated data and a split by patient", what);
    if (!task.reads(TaskFiles::texts)) {
      given.refuse({"--text", "--target"}, "models of texts", what);
    } else if (!is_table_name(options.data)) {
      given.refuse({"--text", "--target", "--sheet"}, "tables", what);
    }
    if (!task.accepts(TaskSettings::images)) {
      given.refuse(image_option_names(), "image files", what);
    }
    return;
  }
  const std::string what = fmt::format("'{}' holds arrays or images", options.data);
  given.refuse({"--text"}, "tables of texts", what);
  given.refuse({"--sheet"}, "spreadsheets", what);
  const auto folder = datasets::find(options.data, data_places());
  const bool named = folder && find_dataset(*folder).kind == DataKind::image_table;
  if (!named) given.refuse({"--target"}, "tables of texts", what);
  check_image_files(given, options.data);
  check_data_seed(given, "--seed", options.data);
}

/// An --image-size stands for that of the training's images.
void override_size(const DatasetOptions& load, Model& model) {
  const Shape sample = model.sample_shape();
  if (load.size.rank() != 2 || sample.rank() != 3) return;
  TrainingRecord record = model.training_record();
  record.sample_shape = {load.size[0], load.size[1], sample[2]};
  model.set_training_record(std::move(record));
}

}  // namespace

RunData load_run_data(const RunDataOptions& options, const SavedRun& run, const Task& task,
                      Model& model) {
  const bool known = task.knows(place_of(options.data));
  const bool texts = known && task.reads(TaskFiles::texts);
  check_options(options, task, known);
  RunData data;
  if (known) {
    LabelledData loaded = task.load(model, files_of(options, run, task));
    print_notes(join(loaded.notes, "\n"));
    data = {std::move(loaded.splits), std::move(loaded.row_numbers)};
  } else {
    const DatasetOptions load = loading(options, run, model);
    LoadedData loaded = load_data(options.data, load);
    print_notes(loaded.note);
    override_size(load, model);
    data.splits = std::move(loaded.splits);
  }
  if (options.force && (texts || !known)) model.set_class_names({});
  return data;
}

void add_run_data_options(CLI::App& command, RunDataOptions& options) {
  const OptionGroup group(command, "Data");
  command
      .add_option("--data,DATA", options.data,
                  "A folder of data with targets, or a name;\n"
                  "for models of a table: a table with the target")
      ->required();
  command.add_option(
      "--text", options.text,
      "Column of the texts in a table, for text models; that of the training if not\n"
      "given");
  command.add_option("--target", options.target, "Column of their labels");
  add_sheet_option(command, options.sheet);
  add_flags(command, image_flags({"image_size", "channels", "on_bad_image"}), options.images);
  command
      .add_option(
          "--seed", options.seed,
          "Random seed of generated data and of a split by patient; the training's if not given")
      ->check(at_least(0, kLargestSeed));
}

}  // namespace linnet::command
