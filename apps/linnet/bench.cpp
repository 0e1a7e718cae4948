// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/check.h"
#include "base/files.h"
#include "commit.h"
#include "device_options.h"
#include "json.h"
#include "machine.h"
#include "options.h"
#include "run_record.h"
#include "synthetic_data.h"
#include "timed_run.h"

namespace linnet::command {
namespace {

constexpr std::int64_t kImageSamples = 1280;       // of images too large to draw tens of thousands
constexpr std::int64_t kLargeImage = 64 * 64 * 3;  // in numbers
constexpr std::int64_t kSyntheticSamples = 50000;
constexpr std::int64_t kMnistSamples = 10000;  // of the published run

struct BenchOptions {
  std::string workload;
  std::string mode;
  std::string data = "resident";
  std::optional<std::string> dataset;
  DeviceOptions on;
  std::optional<std::int64_t> batch;
  std::optional<std::int64_t> samples;
  std::optional<std::int64_t> epochs;
  std::optional<std::int64_t> warmup;
  std::optional<int> threads;
  std::uint64_t seed = 0;
  std::string json;

  bool infer() const { return mode == "infer"; }
  bool streamed() const { return data == "streamed"; }
};

/// Epochs of a workload, as far as the published runs say; short ones need many.
struct Epochs {
  std::int64_t warmup = 1;
  std::int64_t timed = 3;
};

Epochs published_epochs(const std::string& workload) {
  return workload == "mnist-cnn" ? Epochs{2, 40} : Epochs{};
}

/// The workload as it was published, which is for speed; `linnet train` may have a better recipe.
Job job_of(const BenchOptions& options) {
  Job job = workload(options.workload);
  require(!job.forward_only || options.mode != "train",
          "{} computes features and has nothing to train; use --mode infer", job.name);
  TrainingOptions& t = job.training;
  if (job.name == "mnist-cnn") {
    t.optimizer = adam(1e-3);
    t.batch = 128;
  }
  t.epochs = options.epochs.value_or(published_epochs(job.name).timed);
  t.batch = options.batch.value_or(t.batch);
  t.streamed = options.streamed();
  t.seed = options.seed;
  apply(options.on, job.model);
  job.model.threads = options.threads.value_or(job.model.threads);
  job.model.seed = options.seed;
  return job;
}

template <class T>
void keep_records(std::vector<T>& values, std::int64_t records, std::int64_t kept) {
  if (records == 0) return;
  const std::size_t each = values.size() / static_cast<std::size_t>(records);
  for (std::int64_t i = 0; i < kept; ++i) {
    const auto from = static_cast<std::ptrdiff_t>(each) * (i * records / kept);
    std::copy_n(values.begin() + from, each,
                values.begin() + static_cast<std::ptrdiff_t>(each) * i);
  }
  values.resize(each * static_cast<std::size_t>(kept));
  values.shrink_to_fit();
}

/// `samples` of the data, evenly spread over them: files may hold one class behind the other.
void thin_out(Dataset& data, std::int64_t samples) {
  const std::int64_t records = data.size();
  if (samples >= records) return;
  require(data.source == nullptr,
          "--samples takes a part of data in memory; '{}' is read from files", data.name);
  keep_records(data.bytes, records, samples);
  keep_records(data.floats, records, samples);
  keep_records(data.ids, records, samples);
  keep_records(data.labels, records, samples);
  keep_records(data.values, records, samples);
}

struct BenchData {
  Dataset samples;
  std::string synthetic;  ///< why they are not real ones, or empty
};

BenchData synthetic(const Job& job, const BenchOptions& options, const std::string& reason) {
  const std::int64_t size = job.network.input_shape().elements();
  const std::int64_t samples = options.samples.value_or(job.name == "mnist-cnn" ? kMnistSamples
                                                        : size > kLargeImage    ? kImageSamples
                                                                             : kSyntheticSamples);
  return {synthetic_data(job.network, job.training.loss, samples, options.seed + 1), reason};
}

BenchData data_of(const Job& job, const BenchOptions& options) {
  if (!options.dataset && job.forward_only) {
    return synthetic(job, options, "no --dataset was given");
  }
  BenchData data;
  try {
    LoadedData loaded = load_data(options.dataset.value_or(job.data), options.seed);
    if (!loaded.note.empty()) return synthetic(job, options, "Fashion-MNIST is not to be had");
    data.samples = std::move(loaded.parts.train);
  } catch (const Error& error) {
    if (options.dataset) throw;
    return synthetic(job, options, error.what());
  }
  const std::int64_t published = job.name == "mnist-cnn" ? kMnistSamples : data.samples.size();
  thin_out(data.samples, options.samples.value_or(published));
  return data;
}

Json bench_json(const Job& job, const BenchOptions& options, const Model& model,
                const BenchData& data, std::int64_t warmup, const TimedRun& run) {
  const Spread seconds = spread_of(run.seconds);
  const auto rate = [&](double of) { return static_cast<double>(run.samples) / of; };
  Json json;
  add_setup(json, job, model, data.samples, 0, run.seconds.size());
  const Json last = to_json(run.epochs.empty() ? EpochReport{} : run.epochs.back(), true);
  for (const char* key : {"train_loss", "train_accuracy", "validation_loss", "validation_accuracy",
                          "test_loss", "test_accuracy"}) {
    json[key] = last[key];
  }
  if (options.infer()) json["optimizer"] = json["learning_rate"] = json["schedule"] = nullptr;
  json["mode"] = options.mode;
  json["warmup"] = warmup;
  json["streamed"] = options.streamed();
  json["synthetic"] = data.synthetic.empty() ? Json(false) : Json(true);
  json["last_batch"] = run.samples % job.training.batch == 0 ? "full" : "incomplete, included";
  add_speed(json, run.samples, seconds);
  json["samples_per_second_min"] = rate(seconds.max);
  json["samples_per_second_max"] = rate(seconds.min);
  json["losses"] = Json::array();
  for (const EpochReport& epoch : run.epochs) json["losses"].push_back(epoch.train.loss);
  json["failed"] = run.failed.empty() ? Json() : Json(run.failed);
  json["startup_seconds"] = run.startup_seconds;
  json["peak_bytes"] = peak_bytes();
  json["planned_bytes"] = run.planned_bytes > 0 ? Json(run.planned_bytes) : Json();
  json["interrupted"] = false;
  json["stopped_early"] = false;
  json["bad_images"] = data.samples.bad_files.size();
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
      "samples/s   {} median, {} to {}, of {} epochs of {} samples behind {} warm-up\n"
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
  out +=
      fmt::format("memory      {} at the peak", bytes_text(json["peak_bytes"].get<std::size_t>()));
  if (!json["planned_bytes"].is_null()) {
    out += fmt::format(", {} planned", bytes_text(json["planned_bytes"].get<std::size_t>()));
  }
  return out +
         fmt::format("\nparameters  {}\ndevice      {}, {}, {} threads; {}\nversion     {} ({})\n",
                     text("parameters"), text("device"), text("device_name"), text("threads"),
                     fmt::join(json["libraries"].get<std::vector<std::string>>(), ", "),
                     text("version"), text("commit"));
}

/// Looked at before the clock starts: a long run should not end in a record that has no place.
void require_folder(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.parent_path();
  std::error_code none;
  require(folder.empty() || std::filesystem::is_directory(folder, none),
          "cannot write '{}': '{}' is no folder", file.string(), folder.string());
}

int bench(BenchOptions options) {
  Job job = job_of(options);
  require_folder(options.json);
  if (options.mode.empty()) options.mode = job.forward_only ? "infer" : "train";
  Model model(job.network, job.model);  // before the data: a missing device costs no download
  const BenchData data = data_of(job, options);
  if (!data.synthetic.empty()) {
    fmt::print(stderr, "linnet: synthetic data, drawn in the shape of the real ones: {}\n",
               data.synthetic);
  }
  if (job.for_images && data.samples.sample_shape != job.network.input_shape()) {
    model = Model(network_for(job, data.samples.sample_shape), job.model);
  }
  const std::int64_t warmup = options.warmup.value_or(published_epochs(job.name).warmup);
  const TimedRun run = options.infer()
                           ? time_inference(model, data.samples, job.training.batch,
                                            options.streamed(), warmup, job.training.epochs)
                           : time_training(model, data.samples, job.training, warmup);
  const Json json = bench_json(job, options, model, data, warmup, run);
  for (const std::string& note : run.notes) fmt::print(stderr, "linnet: {}\n", note);
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
  fmt::print(stderr, "linnet: failed: {}\n", run.failed);
  return kFailed;
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  auto o = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand("bench", "How fast a workload trains or predicts here");
  command->add_option("WORKLOAD", o->workload, "A built-in training, e.g. mnist-cnn")->required();
  command->add_option("--mode", o->mode, "Training, or prediction by the network as it starts")
      ->check(one_of({"train", "infer"}));
  command->add_option("--batch", o->batch, "Samples in a step; the published number if not given")
      ->check(at_least(1));
  command->add_option("--epochs", o->epochs, "Timed passes over the data")->check(at_least(1));
  command->add_option("--warmup", o->warmup, "Passes before them that are not timed")
      ->check(at_least(0));
  command->add_option("--data", o->data, "Where the samples lie before the clock starts")
      ->check(one_of({"resident", "streamed"}));
  command->add_option("--dataset", o->dataset,
                      "A folder of data or a name as of `linnet train --data`");
  command->add_option("--samples", o->samples, "At most so many samples in an epoch")
      ->check(at_least(1));
  add_device_options(*command, o->on);
  command->add_option("--threads", o->threads, "Processors to use; 0: all")->check(at_least(0));
  command->add_option("--seed", o->seed, "Of weights, shuffle, dropout and synthetic data")
      ->check(at_least(0, std::numeric_limits<long long>::max() - 1));
  command->add_option("--json", o->json, "File for the record as JSON; - prints it instead");
  command->footer(
      "Timed are whole epochs over shuffled data, the last incomplete batch included. Exits with "
      "3\n"
      "if the loss does not fall: such a run is failed, not fast.\n"
      "Example: linnet bench mnist-cnn --device cpu --batch 128 --json bench.json");
  command->callback([&action, o] { action = [o] { return bench(*o); }; });
}

}  // namespace linnet::command
