// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/inspect.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/check.h"
#include "commands/commands.h"
#include "config/device.h"
#include "config/options.h"
#include "config/workloads.h"
#include "core/dims.h"
#include "report/json.h"
#include "report/machine.h"
#include "report/memory.h"
#include "report/saved_run.h"

namespace linnet::command {
namespace {

struct SummaryOptions {
  GivenOptions given;
  std::string file;  // a model or a configuration
  std::string workload;
  std::int64_t batch = 0;
  DeviceOptions on;
  bool json = false;
};

Job job_of(const SummaryOptions& options) {
  const std::filesystem::path file = options.file;
  std::error_code none;
  const bool there = std::filesystem::exists(file, none);
  if (!there || options.file == "-" || file.extension() == ".toml") {
    return job_from(options.file, options.workload, "linnet summary");
  }
  require(options.workload.empty(),
          "linnet summary: expected a file or --workload, not both; got '{}' and '{}'",
          options.file, options.workload);
  return {.name = file.stem().string(),
          .network = Model::load(find_run(file).model, {.device = "cpu", .threads = 1}).network()};
}

Json summary_json(const std::string& name, const NetworkSummary& summary) {
  Json json;
  json["name"] = name;
  json["batch"] = summary.batch;
  json["parameters"] = summary.parameters;
  json["flops_per_sample"] = summary.flops_per_sample;
  json["training"] = memory_json(summary.training);
  json["prediction"] = memory_json(summary.prediction);
  json["layers"] = Json::array();
  for (const LayerSummary& layer : summary.layers) {
    json["layers"].push_back({{"name", layer.name},
                              {"kind", layer.kind},
                              {"settings", layer.settings},
                              {"output", dims_of(layer.output)},
                              {"parameters", layer.parameters},
                              {"flops_per_sample", layer.flops_per_sample}});
  }
  return json;
}

std::string flops_text(double flops) {
  if (flops >= 1e9) return fmt::format("{:.2f} G", flops / 1e9);
  if (flops >= 1e6) return fmt::format("{:.2f} M", flops / 1e6);
  if (flops >= 1e3) return fmt::format("{:.2f} k", flops / 1e3);
  return fmt::format("{:.0f}", flops);
}

std::string summary_text(const NetworkSummary& summary) {
  std::size_t name_width = 5;
  std::size_t kind_width = 4;
  std::size_t shape_width = 6;
  for (const LayerSummary& layer : summary.layers) {
    name_width = std::max(name_width, layer.name.size());
    kind_width = std::max(kind_width, layer.kind.size());
    shape_width = std::max(shape_width, to_string(layer.output).size());
  }
  std::string out =
      fmt::format("{:<{}}  {:<{}}  {:<{}}  {:>12}  {:>12}  settings\n", "layer", name_width, "type",
                  kind_width, "output", shape_width, "parameters", "FLOPs/sample");
  for (const LayerSummary& layer : summary.layers) {
    std::string row =
        fmt::format("{:<{}}  {:<{}}  {:<{}}  {:>12}  {:>12}  {}", layer.name, name_width,
                    layer.kind, kind_width, to_string(layer.output), shape_width, layer.parameters,
                    flops_text(layer.flops_per_sample), layer.settings);
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + "\n";
  }
  out +=
      fmt::format("\n{} parameters, {}FLOP forward a sample\n\nmemory at batch {} as planned\n{}",
                  summary.parameters, flops_text(summary.flops_per_sample), summary.batch,
                  memory_text(
                      {{"training", summary.training}, {"prediction", summary.prediction}}));
  return out;
}

int summary(const SummaryOptions& options) {
  const Job job = job_of(options);
  const std::int64_t batch = options.batch > 0 ? options.batch : job.training.batch;
  const ModelOptions on = planned_on(options.on, job.model);
  check_used(options.given, on);
  const NetworkSummary result = summarize(job.network, batch, job.training, on);
  if (options.json) {
    print_json(summary_json(job.name, result));
  } else {
    print_out(summary_text(result));
  }
  return kSuccess;
}

}  // namespace

void add_summary(CLI::App& app, Action& action) {
  auto options = std::make_shared<SummaryOptions>();
  CLI::App* command =
      app.add_subcommand("summary",
                         "Prints layers, shapes, parameters, FLOPs and memory of a network");
  command->add_option(
      "FILE", options->file,
      "A run folder, a model (.safetensors), a configuration (.toml) or a workload");
  command->add_option("--workload", options->workload, "A built-in training, e.g. mnist-cnn");
  command->add_option("--batch", options->batch, "Samples in a batch")->check(at_least(1));
  add_device_options(*command, options->on);
  command->add_flag("--json", options->json, "Print one JSON object");
  command->footer("Example: linnet summary --workload mnist-cnn --batch 128");
  act(*command, options, action, summary);
}

}  // namespace linnet::command
