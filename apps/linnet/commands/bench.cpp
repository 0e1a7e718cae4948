// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linnet/quantize.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/bytes_text.h"
#include "base/check.h"
#include "base/files.h"
#include "commands/bench_data.h"
#include "commands/bench_export.h"
#include "commands/commands.h"
#include "commit.h"
#include "config/device.h"
#include "config/images.h"
#include "config/optimizer.h"
#include "config/options.h"
#include "report/count_progress.h"
#include "report/json.h"
#include "report/machine.h"
#include "report/run_record.h"
#include "report/timed_run.h"

namespace linnet::command {
namespace {

struct BenchOptions {
  GivenOptions given;
  std::string workload;
  std::string mode;
  std::string data = "resident";
  BenchDataOptions wanted;
  std::optional<std::uint64_t> data_seed;
  DeviceOptions on;
  std::optional<std::int64_t> batch;
  std::int64_t shards = 0;
  bool side_by_side = false;
  bool recompute = false;
  bool int8 = false;
  std::vector<std::string> disabled_passes;
  std::optional<std::int64_t> epochs;
  std::optional<std::int64_t> warmup;
  std::optional<int> threads;
  std::uint64_t seed = 0;
  std::string json;
  std::string export_folder;

  bool infer() const { return mode == "infer"; }
  bool streamed() const { return data == "streamed"; }
};

/// Returns the published size of the mode, or of the other one where others have published that
/// alone.
BenchSize published_size(const Job& job, const std::string& mode) {
  const auto found = job.published.find(mode);
  return found == job.published.end() ? job.published.begin()->second : found->second;
}

Job job_of(BenchOptions& options) {
  Job job = published_workload(options.workload);
  options.mode = infers(job, options.mode) ? "infer" : "train";
  const BenchSize size = published_size(job, options.mode);
  TrainingOptions& t = job.training;
  t.epochs = options.epochs.value_or(size.epochs);
  t.batch = options.batch.value_or(size.batch);
  t.shards = options.shards;
  t.side_by_side = options.side_by_side;
  t.recompute = options.recompute;
  t.disabled_passes = options.disabled_passes;
  options.warmup = options.warmup.value_or(size.warmup);
  if (!options.wanted.samples && size.samples > 0) options.wanted.samples = size.samples;
  t.streamed = options.streamed();
  t.seed = options.seed;
  apply(options.on, job.model);
  job.model.threads = options.threads.value_or(job.model.threads);
  job.model.seed = options.seed;
  return job;
}

Json bench_json(const Job& job, const BenchOptions& options, const Model& model,
                const BenchData& data, std::int64_t warmup, const TimedRun& run) {
  const Dataset& train = data.splits.train;
  const Spread seconds = spread_of(run.seconds);
  const auto rate = [&](double of) { return static_cast<double>(run.samples) / of; };
  Json json;
  add_setup(json, job, model, train, data.splits.test.size(), run.seconds.size());
  add_scores(json, run.epochs);
  if (options.infer()) {
    Json unused;
    add_update_options(unused, job.training);
    for (const auto& [key, value] : unused.items()) json[key] = nullptr;
  }
  json["mode"] = options.mode;
  json["warmup"] = warmup;
  json["streamed"] = options.streamed();
  json["int8"] = options.int8;
  json["disabled_passes"] = options.disabled_passes;
  json["synthetic"] = data.synthetic.empty() ? Json(false) : Json(true);
  json["last_batch"] = run.samples % job.training.batch == 0 ? "full" : "incomplete, included";
  add_speed(json, run.samples, seconds);
  json["samples_per_second_min"] = rate(seconds.max);
  json["samples_per_second_max"] = rate(seconds.min);
  json["timed_seconds"] = run.seconds;
  for (const char* key : {"losses", "test_losses", "test_accuracies"}) json[key] = Json::array();
  for (const EpochReport& epoch : run.epochs) {
    json["losses"].push_back(epoch.train.loss);
    if (epoch.test.samples == 0) continue;
    json["test_losses"].push_back(epoch.test.loss);
    json["test_accuracies"].push_back(epoch.test.accuracy);  // of values: NaN, which becomes null
  }
  json["failed"] = run.failed.empty() ? Json() : Json(run.failed);
  json["startup_seconds"] = run.startup_seconds;
  json["peak_bytes"] = peak_bytes();
  json["planned_bytes"] = run.planned_bytes > 0 ? Json(run.planned_bytes) : Json();
  json["shards"] = options.infer() ? Json() : Json(run.shards);
  json["interrupted"] = false;
  json["stopped_early"] = false;
  json["bad_images"] = train.info().bad_files.size() + data.splits.test.info().bad_files.size();
  json["notes"] = run.notes;
  add_origin(json, model, job.model);
  json["folder"] = nullptr;
  return json;
}

std::string count(double value) {
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string bench_text(const Json& json, const BenchData& data) {
  const auto text = [&](const char* key) {
    return json[key].is_string() ? json[key].get<std::string>() : json[key].dump();
  };
  const auto number = [&](const char* key) { return json[key].get<double>(); };
  const Json& seconds = json["epoch_seconds"];
  std::string out = fmt::format(
      "{} on {} ({}{}), {}, batch {}, {}\n"
      "samples/s   {} median, {} to {}, of {} epochs of {} samples after {} warm-up\n"
      "epoch       {:.4g} s median, {:.4g} to {:.4g}\n"
      "start-up    {:.3f} s\n",
      text("workload"), text("data"), json["streamed"].get<bool>() ? "streamed" : "resident",
      data.synthetic.empty() ? "" : ", synthetic", text("mode"), text("batch"), text("precision"),
      count(number("samples_per_second")), count(number("samples_per_second_min")),
      count(number("samples_per_second_max")), text("epochs"), text("train_samples"),
      text("warmup"), seconds["median"].get<double>(), seconds["min"].get<double>(),
      seconds["max"].get<double>(), number("startup_seconds"));
  if (const Json& losses = json["losses"]; !losses.empty()) {
    out += fmt::format("loss        {:.5g} in the first epoch, {:.5g} in the last\n",
                       losses.front().get<double>(), losses.back().get<double>());
  }
  if (!json["test_loss"].is_null()) {
    out += fmt::format("test        loss {:.5g}", number("test_loss"));
    if (std::isfinite(number("test_accuracy"))) {
      out += fmt::format(", accuracy {:.2f} %", 100 * number("test_accuracy"));
    }
    out += fmt::format(" on {} samples\n", text("test_samples"));
  }
  out +=
      fmt::format("memory      {} at the peak", bytes_text(json["peak_bytes"].get<std::size_t>()));
  if (!json["planned_bytes"].is_null()) {
    out += fmt::format(", {} planned", bytes_text(json["planned_bytes"].get<std::size_t>()));
  }
  const auto libraries = json["libraries"].get<std::vector<std::string>>();
  return out +
         fmt::format("\nparameters  {}\ndevice      {}, {}, {} threads; {}\nversion     {} ({})\n",
                     text("parameters"), text("device"), text("device_name"), text("threads"),
                     libraries.empty() ? "own kernels alone"
                                       : fmt::format("{}", fmt::join(libraries, ", ")),
                     text("version"), text("commit"));
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
                "--epochs", "--warmup", "--data", "--test", "--threads", "--json", "--device",
                "--precision", "--graph", "--conv-engine", "--deterministic", "--tune"},
               "a measurement", "--export only writes the data");
}

int bench(BenchOptions options) {
  Job job = job_of(options);
  check_options(options);
  require_folder(options.json);
  options.wanted.seed = options.data_seed.value_or(options.seed);
  if (!options.export_folder.empty()) {
    options.wanted.test = true;
    const Splits splits = drawn_or_read(job, options.wanted).splits;
    std::optional<Model> model;
    if (options.infer()) {
      model.emplace(network_for(job, splits.train.inputs().at(0).record()), job.model);
    }
    export_data(splits, options.export_folder, model ? &*model : nullptr);
    return kSuccess;
  }
  Model model(job.network, job.model);  // before the data: a missing device costs no download
  check_used(options.given, model);
  if (model.device() == "cpu") {
    options.given.refuse({"--data streamed"}, "GPUs", "the network runs on the CPU");
  }
  const auto start = std::chrono::steady_clock::now();
  const BenchData data = drawn_or_read(job, options.wanted);
  if (data.synthetic.empty()) {
    check_data_seed(options.given, "--data-seed", options.wanted.dataset.value_or(job.data));
  }
  const std::chrono::duration<double> reading = std::chrono::steady_clock::now() - start;
  const Dataset& train = data.splits.train;
  const Shape sample = train.inputs()[0].record();
  if (job.for_images && sample != job.network.input_shape()) {
    model = Model(network_for(job, sample), job.model);
  }
  if (options.int8) model = quantize(model, train, {.samples = 64});
  const std::int64_t warmup = *options.warmup;
  CountProgress display("timing", "epochs");
  PassProgress progress;  // none where nobody looks: a callback costs time
  if (display.live()) {
    progress = [&](std::int64_t done, std::int64_t all) { display.update(done, all); };
  }
  const TimedRun run =
      options.infer()
          ? time_inference(model, train, job.training.batch, options.streamed(), warmup,
                           job.training.epochs, progress)
          : time_training(model, train, job.training, warmup,
                          data.splits.test.size() > 0 ? &data.splits.test : nullptr, progress);
  display.clear();
  Json json = bench_json(job, options, model, data, warmup, run);
  json["data_seconds"] = reading.count();
  for (const std::string& note : run.notes) print_note("{}", note);
  if (options.json == "-") {
    print_json(json);
  } else {
    if (!options.json.empty()) {
      write_file_atomically(options.json,
                            json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    }
    print_out(bench_text(json, data));
  }
  if (run.failed.empty()) return kSuccess;
  print_note("failed: {}", run.failed);
  return kFailed;
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  auto o = std::make_shared<BenchOptions>();
  CLI::App* command =
      app.add_subcommand("bench",
                         "Measures how fast a workload trains or predicts on this machine");
  command->add_option("WORKLOAD", o->workload, "A built-in training, e.g. mnist-cnn")->required();
  command
      ->add_option("--mode", o->mode,
                   "What is timed: training, or inference with the initial weights")
      ->check(one_of({"train", "infer"}));
  command
      ->add_option("--batch", o->batch,
                   "Samples in a batch; the workload's published batch size if not given")
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
      "Times whole epochs over shuffled data, with the last, incomplete batch. Exits with 3\n"
      "if the loss does not fall: such a run has failed.\n"
      "Example: linnet bench mnist-cnn --device cpu --batch 128 --json bench.json");
  act(*command, o, action, bench);
}

}  // namespace linnet::command
