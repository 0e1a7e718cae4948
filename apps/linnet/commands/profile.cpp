// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/datasets.h>
#include <linnet/profile.h>
#include <linnet/scaling.h>
#include <linnet/version.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/files.h"
#include "commands/commands.h"
#include "commands/profile_kernels.h"
#include "commands/profile_scaling.h"
#include "commit.h"
#include "config/device.h"
#include "config/options.h"
#include "config/workloads.h"
#include "report/json.h"

namespace linnet::command {
namespace {

struct ProfileOptions {
  GivenOptions given;
  std::string config;
  std::string workload;
  std::optional<std::string> data;
  DeviceOptions on;
  std::optional<std::int64_t> batch;
  std::optional<int> threads;
  std::int64_t steps = 20;
  std::string trace;
  bool inference = false;
  bool synthetic = false;
  bool kernels = false;
  bool all_workloads = false;
  bool scaling = false;
  std::vector<int> to_threads = {4, 8, 16, 32, 64, 128};
  bool json = false;
};

Job job_of(const ProfileOptions& options, Job job) {
  apply(options.on, job.model);
  job.data = options.data.value_or(job.data);
  job.model.threads = options.threads.value_or(job.model.threads);
  job.model.seed = job.training.seed;
  job.training.batch = options.batch.value_or(job.training.batch);
  return job;
}

std::string title(const OperatorProfile& op) { return fmt::format("{} {}", op.name, op.layer); }

Json profile_json(const Job& job, const Model& model, const Json& data, bool inference,
                  const Profile& profile) {
  Json json;
  json["name"] = job.name;
  json["data"] = data;
  add_device(json, model, job.model);
  json["threads"] = model.threads();
  json["mode"] = inference ? "infer" : "train";
  json["batch"] = profile.batch;
  json["steps"] = profile.steps;
  json["step_seconds"] = profile.step_seconds;
  json["operator_seconds"] = profile.operator_seconds;
  json["flops_ceiling"] = profile.flops_ceiling;
  json["bytes_ceiling"] = profile.bytes_ceiling;
  json["operators"] = Json::array();
  for (const OperatorProfile& op : profile.operators) {
    Json row{{"operator", op.name},
             {"layer", op.layer},
             {"engine", op.engine},
             {"shapes", op.shapes},
             {"start", op.start}};
    add_rates(row, op);
    json["operators"].push_back(std::move(row));
  }
  json["kernels"] = kernels_json(kernels_of(profile));
  json["notes"] = profile.notes;
  json["version"] = version();
  json["commit"] = kCommit;
  return json;
}

/// Returns a step in the Trace Event Format of chrome://tracing and Perfetto: a complete event
/// ("X", in microseconds) an operator, one after the other.
Json trace_json(const Job& job, const Profile& profile) {
  Json events = Json::array();
  const auto name = [&](const char* what, const std::string& text) {
    events.push_back(
        {{"name", what}, {"ph", "M"}, {"pid", 1}, {"tid", 1}, {"args", {{"name", text}}}});
  };
  name("process_name", fmt::format("linnet profile {}", job.name));
  name("thread_name", fmt::format("{}, batch {}", profile.device, profile.batch));
  double end = 0;  // starts and lengths are medians by themselves: events must not overlap
  for (const OperatorProfile& op : profile.operators) {
    const double start = std::max(op.start, end);
    end = start + op.seconds;
    events.push_back({{"name", title(op)},
                      {"cat", op.name},
                      {"ph", "X"},
                      {"ts", 1e6 * start},
                      {"dur", 1e6 * op.seconds},
                      {"pid", 1},
                      {"tid", 1},
                      {"args",
                       {{"engine", op.engine},
                        {"percent", 100 * op.share},
                        {"GFLOP/s", 1e-9 * op.flops_per_second},
                        {"GB/s", 1e-9 * op.bytes_per_second},
                        {"percent of the roof", 100 * op.of_ceiling}}}});
  }
  Json trace;
  trace["displayTimeUnit"] = "ms";
  trace["traceEvents"] = std::move(events);
  return trace;
}

std::string profile_text(const Profile& profile) {
  std::vector<const OperatorProfile*> sorted;
  for (const OperatorProfile& op : profile.operators) sorted.push_back(&op);
  std::sort(sorted.begin(), sorted.end(), [](const OperatorProfile* a, const OperatorProfile* b) {
    return std::pair(b->seconds, a) < std::pair(a->seconds, b);
  });
  std::size_t name = 8;
  std::size_t layer = 5;
  std::size_t engine = 6;
  for (const OperatorProfile* op : sorted) {
    name = std::max(name, op->name.size());
    layer = std::max(layer, op->layer.size());
    engine = std::max(engine, op->engine.size());
  }
  std::string out =
      fmt::format("{:<{}}  {:<{}}  {:<{}}  {:>10}  {:>5}  {:>9}  {:>8}  {:>8}\n", "operator", name,
                  "layer", layer, "engine", engine, "µs", "%", "GFLOP/s", "GB/s", "% of roof");
  for (const OperatorProfile* op : sorted) {
    out += fmt::format("{:<{}}  {:<{}}  {:<{}}  {:>10.1f}  {:>5.1f}  {:>9.2f}  {:>8.2f}  {:>8}\n",
                       op->name, name, op->layer, layer, op->engine.empty() ? "-" : op->engine,
                       engine, 1e6 * op->seconds, 100 * op->share, 1e-9 * op->flops_per_second,
                       1e-9 * op->bytes_per_second,
                       op->of_ceiling > 0 ? fmt::format("{:.0f}", 100 * op->of_ceiling) : "-");
  }
  return out;
}

std::string totals_text(const Profile& profile) {
  std::string out;
  if (profile.flops_ceiling > 0) {
    out += fmt::format(
        "\nroof: the lower of {:.0f} GFLOP/s in f32 and {:.1f} GB/s from memory, measured after "
        "the "
        "steps; data in caches can exceed it\n",
        1e-9 * profile.flops_ceiling, 1e-9 * profile.bytes_ceiling);
  }
  return out + fmt::format(
                   "\na step of {} samples on {} takes {:.1f} µs (mean of {}); its operators "
                   "one by one, {:.1f} µs (medians of {})\n",
                   profile.batch, profile.device, 1e6 * profile.step_seconds, profile.steps,
                   1e6 * profile.operator_seconds, profile.steps);
}

/// A job with its model, and the samples that a training step is measured on.
struct Subject {
  Job job;
  bool inference;
  Model model;
  Dataset samples = {};
  Json data = {};  ///< their name; null for predictions, which are timed on zeros

