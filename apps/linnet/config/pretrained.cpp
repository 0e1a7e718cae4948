// SPDX-License-Identifier: Apache-2.0
#include "config/pretrained.h"

#include <linnet/convert.h>
#include <linnet/layers.h>
#include <linnet/series_task.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/pattern.h"
#include "config/named_data.h"
#include "config/options.h"
#include "datasets/load_dataset.h"
#include "model/update_options.h"
#include "nn/definition.h"
#include "nn/heads.h"
#include "report/saved_run.h"

namespace linnet::command {
namespace {

/// Returns the layer that --replace-head replaces.
std::string head_of(const Model& model) {
  const std::string layer = last_weighted_layer(model.network().definition());
  require(!layer.empty(), "--replace-head needs a model with weights; this one has none");
  return layer;
}

/// Returns the parameters that train, each a group with what the job's groups say of it.
std::vector<ParameterGroup> groups_without(const std::vector<std::string>& frozen,
                                           const std::vector<ParameterGroup>& groups,
                                           const Model& model) {
  const NetworkDefinition& network = model.network().definition();
  std::vector<std::string> names;
  for (const ParameterSpec& spec : network.parameters) {
    if (spec.trainable) names.push_back(spec.name);
  }
  const auto any = [](const std::vector<std::string>& patterns, const std::string& name) {
    return std::ranges::any_of(patterns, [&](const auto& p) { return matches(p, name); });
  };
  for (const std::string& pattern : frozen) {
    require(std::ranges::any_of(names, [&](const auto& name) { return matches(pattern, name); }),
            "--freeze: no parameter matches '{}'; the first is '{}', the last '{}'", pattern,
            names.empty() ? "" : names.front(), names.empty() ? "" : names.back());
  }
  std::vector<bool> rests;
  for (const ParameterSpec& spec : network.parameters) rests.push_back(any(frozen, spec.name));
  std::vector<ParameterGroup> left = groups_without(network, groups, rests);
  require(!left.empty(), "--freeze leaves no parameter to train");
  return left;
}

/// Files become samples as the model's training read its own, where the job leaves that open.
void read_as_model(const SavedRun& run, const Model& model, Job& job) {
  const datasets::Places places = data_places();
  const auto folder = datasets::find(job.data, places);
  const Task& task = task_of(model);
  if (task.reads(TaskFiles::texts) && folder && task.knows(*folder)) job.images.words = run.words();
  job.images = datasets::options_for(model, job.data, places, std::move(job.images));
}

/// Returns the model with what its task adds; the parameters that --freeze names train no more.
Model frozen(Job& job, Model model) {
  job.task->equip(model);
  if (!job.freeze.empty()) {
    job.training.trains = groups_without(job.freeze, job.training.trains, model);
  }
  return model;
}

}  // namespace

void add_network_option(CLI::App& command, Setting& given, std::string& network) {
  const auto of_series = series_network_names();
  std::vector<std::string> names(of_series.begin(), of_series.end());
  const std::vector<std::string> others = network_names();
  names.insert(names.end(), others.begin(), others.end());
  const auto note = [&given, &network, of_series](const std::string& name) {
    if (std::ranges::count(of_series, name) == 0) {
      network = name;
    } else {
      given.get_if<SettingTable>()->push_back({"network", {name}});
    }
  };
  command
      .add_option_function<std::string>(
          "--network", note,
          "Default network of a series (gru if not given), or a network of the literature for a\n"
          "folder of images")
      ->check(one_of(names));
}

void add_pretrained_options(CLI::App& command, PretrainedSettings& settings) {
  command.add_option("--from", settings.from,
                     "Model file or run folder to start from; its network replaces that of the\n"
                     "configuration or the workload, which need not be given");
  command
      .add_option(
          "--weights", settings.weights,
          "Weights of --network by the names of torchvision, timm or Keras (.safetensors or\n"
          ".npz); the last layer is new, for the classes of the data")
      ->needs("--network");
  command
      .add_option("--freeze", settings.freeze,
                  "Parameters that are not trained: a pattern of names such as 'conv*'; repeatable")
      ->allow_extra_args(false);
  command
      .add_option("--replace-head", settings.head,
                  "Number of outputs of a new last layer, which replaces the model's")
      ->check(at_least(1));
}

void apply(const PretrainedSettings& settings, Job& job) {
  require(!settings.head || !settings.from.empty(), "--replace-head needs --from");
  job.from = settings.from;
  job.freeze = settings.freeze;
  job.head = settings.head.value_or(0);
  require(settings.from.empty() || settings.network.empty(),
          "--from brings its network; leave out --network {}", settings.network);
  require(settings.weights.empty() || !settings.network.empty(),
          "--weights needs --network with a network of the literature, e.g. {}",
          network_names().front());
  require(settings.network.empty() || !job.zoo.network.empty(),
          "--network trains on a folder of images by class: linnet train FOLDER --network {}",
          settings.network);
  const std::string fixed = job.head > 0 ? job.task->fixed_head(job.data) : "";
  require(fixed.empty(), "--replace-head is not for {}", fixed);
}

Model make_model(Job& job) {
  const bool trained = !job.from.empty() || !job.zoo.weights.empty();
  require(!trained || job.training.whiten.layer.empty(),
          "whiten = \"{}\" in [training] sets initial weights, but the model to start from has "
          "trained ones: leave it out",
          job.training.whiten.layer);
  if (!job.zoo.weights.empty()) {
    const Shape sample = job.network.input_shape();
    ImportOptions options{.network = job.zoo.network};
    options.image = {sample[0], sample[1]};
    options.classes = job.network.output_shape()[0];
    Model model = import_weights(read_weights(job.zoo.weights), options, job.model).model;
    job.network = model.network();
    return frozen(job, std::move(model));
  }
  Model model = job.from.empty() ? Model(job.network, job.model)
                                 : Model::load(find_run(job.from).model, job.model);
  if (!job.from.empty()) {
    job.views = model.network().views();
    if (job.views) model = model.without_views();
    if (job.head > 0) model = model.with_head(head_of(model), Dense{.units = job.head});
    job.network = model.network();
    job.for_images = nullptr;
    if (!job.data.empty() && !job.task->brings_data()) {
      read_as_model(find_run(job.from), model, job);
    }
  }
  return frozen(job, std::move(model));
}

}  // namespace linnet::command
