// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/quantize.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/check.h"
#include "base/files.h"
#include "commands/bench_data.h"
#include "commands/bench_export.h"
#include "commands/bench_record.h"
#include "commands/commands.h"
#include "config/device.h"
#include "config/images.h"
#include "config/loss.h"
#include "config/options.h"
#include "config/prepared.h"
#include "config/pretrained.h"
#include "report/count_progress.h"
#include "report/json.h"
#include "report/timed_run.h"

namespace linnet::command {
namespace {

/// Returns the published size of the mode, or of the other one where others have published that
/// alone; a configuration's own batch.
BenchSize published_size(const Job& job, const std::string& mode) {
  if (job.published.empty()) return {.batch = job.training.batch};
  const auto found = job.published.find(mode);
  return found == job.published.end() ? job.published.begin()->second : found->second;
}

/// A race is run by the recipe for accuracy, all else by the one for speed.
Job named_job(const BenchOptions& options) {
  const bool workload = names_workload(options.network);
  if (workload && !options.to_accuracy) return published_workload(options.network);
  return job_from(options.network, "", "linnet bench");
}

Job job_of(BenchOptions& options) {
  Job job = named_job(options);
  options.mode = infers(job, options.mode) ? "infer" : "train";
  const BenchSize size = published_size(job, options.mode);
  TrainingOptions& t = job.training;
  if (options.to_accuracy) {
    t.epochs = options.epochs.value_or(t.epochs);
    t.batch = options.batch.value_or(t.batch);
    options.wanted.test = true;
    options.warmup = 0;
  } else {
    t.epochs = options.epochs.value_or(size.epochs);
    t.batch = options.batch.value_or(size.batch);
    options.warmup = options.warmup.value_or(size.warmup);
    if (!options.wanted.samples && size.samples > 0) options.wanted.samples = size.samples;
  }
  if (!options.to_accuracy) t.patience = 0;  // all epochs are timed
  t.shards = options.shards > 0 ? options.shards : t.shards;
  t.side_by_side = t.side_by_side || options.side_by_side;
  t.recompute = t.recompute || options.recompute;
  for (const std::string& pass : options.disabled_passes) t.disabled_passes.push_back(pass);
  t.streamed = t.streamed || options.streamed();
  t.seed = options.seed;
  apply(options.on, job.model);
  job.model.threads = options.threads.value_or(job.model.threads);
  job.model.seed = options.seed;
  return job;
}

/// Looked at before the clock starts: a long run should not end in a record that has no place.
void require_folder(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.parent_path();
  std::error_code none;
  require(folder.empty() || std::filesystem::is_directory(folder, none),
          "cannot write '{}': '{}' is not a folder", file.string(), folder.string());
}

/// Returns the data, and a word to the user where they are not real.
BenchData drawn_or_read(const Job& job, const BenchDataOptions& options) {
  BenchData data = bench_data(job, options);
  if (!data.synthetic.empty()) {
    print_note("using synthetic data in the shape of the real data: {}", data.synthetic);
  }
  return data;
}

void check_options(const BenchOptions& options) {
  const GivenOptions& given = options.given;
  if (options.to_accuracy) {
    given.refuse({"--warmup", "--mode infer", "--int8"}, "times of epochs",
                 "--to-accuracy times a training from its start");
  }
  if (options.infer()) {
    given.refuse({"--shards", "--side-by-side", "--recompute", "--disable-pass", "--test"},
                 "--mode train", "--mode infer only predicts");
  } else {
    given.refuse({"--int8"}, "--mode infer", "this is a training");
    if (options.shards < 2) {
      given.refuse({"--side-by-side"}, "several shards (--shards)", "each batch is computed whole");
    }
  }
  if (options.export_folder.empty()) return;
  given.refuse({"--batch", "--int8", "--recompute", "--shards", "--side-by-side", "--disable-pass",
                "--epochs", "--warmup", "--data", "--test", "--to-accuracy", "--threads", "--json",
                "--device", "--precision", "--graph", "--conv-engine", "--deterministic", "--tune"},
               "a measurement", "--export only writes the data");
}

int export_only(const Job& job, BenchOptions& options) {
  options.wanted.test = true;
  const Splits splits = drawn_or_read(job, options.wanted).splits;
  std::optional<Model> model;
  if (options.infer()) {
    model.emplace(network_for(job, splits.train.inputs().at(0).record()), job.model);
  }
  export_data(splits, options.export_folder, model ? &*model : nullptr);
  return kSuccess;
}

/// A model and the samples that it is timed on, as `linnet train` would prepare them.
struct Subject {
  Model model;
  BenchData data;
  double reading_seconds;

