// SPDX-License-Identifier: Apache-2.0
#include "commands/train_options.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/folder.h"
#include "commands/train_checks.h"
#include "config/config.h"
#include "config/optimizer.h"
#include "config/options.h"
#include "config/prepared.h"
#include "config/training.h"
#include "datasets/load_dataset.h"
#include "describe/nearest.h"
#include "model/optimizers.h"
#include "table/values.h"
#include "tasks/options.h"

namespace linnet::command {
namespace {

constexpr const char* kConfig = "CONFIG";
constexpr const char* kWorkload = "--workload";

/// What is wrong with the decay of an average; "" where nothing is.
std::string decay_mistake(const std::string& given) {
  const std::optional<double> decay = number_of(given, '.');
  if (decay && *decay >= 0 && *decay < 1) return {};
  return fmt::format("expected a number of at least 0 and below 1; got '{}'", given);
}

/// Options that say where a run is and what is printed, not what is trained.
bool is_recorded(const std::string& name) {
  return name != "--out" && name != "--resume" && name != "--json" && name != "--quiet" &&
         name != "--help" && name != "--rank-deadline";
}

/// Returns whether the data are named, and are images or texts.
bool names_data(const TrainOptions& options) {
  const std::string& path = options.config;
  if (path.empty() || path.ends_with(".toml") || path == "-") return false;
  if (!options.text.empty()) return true;
  return (!options.of_data.has({"target"}) || !is_file(path)) && task_of_files(path) != nullptr;
}

Job described_data(const TrainOptions& options) {
  require(!options.data && options.workload.empty(),
          "'{}' brings its data and its network: leave out --data and --workload", options.config);
  const DataSettings& given = options.of_data;
  TableTaskOptions told;
  given.read(by_flags(description_of<TableTaskOptions>()), &told);
  const std::vector<std::string>& targets = told.target.names;
  require(options.text.empty() || targets.size() == 1,
          "--text names the column of the texts; --target has to name that of the labels");
  check_prepared(options, task_at(options.config, {.text = options.text}).reads(TaskFiles::texts));
  TaskFileOptions settings;
  read_images(options.images, settings.files);
  TrainingOptions training;
  training_table().read(&training, options.training, "");
  settings.files.streamed = training.streamed;
  settings.files.threads = training.decoders;
  if (options.text.empty()) {
    settings.files.targets = targets;
  } else {
    settings.columns = {options.text, targets.front(), table_options(given).sheet};
  }
  if (given.has({"validation"})) settings.validation = told.validation;
  if (given.has({"test"})) settings.test = told.test;
  settings.stratify = told.stratify;
  settings.seed = options.seed.value_or(0);
  return prepared_job(options.config, settings, options.pretrained.from);
}

/// Returns what the arguments say of a table; its file is CONFIG or that of --data.
DataSettings table_of(const TrainOptions& options) {
  DataSettings table = options.of_data;
  const auto is_table = [&](const std::string& name) {
    const bool configuration = name.ends_with(".toml") || name == "-";
    return !name.empty() && !configuration && (is_table_name(name) || table.has({"target"}));
  };
  if (options.data && (is_table_name(*options.data) || !is_table(options.config))) {
    if (is_table(*options.data)) table.file = *options.data;
  } else if (is_table(options.config)) {
    table.file = options.config;
  }
  require(!is_table_name(options.config) || (!options.data && options.workload.empty()),
          "'{}' is a table, which brings its data and its network: leave out --data and --workload",
          options.config);
  return table;
}

/// Returns the job of the configuration or workload; a table or a model to start from needs
/// neither.
Job described_job(const TrainOptions& options) {
  if (names_data(options)) return described_data(options);
  const ConfigOptions given{.from = options.pretrained.from,
                            .data = table_of(options),
                            .seed = options.seed};
  const std::string& file = given.data.file;
  if (!options.configuration.empty()) {
    return parse_config(options.configuration, options.config, given);
  }
  if (!file.empty() && options.workload.empty() &&
      (options.config.empty() || options.config == file)) {
    const std::uint64_t seed = options.seed.value_or(0);
    return wants_windows(given.data) ? series_job(given.data, seed, given.from)
                                     : table_job(given.data, seed, given.from);
  }
  if (!given.from.empty() && options.config.empty() && options.workload.empty()) {
    const std::filesystem::path path(given.from);
    return {.name = (path.has_filename() ? path : path.parent_path()).stem().string(),
            .network = Network({1}, {})};
  }
  require(!options.config.empty() || !options.workload.empty(),
          "linnet train needs data, a configuration or a workload: `linnet train FILE.csv --target "
          "COLUMN`, `linnet train FOLDER`, `linnet train NETWORK.toml` or `linnet train --workload "
          "{}`; `linnet PATH` says what fits a file or a folder",
          workload_names()[0]);
  Job job = job_from(options.config, options.workload, "linnet train", given);
  if (job.task->brings_data()) return job;
  require(file.empty() || !is_table_name(file),
          "'{}' is a table, which the network of a workload does not take: leave out the workload",
          file);
  require_windows(options.of_data);
  return job;
}

}  // namespace

void add_train_options(CLI::App& command, TrainOptions& o) {
  command.add_option("CONFIG", o.config,
                     "A folder of images or texts by class, a table (.csv, .tsv; also .gz, .xz), a "
                     "file of texts, a\n"
                     "configuration (TOML), or a workload");
  command.option_defaults()->group("Data and run");
  command.add_option("--workload", o.workload, "A built-in training, e.g. mnist-cnn");
  command.add_option("--data", o.data, "A folder of data, or a name: " + listed(datasets::names()));
  command.option_defaults()->group("Training");
  add_flags(command, training_table(), o.training);
  add_disabled_passes(command, o.disabled_passes);
  command.option_defaults()->group("Images");
  add_augment_option(command, o.augment);
  add_flags(command, image_flags(), o.images);
  add_device_options(command, o.on);
  add_threads_option(command, o.threads);
  command.option_defaults()->group("Training");
  command.add_option("--seed", o.seed, "Random seed of weights, shuffling and dropout")
      ->check(at_least(0, kLargestSeed));
  command
      .add_option("--optimizer", o.optimizer, "Optimizer; the configuration's other settings stay")
      ->check(one_of(optimizers().names()));
  command.add_option("--lr", o.learning_rate, "Learning rate");
  command
      .add_option("--schedule", o.schedule,
                  "Learning-rate schedule; the configuration's other settings stay")
      ->check(one_of(schedules().names()));
  command
      .add_option(
          "--average", o.average,
          "Decay of a moving average of the weights, e.g. 0.998, which validates, tests and is\n"
          "saved instead of the weights; 0: none")
      ->check(CLI::Validator(decay_mistake, "DECAY"));
  add_loss_options(command, o.loss);
  command
      .add_option("--oversample", o.oversample,
                  "Repeat training samples of rare classes until each class has this share of the\n"
                  "samples of the most frequent one, e.g. 1 (as many) or 0.5; 0: not")
      ->check(CLI::Range(0.0, 1.0));
  command.add_flag_callback(
      "--save-best", [&o] { o.save_best = true; },
      "Keep the weights of the epoch with the lowest validation loss; the default for a table, a\n"
      "folder and texts");
  command.add_flag_callback(
      "--save-last", [&o] { o.save_best = false; }, "Keep the weights of the last epoch");
  command.option_defaults()->group("Tables");
  add_table_settings(command, o.of_data.given);
  command.option_defaults()->group("Series");
  add_flags(command, series_flags(), o.of_data.given);
  command.option_defaults()->group("Data and run");
  command.add_option("--text", o.text,
                     "Column of a table that holds the texts to classify; --target: their labels");
  command.add_flag(
      "--force", o.force,
      "Train although the classes of the model and the data differ; they are taken by\n"
      "number");
  command.option_defaults()->group("Trained models");
  add_pretrained_options(command, o.pretrained);
  command.option_defaults()->group("Data and run");
  add_checkpoint_option(command, o.checkpoint_every);
  command
      .add_option("--log", o.logs,
                  "Further logs in the run folder: csv (history.csv), tensorboard (event files)")
      ->delimiter(',')
      ->check(one_of({"csv", "tensorboard"}));
  CLI::Option* out =
      command.add_option("--out", o.out, "Run folder; runs/<name>-<time> if not given");
  command
      .add_option(
          "--resume", o.resume,
          "Continue the stopped training of this run folder, with the same result as a training\n"
          "without a stop; its arguments need not be given again. With CONFIG or --workload,\n"
          "a folder without a run starts one")
      ->excludes(out);
  command.option_defaults()->group("Several processes");
  command
      .add_option("--rank-deadline", o.rank_deadline,
                  "Seconds of silence after which another process of the job is lost")
      ->check(CLI::Range(1.0, 1e6));
  command
      .add_option("--reduce", o.reduce,
                  "How the gradients of processes are added: tree (the same bits on any number of\n"
                  "them) or fast (in the order of MPI's or Gloo's own all-reduce)")
      ->check(one_of({"tree", "fast"}));
  command.option_defaults()->group("Data and run");
  command.add_flag("--json", o.json, "Print the summary as one JSON object");
  command.add_flag("--quiet", o.quiet, "Show nothing of a training that goes well");
  set_most_used(command, {"--target", "--epochs", "--batch", "--lr", "--out"});
  command.footer(
      "Example: linnet train --workload mnist-cnn --data fashion-mnist --epochs 5 --out "
      "runs/first\n"
      "Example: linnet train penguins.csv --target species\n"
      "Example: linnet train penguins.csv --target species --folds 5\n"
      "Example: linnet train temperatures.csv --target temp --past 30 --future 7\n"
      "Example: linnet train photos/");
}

RunStart start_of(const CLI::App& command, const std::string& configuration) {
  RunStart start{.options = {}, .configuration = configuration};
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || !is_recorded(name)) continue;
    const bool on = option->get_items_expected_max() == 0 && option->results().back() != "false";
    start.options[name] = on ? std::vector<std::string>{} : option->results();
  }
  return start;
}

