// SPDX-License-Identifier: Apache-2.0
#include "config/device.h"

#include <linnet/devices.h>

#include <cstdlib>
#include <map>
#include <string_view>

#include "config/options.h"
#include "config/workloads.h"
#include "model/model_state.h"
#include "model/options.h"
#include "model/precision.h"
#include "report/machine.h"

namespace linnet::command {
namespace {

constexpr std::string_view kIndexed = "cuda:";

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

const Description& device_table() {
  static const Description kAll = [] {
    using O = ModelOptions;
    Description all = by_flags(description_of<O>());
    all.fields = joined({all.fields_without({"threads"}),
                         lifted<&O::cuda>(by_flags(description_of<CudaOptions>()).fields),
                         lifted<&O::cpu>(by_flags(description_of<CpuOptions>()).fields)});
    return all;
  }();
  return kAll;
}

std::optional<std::string> DeviceOptions::device() const {
  const Setting* name = given_value(given, "device");
  if (name == nullptr) return {};
  return *name->get_if<std::string>();
}

void DeviceOptions::set_device(const std::string& name) {
  auto& table = *given.get_if<SettingTable>();
  std::erase_if(table, [](const SettingEntry& entry) { return entry.key == "device"; });
  table.push_back({"device", {name}});
}

void add_device_options(CLI::App& command, DeviceOptions& options) {
  const OptionGroup group(command, "Device");
  add_flags(command, device_table(), options.given);
}

void apply(const DeviceOptions& options, ModelOptions& model) {
  device_table().read(&model, options.given, "");
  CudaOptions& cuda = model.cuda;
  if (given_value(options.given, "graph") != nullptr) cuda.graph_required = true;
  cuda.cache_folder = cache_folder().string();
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
  if (model.device == "cpu" && given_value(options.given, "precision") == nullptr) {
    model.precision = precision_on_cpu(model.precision);
  }
  return model;
}

const std::string& name_of(Precision precision) {
  return device_table().find("precision")->names[static_cast<std::size_t>(precision)];
}

std::string cuda_library() {
  const char* library = std::getenv("LINNET_CUDA_LIBRARY");
  return library != nullptr ? library : "";
}

namespace {

/// Returns what the model computes in: the CPU takes all but bf16 and fp64 as fp32.
Precision precision_of(const Model& model, const ModelOptions& options) {
  if (computes_in_f64(model.state())) return Precision::fp64;
  const bool own = model.device() != "cpu" || options.precision == Precision::bf16;
  return own ? options.precision : Precision::fp32;
}

}  // namespace

void add_device(Json& json, const Model& model, const ModelOptions& options) {
  const bool cuda = model.device() != "cpu";
  json["device"] = model.device();
  json["device_name"] = device_name(model, options);
  json["precision"] = name_of(precision_of(model, options));
  json["graph"] = cuda ? Json(graph_name(options.cuda.graph_steps)) : Json();
  json["conv_engine"] = cuda ? Json(options.cuda.cudnn ? "graph" : "legacy") : Json();
  json["deterministic"] = cuda ? Json(options.cuda.deterministic) : Json();
  const std::map<std::string, std::string> choices = model.engine_choices();
  if (!choices.empty()) json["engine_choices"] = choices;
}

}  // namespace linnet::command
