// SPDX-License-Identifier: Apache-2.0
#include "config/device.h"

#include <linnet/devices.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/check.h"
#include "config/options.h"
#include "config/workloads.h"
#include "describe/nearest.h"
#include "model/model_state.h"
#include "model/precision.h"
#include "report/machine.h"

namespace linnet::command {
namespace {

constexpr std::int64_t kMostSteps = 10'000;  // a captured step is tens of graph nodes
constexpr std::string_view kIndexed = "cuda:";

CLI::Validator a_device() {
  return CLI::Validator([](std::string& given) { return device_mistake(given); },
                        "{auto,cpu,cuda}");
}

CLI::Validator a_graph() {
  const auto check = [](std::string& given) -> std::string {
    if (graph_steps(given)) return {};
    return fmt::format("expected {}; got '{}'", kGraphChoices, given);
  };
  return CLI::Validator(check, "{off,epoch}");
}

std::string graph_name(std::int64_t steps) {
  if (steps == CudaOptions::kWholeEpoch) return "epoch";
  return steps == 0 ? "off" : std::to_string(steps);
}

/// Returns the GPU's or the processor's own name.
std::string device_name(const Model& model, const ModelOptions& options) {
  if (model.device() == "cpu") return this_machine().processor;
  const std::string& device = options.device;
  const std::string which =
      device.starts_with(kIndexed) ? device.substr(kIndexed.size()) : std::string();
  for (const CudaDevice& found : cuda_status(options.cuda.library).devices) {
    if (which.empty() || which == std::to_string(found.index) || found.uuid.starts_with(which)) {
      return found.name;
    }
  }
  return model.device();
}

void check_used_on(const GivenOptions& given, std::string_view device) {
  if (device == "cpu") {
    given.refuse({"--graph", "--conv-engine", "--deterministic", "--precision tf32"}, "GPUs",
                 "the network runs on the CPU");
  } else {
    given.refuse({"--tune"}, "the CPU", fmt::format("the network runs on {}", device));
  }
}

}  // namespace

void add_device_options(CLI::App& command, DeviceOptions& options) {
  const OptionGroup group(command, "Device");
  command
      .add_option("--device", options.device,
                  "Device; one of several GPUs: cuda:INDEX or cuda:UUID")
      ->check(a_device());
  command
      .add_option("--precision", options.precision,
                  "Arithmetic of matrix products and convolutions; fp16: on a GPU")
      ->check(one_of(precision_names()));
  command
      .add_option(
          "--graph", options.graph,
          "Steps of one launch on a GPU: off, a number, or epoch (the default where the GPU\n"
          "can loop; if given, an error where it cannot)")
      ->check(a_graph());
  command
      .add_option("--conv-engine", options.conv_engine,
                  "Convolutions on a GPU: by cuDNN (graph) or, for diagnosis, by Linnet (legacy)")
      ->check(one_of(conv_engine_names()));
  command
      .add_option(
          "--deterministic", options.deterministic,
          "Libraries' algorithms on a GPU: only those that give the same bits in every run\n"
          "(on, the default), or the fastest (off)")
      ->check(one_of(on_and_off()));
  command.add_flag(
      "--tune", options.tune,
      "Measure once which engine is fastest for convolutions and dense layers on the CPU,\n"
      "and use it");
}

void apply(const DeviceOptions& options, ModelOptions& model) {
  model.device = options.device.value_or(model.device);
  CudaOptions& cuda = model.cuda;
  if (options.precision) {
    model.precision = static_cast<Precision>(index_of(precision_names(), *options.precision));
  }
  if (options.graph) {
    cuda.graph_steps = graph_steps(*options.graph).value();
    cuda.graph_required = true;
  }
  if (options.conv_engine) cuda.cudnn = *options.conv_engine == conv_engine_names().front();
  if (options.deterministic) {
    cuda.deterministic = *options.deterministic == on_and_off().front();
  }
  cuda.cache_folder = cache_folder().string();
  if (options.tune) model.cpu.tune = true;
  model.cpu.cache_folder = cuda.cache_folder;
  cuda.library = cuda_library();
}

void check_used(const GivenOptions& given, const Model& model) {
  check_used_on(given, model.device());
}

void check_used(const GivenOptions& given, const ModelOptions& on) {
  check_used_on(given, on.device == "auto" ? open_backend(on)->name() : on.device);
}

ModelOptions planned_on(const DeviceOptions& options, ModelOptions model) {
  model.device = "cpu";
  apply(options, model);
  // A file's fp16 is its GPU's.
  if (model.device == "cpu" && !options.precision) {
    model.precision = precision_on_cpu(model.precision);
  }
  return model;
}

const std::vector<std::string>& precision_names() {
  static const std::vector<std::string> names{"auto", "fp32", "tf32", "bf16", "fp16"};
  return names;
}

const std::vector<std::string>& conv_engine_names() {
  static const std::vector<std::string> names{"graph", "legacy"};
  return names;
}

const std::vector<std::string>& on_and_off() {
  static const std::vector<std::string> names{"on", "off"};
  return names;
}

std::string device_mistake(const std::string& name) {
  const std::vector<std::string> names{"auto", "cpu", "cuda"};
  if (std::find(names.begin(), names.end(), name) != names.end()) return {};
  if (name.starts_with(kIndexed) && name.size() > kIndexed.size()) return {};
  return fmt::format("expected auto, cpu, cuda, cuda:INDEX or cuda:UUID; got '{}'{}", name,
                     did_you_mean(name, names));
}

std::optional<std::int64_t> graph_steps(std::string_view text) {
  if (text == "off") return 0;
  if (text == "epoch") return CudaOptions::kWholeEpoch;
  std::int64_t steps = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, steps);
  if (error != std::errc() || stop != end || steps < 1 || steps > kMostSteps) return std::nullopt;
  return steps;
}

std::string cuda_library() {
  const char* library = std::getenv("LINNET_CUDA_LIBRARY");
  return library != nullptr ? library : "";
}

void add_device(Json& json, const Model& model, const ModelOptions& options) {
  const bool cuda = model.device() != "cpu";
  json["device"] = model.device();
  json["device_name"] = device_name(model, options);
  // The CPU takes all but bf16 as fp32.
  const Precision precision =
      cuda || options.precision == Precision::bf16 ? options.precision : Precision::fp32;
  json["precision"] = precision_names()[static_cast<std::size_t>(precision)];
  json["graph"] = cuda ? Json(graph_name(options.cuda.graph_steps)) : Json();
  json["conv_engine"] = cuda ? Json(conv_engine_names()[options.cuda.cudnn ? 0 : 1]) : Json();
  json["deterministic"] = cuda ? Json(options.cuda.deterministic) : Json();
  const std::map<std::string, std::string> choices = model.engine_choices();
  if (!choices.empty()) json["engine_choices"] = choices;
}

}  // namespace linnet::command
