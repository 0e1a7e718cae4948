// SPDX-License-Identifier: Apache-2.0
#include "config/prepared.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/check.h"
#include "base/folder.h"
#include "config/options.h"
#include "convert/known_networks.h"
#include "data/targets.h"
#include "describe/nearest.h"
#include "nn/definition.h"
#include "report/saved_run.h"
#include "tasks/image/image_defaults.h"
#include "tasks/task_recipe.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnitsLayer = "units";  // the last one of image_task()'s for values

std::string name_of(const fs::path& path) {
  if (!is_file(path)) return folder_name(path);
  fs::path name = path.filename();
  while (name.has_extension()) name = name.stem();
  return name.string();
}

std::string quoted_names(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 10;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) {
    shown.push_back(fmt::format("'{}'", names[i]));
  }
  if (names.size() > kShown) shown.push_back(fmt::format("{} more", names.size() - kShown));
  return fmt::format("{}", fmt::join(shown, ", "));
}

bool are_numbers(const std::vector<std::string>& names) {
  return names == numbered_names(std::ssize(names));
}

/// A network with more outputs than the data have classes would learn that some never come. Of
/// classes that are numbers there may be more than these data show.
void require_outputs_for(const Model& model, const Dataset& data) {
  if (model.network().output_names().size() != 1 || are_numbers(data.classes())) return;
  const Shape outputs = model.network().output_shape();
  const std::int64_t count = outputs.rank() == 1 ? outputs[0] : 1;
  require(
      count <= std::max<std::int64_t>(std::ssize(data.classes()), 1),
      "the network has {} outputs, the data set '{}' {} classes: give its last layer as many, or "
      "train it so with --force",
      count, data.info().name, data.classes().size());
}

/// Reads images as a network of the literature takes them, where that is left open.
void read_for(const ZooNetwork& zoo, const Task& task, const std::string& path,
              DatasetOptions& files) {
  require(task.reads(TaskFiles::images), "--network is for images; {}", sentence_on(task, path));
  const KnownNetwork& known = known_network(zoo.network);
  require(known.side > 0, "'{}' is a text model; --network takes networks of images", zoo.network);
  require(files.channels != 1, "'{}' takes images of 3 channels; leave out --channels 1",
          zoo.network);
  files.channels = 3;
  if (files.size.rank() == 0) files.size = {known.side, known.side};
}

/// Replaces the task's network by a published one, for the same images and outputs. With trained
/// weights, the recipe takes smaller steps.
void take_network(const ZooNetwork& zoo, PreparedTask& made) {
  const Shape sample = made.network.input_shape();
  const Shape outputs = made.network.output_shape();
  const std::vector<Node>& nodes = made.network.definition().graph.nodes();
  require(outputs.rank() == 1 && nodes.back().name != kUnitsLayer,
          "--network learns classes or labels; these images have values");
  NetworkSizes sizes;
  sizes.image = {sample[0], sample[1]};
  sizes.classes = outputs[0];
  made.network = known_network(zoo.network).make(sizes);
  suit_any_network(made.training);
  if (!zoo.weights.empty()) take_smaller_steps(made.training);
}

/// Returns the settings of a file, but for the columns that are left out.
Setting reading(const DataSettings& settings) {
  Setting given = settings.given;
  std::erase_if(*given.get_if<SettingTable>(),
                [](const SettingEntry& entry) { return entry.key == "ignore"; });
  return given;
}

/// Prepares a training unless the last one was the same; of another one on the same rows these are
/// not read again.
PreparedTask made_once(const Task& task, const std::string& path, TaskFileOptions options,
                       KeptTask& kept) {
  const bool read =
      kept.made && kept.path == path && reading(kept.options.settings) == reading(options.settings);
  const bool same = read && kept.options.settings.given == options.settings.given &&
                    kept.options.seed == options.seed &&
                    kept.options.least_squares == options.least_squares;
  if (same) return *kept.made;
  if (read) options.settings.rows = kept.made->task->table();
  kept.made.reset();
  kept = {.path = path, .options = options, .made = task.prepare(path, options)};
  return *kept.made;
}

}  // namespace

void add_task_flags(CLI::App& command, Setting& given) {
  for (const auto& task : all_tasks()) {
    for (const TaskFlags& flags : task->flags()) {
      const OptionGroup group(command, std::string(flags.group));
      add_flags(command, *flags.all, given);
    }
  }
}

void add_data(Section& data, DataSettings& settings) {
  SettingTable& given = *settings.given.get_if<SettingTable>();
  for (const auto& task : all_tasks()) {
    for (const TaskFlags& flags : task->flags()) {
      for (SettingEntry& entry : data.settings(*flags.all)) {
        if (find(given, entry.key) == nullptr) given.push_back(std::move(entry));
      }
    }
  }
}

void prepare(Job& job, const std::string& path, TaskFileOptions options, const CheckData& check,
             KeptTask* kept) {
  const Task& task = task_for(path, options.settings);
  if (check) check(task, path);
  std::optional<Model> model;
  if (!job.from.empty()) {
    const SavedRun run = find_run(job.from);
    model = Model::load(run.model, {.device = "cpu", .threads = 1});
    options.from = &*model;
    options.from_name = job.from;
    options.words = [run] { return run.words(); };
    options.places = data_places();
  }
  if (!job.zoo.network.empty()) read_for(job.zoo, task, path, options.files);
  PreparedTask made = kept != nullptr && options.from == nullptr
                          ? made_once(task, path, options, *kept)
                          : task.prepare(path, options);
  if (!job.zoo.network.empty()) take_network(job.zoo, made);
  job.network = std::move(made.network);
  job.training = std::move(made.training);
  job.task = std::move(made.task);
  job.data = path;
}

Job job_called(const std::string& path, const std::string& from) {
  Job job{.name = name_of(path), .network = Network({1}, {})};
  job.from = from;
  return job;
}

Splits match_classes(const Job& job, Model& model, Splits splits, bool force) {
  const std::vector<std::string>& classes = splits.train.classes();
  if (classes.empty() || labels_of(splits.train).empty()) return splits;
  if (job.from.empty()) {
    if (!force && job.for_images == nullptr) require_outputs_for(model, splits.train);
    return splits;
  }
  const std::vector<std::string>& names = model.class_names();
  if (force) {
    model.set_class_names({});
    return splits;
  }
  const auto known = [&](const auto& name) { return std::ranges::count(names, name) > 0; };
  require(
      names.empty() || are_numbers(classes) || std::ranges::all_of(classes, known),
      "the model '{}' knows the classes {}; the data set '{}' has {}: --replace-head {} gives the "
      "model a new last layer, --force trains its own and takes the classes by number",
      job.from, quoted_names(names), splits.train.info().name, quoted_names(classes),
      classes.size());
  const Shape outputs = model.network().output_shape();
  const std::int64_t count = outputs.rank() > 0 ? outputs[-1] : 1;
  require(
      count == std::ssize(classes) || (count == 1 && classes.size() == 2),
      "the model '{}' has {} outputs, the data set '{}' {} classes: --replace-head {} gives the "
      "model a last layer of {} outputs, --force trains its own",
      job.from, count, splits.train.info().name, classes.size(), classes.size(), classes.size());
  for (Dataset* part : {&splits.train, &splits.validation, &splits.test}) {
    if (part->size() > 0) *part = with_class_names(std::move(*part), names);
  }
  return splits;
}

}  // namespace linnet::command