  /// `synthetic`: one generated batch.
  Subject(Job of, bool wants_inference, bool synthetic)
      : job(std::move(of)),
        inference(wants_inference || job.forward_only),
        model(job.network, job.model) {  // before the data: a missing device costs no download
    if (inference) return;
    if (synthetic) {
      samples = datasets::synthetic(job.network, job.training.loss, job.training.batch,
                                    job.training.seed);
    } else {
      const LoadedData loaded = load_data(job.data, job.training.seed);
      print_notes(loaded.note);
      samples = loaded.splits.train;
      if (job.for_images) {
        model = Model(network_for(job, samples.inputs()[0].record()), job.model);
      }
    }
    data = samples.info().name;
  }

  Profile profile(std::int64_t steps) {
    const std::int64_t batch = job.training.batch;
    Profile measured = inference ? profile_prediction(model, batch, steps)
                                 : profile_training(model, samples, batch, steps, job.training);
    for (const std::string& note : measured.notes) print_note("{}", note);
    return measured;
  }
  ThreadScaling scaling(std::int64_t steps, const std::vector<int>& threads) {
    const std::int64_t batch = job.training.batch;
    return inference ? scaling_of_prediction(model, batch, steps, threads)
                     : scaling_of_training(model, samples, batch, steps, threads, job.training);
  }
};

/// Profiles every workload as benchmarks run it: its training and its predictions, on one generated
/// batch of their sizes.
int profile_all(const ProfileOptions& options) {
  require(options.config.empty() && options.workload.empty() && !options.data && !options.batch &&
              options.trace.empty() && !options.scaling && !options.inference,
          "--all-workloads measures each workload at its own batch sizes; of the other options it "
          "takes --steps, --threads, --device, --precision and --json");
  Json all = Json::array();
  for (const std::string& name : workload_names()) {
    for (const auto& [mode, size] : published_workload(name).published) {
      print_note("{}, {}, batch {}", name, mode, size.batch);
      Job job = job_of(options, published_workload(name));
      job.training.batch = size.batch;
      Subject subject(std::move(job), mode == "infer", true);
      check_used(options.given, subject.model);
      const Profile measured = subject.profile(options.steps);
      if (options.json) {
        all.push_back(
            profile_json(subject.job, subject.model, subject.data, subject.inference, measured));
      } else {
        print_out(fmt::format("{}, {}\n\n{}{}\n", name, mode, kernels_text(kernels_of(measured)),
                              totals_text(measured)));
      }
    }
  }
  if (options.json) print_json(Json{{"profiles", std::move(all)}});
  return kSuccess;
}

int profile_scaling(const ProfileOptions& options, Subject& subject) {
  const ThreadScaling scaling = subject.scaling(options.steps, options.to_threads);
  if (options.json) {
    print_json(scaling_json(subject.job.name, subject.inference, scaling));
  } else {
    print_out(scaling_text(scaling));
  }
  return kSuccess;
}

void check_options(const ProfileOptions& options) {
  if (options.all_workloads) {
    options.given.refuse({"--kernels", "--synthetic"}, "one workload", "--all-workloads does both");
  }
  if (options.scaling) {
    options.given.refuse({"--kernels", "--trace"}, "the times of operators",
                         "--scaling prints none");
  } else {
    options.given.refuse({"--to-threads"}, "--scaling", "it is not given");
  }
  if (options.inference) {
    options.given.refuse({"--data"}, "trainings", "--inference times zeros");
  }
}

int profile(const ProfileOptions& options) {
  check_options(options);
  if (options.all_workloads) return profile_all(options);
  require(!options.synthetic || !options.data, "--synthetic needs no data; leave out --data");
  Job job = job_of(options, job_from(options.config, options.workload, "linnet profile"));
  if (job.forward_only) {
    options.given.refuse({"--data"}, "trainings",
                         fmt::format("'{}' only computes features, of zeros", job.name));
  }
  Subject subject(std::move(job), options.inference, options.synthetic);
  check_used(options.given, subject.model);
  if (options.scaling) return profile_scaling(options, subject);
  const Profile measured = subject.profile(options.steps);
  if (!options.trace.empty()) {
    write_file_atomically(
        options.trace,
        trace_json(subject.job, measured).dump(1, ' ', false, Json::error_handler_t::replace) +
            "\n");
  }
  if (options.json) {
    print_json(profile_json(subject.job, subject.model, subject.data, subject.inference, measured));
  } else {
    print_out((options.kernels ? kernels_text(kernels_of(measured)) : profile_text(measured)) +
              totals_text(measured));
  }
  return kSuccess;
}

}  // namespace

void add_profile(CLI::App& app, Action& action) {
  auto options = std::make_shared<ProfileOptions>();
  CLI::App* command =
      app.add_subcommand("profile", "Prints the time of a step, operator by operator");
  command->add_option("CONFIG", options->config, "Configuration file (TOML), or a workload");
  command->add_option("--workload", options->workload, "A built-in training, e.g. mnist-cnn");
  command->add_option("--data", options->data, "A folder of data, fashion-mnist or digits");
  command->add_option("--batch", options->batch, "Samples in a batch")->check(at_least(1));
  command->add_option("--steps", options->steps, "Steps to measure; 20 if not given")
      ->check(at_least(1, 1'000'000));
  command->add_flag(
      "--inference", options->inference,
      "Measure predictions instead of training; always so for networks that only compute features");
  add_device_options(*command, options->on);
  add_threads_option(*command, options->threads);
  command->add_flag("--synthetic", options->synthetic,
                    "Train on generated samples in the shape of the data");
  command->add_flag("--kernels", options->kernels,
                    "Print a row for each kernel and shape instead of each operator");
  command->add_flag("--all-workloads", options->all_workloads,
                    "Measure the kernels of every workload at the sizes of the benchmarks, on "
                    "generated samples");
  command->add_flag("--scaling", options->scaling,
                    "Compute from the times of single tasks what more threads can reach (CPU)");
  command
      ->add_option("--to-threads", options->to_threads,
                   "Numbers of threads for --scaling; 4,8,16,32,64,128 if not given")
      ->delimiter(',')
      ->check(at_least(1, 4096));
  command->add_option("--trace", options->trace,
                      "File for a timeline, which chrome://tracing and ui.perfetto.dev show");
  command->add_flag("--json", options->json, "Print one JSON object instead of a table");
  set_most_used(*command, {"--workload", "--batch", "--inference", "--device", "--json"});
  command->footer("Example: linnet profile mnist-cnn --batch 128 --trace step.json");
  act(*command, options, action, profile);
}

}  // namespace linnet::command