  Subject(Job& job, const BenchOptions& options)
      : model(make_model(job)) {  // before the data: a missing device costs no download
    check_used(options.given, model);
    if (model.device() == "cpu") {
      options.given.refuse({"--data streamed"}, "GPUs", "the network runs on the CPU");
    }
    const auto start = std::chrono::steady_clock::now();
    data = drawn_or_read(job, options.wanted);
    reading_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (data.synthetic.empty() && !job.task->brings_data()) {
      check_data_seed(options.given, "--data-seed", options.wanted.dataset.value_or(job.data));
    }
    if (!job.configuration.empty()) {
      data.splits = match_classes(job, model, std::move(data.splits), false);
    }
    data.splits.train = with_oversampling(job, data.splits.train);
    job.training = with_class_weights(job, data.splits.train);
    const Shape sample = data.splits.train.inputs()[0].record();
    if (job.for_images && sample != job.network.input_shape()) {
      model = Model(network_for(job, sample), job.model);
    }
    if (options.int8) model = quantize(model, data.splits.train, {.samples = 64});
  }
};

int bench(BenchOptions options) {
  Job job = job_of(options);
  check_options(options);
  require_folder(options.json);
  options.wanted.seed = options.data_seed.value_or(options.seed);
  if (!options.export_folder.empty()) return export_only(job, options);
  Subject subject(job, options);
  Model& model = subject.model;
  const BenchData& data = subject.data;
  const Dataset& test = data.splits.test;
  CountProgress display("timing", "epochs");
  PassProgress progress;  // none where nobody looks: a callback costs time
  if (display.live()) {
    progress = [&](std::int64_t done, std::int64_t all) { display.update(done, all); };
  }
  Race race;
  if (options.to_accuracy) {
    require(test.size() > 0, "--to-accuracy needs a test set; '{}' has none",
            data.splits.train.info().name);
    race = time_to_accuracy(model, data.splits.train, job.training, test, *options.to_accuracy,
                            progress);
  } else if (options.infer()) {
    race.run = time_inference(model, data.splits.train, job.training.batch, job.training.streamed,
                              *options.warmup, job.training.epochs, progress);
  } else {
    race.run = time_training(model, data.splits.train, job.training, *options.warmup,
                             test.size() > 0 ? &test : nullptr, progress);
  }
  const TimedRun& run = race.run;
  display.clear();
  Json json = bench_json(job, options, model, data, run);
  json["data_seconds"] = subject.reading_seconds;
  json["to_accuracy"] =
      options.to_accuracy ? race_json(race, *options.to_accuracy, subject.reading_seconds) : Json();
  for (const std::string& note : run.notes) print_note("{}", note);
  if (options.json == "-") {
    print_json(json);
  } else {
    if (!options.json.empty()) {
      write_file_atomically(options.json,
                            json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    }
    print_out(bench_text(json, !data.synthetic.empty()));
  }
  if (run.failed.empty()) return kSuccess;
  print_note("failed: {}", run.failed);
  return kFailed;
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  auto o = std::make_shared<BenchOptions>();
  CLI::App* command =
      app.add_subcommand("bench", "Measures how fast a network trains or predicts on this machine");
  command
      ->add_option("NETWORK", o->network,
                   "A configuration file (TOML), or a built-in training, e.g. mnist-cnn")
      ->required();
  command
      ->add_option("--mode", o->mode,
                   "What is timed: training, or inference with the initial weights")
      ->check(one_of({"train", "infer"}));
  command
      ->add_option("--batch", o->batch,
                   "Samples in a batch; if not given the file's, or the workload's published size")
      ->check(at_least(1));
  command->add_flag("--int8", o->int8,
                    "Quantize the model first, with the ranges of 64 samples; for --mode infer");
  command->add_flag("--recompute", o->recompute,
                    "Compute some values of training twice: less memory");
  command->add_option("--shards", o->shards, "Parts in which training computes a batch")
      ->check(at_least(1));
  command->add_flag("--side-by-side", o->side_by_side, "Compute the shards at the same time");
  add_disabled_passes(*command, o->disabled_passes);
  command->add_option("--epochs", o->epochs, "Timed passes over the data")->check(at_least(1));
  command->add_option("--warmup", o->warmup, "Passes before these, not timed")->check(at_least(0));
  command->add_option("--data", o->data, "Where the samples are before the clock starts")
      ->check(one_of({"resident", "streamed"}));
  command->add_option("--dataset", o->wanted.dataset,
                      "A folder of data or a name, as for `linnet train --data`");
  command->add_option("--samples", o->wanted.samples, "Maximum number of samples in an epoch")
      ->check(at_least(1));
  command->add_flag("--test", o->wanted.test,
                    "Measure loss and accuracy of the test set after each epoch, not timed");
  command
      ->add_option("--to-accuracy", o->to_accuracy,
                   "Instead of whole epochs, time a training, by its own recipe, until so much of "
                   "the test set is right, from 0 to 1")
      ->check(CLI::Range(0.0, 1.0));
  add_device_options(*command, o->on);
  add_threads_option(*command, o->threads);
  command
      ->add_option("--seed", o->seed,
                   "Random seed of weights, shuffling, dropout and synthetic data")
      ->check(at_least(0, std::numeric_limits<long long>::max() - 2));
  command->add_option("--data-seed", o->data_seed, "Random seed of generated data, if not --seed")
      ->check(at_least(0, std::numeric_limits<long long>::max() - 2));
  command->add_option("--json", o->json, "File for the record as JSON; - prints it instead");
  command->add_option(
      "--export", o->export_folder,
      "Write the data of the run to this folder for benchmarks/peers, without a run");
  set_most_used(*command, {"--batch", "--epochs", "--mode", "--device", "--json"});
  command->footer(
      "Times whole epochs over shuffled data, with the last, incomplete batch; a file that names\n"
      "no data is timed on synthetic samples. Exits with 3 if the loss does not fall, or the\n"
      "accuracy is not reached: such a run has failed.\n"
      "Examples: linnet bench network.toml\n"
      "          linnet bench mnist-cnn --device cpu --batch 128 --json bench.json\n"
      "          linnet bench network.toml --to-accuracy 0.99");
  act(*command, o, action, bench);
}

}  // namespace linnet::command
