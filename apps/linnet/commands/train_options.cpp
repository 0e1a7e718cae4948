// SPDX-License-Identifier: Apache-2.0
#include "commands/train_options.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "commands/train_checks.h"
#include "config/config.h"
#include "config/optimizer.h"
#include "config/options.h"
#include "config/prepared.h"
#include "config/training.h"
#include "config/views.h"
#include "describe/nearest.h"
#include "model/optimizers.h"
#include "table/values.h"

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

/// Returns whether a file or folder is data, that a task takes or says what is wrong with; a
/// configuration is none.
bool is_data(const TrainOptions& options, const std::string& path) {
  if (path.empty() || path.ends_with(".toml") || path == "-") return false;
  const FoundTask found = task_of_files(path, options.of_data);
  return found.likely || !found.why_not.empty();
}

/// Returns the file of --data that a task takes; "" for a folder or a name.
std::string file_of(const TrainOptions& options) {
  const std::string path = options.data.value_or("");
  std::error_code none;
  const bool folder = std::filesystem::is_directory(path, none);
  return !folder && is_data(options, path) ? path : "";
}

/// Returns how a file or folder becomes samples.
TaskFileOptions described_files(const TrainOptions& options) {
  TaskFileOptions how{.settings = options.of_data, .seed = options.seed.value_or(0)};
  how.validation_folds = 0;
  how.least_squares = options.optimizer && is_least_squares_kind(*options.optimizer);
  read_images(options.images, how.files);
  TrainingOptions training;
  training_table().read(&training, options.training, "");
  how.files.streamed = training.streamed;
  how.files.threads = training.decoders;
  return how;
}

/// Returns the job of the data, the configuration or the workload; a model to start from needs
/// none.
Job described_job(const TrainOptions& options) {
  const bool named = is_data(options, options.config);
  require(!named || (!options.data && options.workload.empty()),
          "'{}' brings its data and its network: leave out --data and --workload", options.config);
  const ConfigOptions given{
      .from = options.pretrained.from,
      .file = named ? "" : file_of(options),
      .data = options.of_data,
      .seed = options.seed,
      .check = [&](const Task& task, const std::string& data) { check_data(options, task, data); },
      .optimizer = options.optimizer,
      .kept = options.kept.get()};
  if (!options.configuration.empty()) {
    return parse_config(options.configuration, options.config, given);
  }
  const bool nothing_else = options.config.empty() && options.workload.empty();
  if (named || (!given.file.empty() && nothing_else)) {
    const std::string& path = named ? options.config : given.file;
    Job job = job_called(path, given.from);
    job.zoo = {options.pretrained.network, options.pretrained.weights};
    prepare(job, path, described_files(options), given.check);
    return job;
  }
  if (!given.from.empty() && nothing_else) {
    const std::filesystem::path path(given.from);
    return {.name = (path.has_filename() ? path : path.parent_path()).stem().string(),
            .network = Network({1}, {})};
  }
  require(!nothing_else,
          "linnet train needs data, a configuration or a workload: `linnet train FILE.csv --target "
          "COLUMN`, `linnet train FOLDER`, `linnet train NETWORK.toml` or `linnet train --workload "
          "{}`; `linnet PATH` says what fits a file or a folder",
          workload_names()[0]);
  Job job = job_from(options.config, options.workload, "linnet train", given);
  require(job.task->brings_data() || given.file.empty(),
          "{}, which the network of a workload does not take: leave out the workload",
          given.file.empty()
              ? ""
              : sentence_on(*task_of_files(given.file, options.of_data).task, given.file));
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
  add_views_option(command, o.views);
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
  add_network_option(command, o.of_data.given, o.pretrained.network);  // before the task's own
  add_task_flags(command, o.of_data.given);
  command.option_defaults()->group("Data and run");
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
  command.option_defaults()->group("Training");
  add_within_option(command, o.within,
                    "Trains as many epochs as fit; early\n"
                    "stopping is off unless --patience is given.")
      .excludes("--epochs")
      ->excludes("--resume");
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
  options.begun = given.begun;
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
  if (options.learning_rate) {
    double* rate = learning_rate_of(t.optimizer);
    require(rate != nullptr, "{} has no learning rate; leave out --lr", name_of(t.optimizer));
    *rate = *options.learning_rate;
  }
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
