// SPDX-License-Identifier: Apache-2.0
#include "config/workloads.h"

#include <linnet/datasets.h>
#include <linnet/layers.h>
#include <linnet/zoo.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>

#include "base/check.h"
#include "base/folder.h"
#include "base/join.h"
#include "base/json.h"
#include "config/config.h"
#include "config/file_kind.h"
#include "describe/nearest.h"
#include "networks/networks.h"

namespace linnet::command {
namespace {

constexpr const char* kTable = "benchmarks/workloads.json";
constexpr std::size_t kMostDepth = 16;

/// The table's recipes have the sections and keys of a configuration file.
toml::table toml_of(const Json& object) {
  toml::table table;
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) table.insert_or_assign(key, toml_of(value));
    if (value.is_boolean()) table.insert_or_assign(key, value.get<bool>());
    if (value.is_number_integer()) table.insert_or_assign(key, value.get<std::int64_t>());
    if (value.is_number_float()) table.insert_or_assign(key, value.get<double>());
    if (value.is_string()) table.insert_or_assign(key, value.get<std::string>());
  }
  return table;
}

/// Normalised as for ImageNet: by colour, or by the mean of the colours for grey images.
Layer imagenet_pixels_of(const Shape& sample) {
  if (sample.rank() == 3 && sample[2] == 3) return imagenet_pixels();
  return Normalize{.mean = {0.449}, .std = {0.226}};
}

Network make_network(const Json& description, const Shape& sample) {
  zoo::ImageOptions options;
  options.sample = sample;
  options.classes = description.value("classes", options.classes);
  if (description.value("pixels", "") == "imagenet") options.pixels = imagenet_pixels_of(sample);
  return workloads::make(description.at("function"), options);
}

Shape image_of(const Json& description) {
  return Shape(description.value("image", std::vector<std::int64_t>{}));
}

const Json* find(const Json& table, const std::string& name) {
  for (const Json& entry : table.at("workloads")) {
    if (entry.at("name") == name) return &entry;
  }
  return nullptr;
}

Job job_of(const Json& entry, const Json& recipe) {
  const Json& network = entry.at("network");
  Job job{.name = entry.at("name"), .network = make_network(network, image_of(network))};
  job.data = entry.at("data");
  job.forward_only = entry.value("forward_only", false);
  if (network.value("any_image", false)) {
    job.for_images = [network](const Shape& sample) { return make_network(network, sample); };
  }
  for (const auto& [mode, sizes] : entry.at("sizes").items()) {
    const auto size = sizes.at("published").get<std::array<std::int64_t, 4>>();
    job.published[mode] = {size[0], size[1], size[2], size[3]};
  }
  read_recipe(toml_of(recipe), kTable, job);
  return job;
}

const Json& known_entry(const std::string& name, const Json& table) {
  if (const Json* entry = find(table, name)) return *entry;
  const std::vector<std::string> names = workload_names(table);
  require(std::ranges::count(datasets::names(), name) == 0,
          "'{0}' is a data set, not a workload: linnet train --workload NAME --data {0} trains one "
          "of {1} on it",
          name, listed(names));
  fail("unknown workload '{}'{}", name, did_you_mean(name, names, "expected"));
}

}  // namespace

const Json& workload_table() {
  static const Json table = parse_json<Json>(workloads::table(), kMostDepth, "the workloads");
  return table;
}

std::vector<std::string> workload_names(const Json& table) {
  std::vector<std::string> names;
  for (const Json& entry : table.at("workloads")) names.push_back(entry.at("name"));
  return names;
}

Job workload(const std::string& name, const Json& table) {
  const Json& entry = known_entry(name, table);
  return job_of(entry, entry.at("recipe"));
}

Job published_workload(const std::string& name, const Json& table) {
  const Json& entry = known_entry(name, table);
  Json recipe = entry.at("recipe");
  const Json bench = entry.value("bench", Json::object());
  for (const auto& [section, settings] : bench.items()) {
    recipe[section] = settings;
  }
  return job_of(entry, recipe);
}

bool infers(const Job& job, const std::string& mode) {
  require(!job.forward_only || mode != "train",
          "{} only computes features and cannot be trained; use --mode infer", job.name);
  return mode.empty() ? job.forward_only : mode == "infer";
}

Network network_for(const Job& job, const Shape& sample) {
  const bool other = job.for_images && sample.rank() == 3 && sample != job.network.input_shape();
  return other ? job.for_images(sample) : job.network;
}

bool names_workload(const std::string& word) {
  const std::filesystem::path path(word);
  if (word.empty() || word == "-" || path.has_parent_path() || path.has_extension()) return false;
  std::error_code none;  // of a link that leads nowhere, reading says so
  return !is_file(path) && !std::filesystem::is_symlink(path, none);
}

Job job_from(const std::string& config, const std::string& workload_name,
             const std::string& command) {
  return job_from(config, workload_name, command, {});
}

Job job_from(const std::string& config, const std::string& workload_name,
             const std::string& command, const ConfigOptions& options) {
  require(config.empty() || workload_name.empty(),
          "{}: expected a configuration file or --workload, not both; got '{}' and '{}'", command,
          config, workload_name);
  const std::filesystem::path path(config);
  if (names_workload(config)) {
    const std::vector<std::string> names = workload_names();
    const bool known =
        std::ranges::count(names, config) + std::ranges::count(datasets::names(), config) > 0;
    require(known || !did_you_mean(config, names).empty(),
            "there is no file, folder or workload '{}'; the workloads are {}", config,
            join(names, ", "));
    return workload(config);
  }
  if (!config.empty()) {
    const std::string kind = path.extension() == ".toml" || !is_file(path) ? "" : file_kind(path);
    require(kind.empty(), "'{}' is {}", config, kind);
    return read_config(config, options);
  }
  require(!workload_name.empty(), "{} needs a configuration file or a workload, e.g. `{} {}`",
          command, command, workload_names()[0]);
  return workload(workload_name);
}

}  // namespace linnet::command