TrainOptions continued_options(const RunStart& started, const RunStart& now,
                               const TrainOptions& given) {
  TrainOptions options;
  std::map<std::string, std::vector<std::string>> all = now.options;
  const bool described = all.contains(kConfig) || all.contains(kWorkload);
  for (const auto& [name, values] : started.options) {
    if (described && (name == kConfig || name == kWorkload)) continue;
    all.try_emplace(name, values);
  }
  std::vector<std::string> arguments;
  for (const auto& [name, values] : all) {
    if (name != kConfig && values.empty()) arguments.push_back(name);
    for (const std::string& value : values) {
      arguments.push_back(name == kConfig ? value : name + "=" + value);
    }
  }
  CLI::App command;
  add_train_options(command, options);
  std::ranges::reverse(arguments);  // as CLI11 takes them
  try {
    command.parse(arguments);
  } catch (const CLI::ParseError& error) {
    fail("this version does not know the arguments that the run was started with: {}",
         error.what());
  }
  if (!described) options.configuration = started.configuration;
  options.given = GivenOptions(command);
  options.resume = given.resume;
  options.json = given.json;
  options.quiet = given.quiet;
  return options;
}

Job job_of(const TrainOptions& options) {
  Job job = described_job(options);
  require(
      !options.data || !job.task->brings_data() || job.data == *options.data,
      "'{}' trains on the table '{}', whose columns --data '{}' does not have; expected a table",
      options.config, job.data, options.data.value_or(""));
  require(!job.forward_only,
          "{} only computes features and cannot be trained; use `linnet bench {} --mode infer` or "
          "`linnet predict`",
          job.name, job.name);
  TrainingOptions& t = job.training;
  if (options.optimizer) t.optimizer = optimizer_of_kind(job, *options.optimizer);
  if (options.learning_rate) learning_rate_of(t.optimizer) = *options.learning_rate;
  if (options.schedule) t.schedule = schedule_of_kind(job, *options.schedule);
  if (options.average) t.average = {.decay = *options.average, .warmup = true};
  apply(options.loss, job);
  if (options.seed) t.seed = *options.seed;
  if (!job.task->brings_data()) job.data = options.data.value_or(job.data);
  apply(options.on, job.model);
  job.model.threads = options.threads.value_or(job.model.threads);
  job.model.seed = t.seed;
  training_table().read(&t, options.training, "");
  t.disabled_passes.insert(t.disabled_passes.end(), options.disabled_passes.begin(),
                           options.disabled_passes.end());
  t.keep_best = options.save_best.value_or(t.keep_best);
  if (!job.task->brings_data()) {
    const Setting* share = given_value(options.of_data.given, "validation");
    if (share != nullptr) job.validation = *share->get_if<double>();
  }
  job.oversample = options.oversample.value_or(job.oversample);
  if (options.augment) t.augment = parse_augment(*options.augment);
  read_images(options.images, job.images);
  if (options.checkpoint_every) set_interval(*options.checkpoint_every, t.checkpoints);
  apply(options.pretrained, job);
  check_options(options, job);
  return job;
}

}  // namespace linnet::command
