// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/model.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <span>

#include "base/check.h"
#include "device_options.h"
#include "inputs.h"
#include "io/npy.h"
#include "json.h"
#include "nn/definition.h"
#include "options.h"

namespace linnet::command {
namespace {

struct PredictOptions {
  std::string model;
  std::vector<std::string> inputs;
  std::string output;
  DeviceOptions on;
  std::int64_t batch = 256;
  int threads = 0;
  bool json = false;
};

std::string class_name(const Model& model, std::size_t index) {
  const std::vector<std::string>& names = model.class_names();
  return index < names.size() ? names[index] : std::to_string(index);
}

std::string line_text(const Model& model, const std::string& name, std::span<const float> outputs) {
  if (model.class_names().empty()) return fmt::format("{}\t{}\n", name, fmt::join(outputs, "\t"));
  const auto best = std::max_element(outputs.begin(), outputs.end());
  const auto index = static_cast<std::size_t>(best - outputs.begin());
  return fmt::format("{}\t{}\t{:.4f}\n", name, class_name(model, index), *best);
}

Json line_json(const Model& model, const std::string& name, std::span<const float> outputs) {
  Json json;
  json["input"] = name;
  if (!model.class_names().empty()) {
    const auto best = std::max_element(outputs.begin(), outputs.end());
    json["class"] = class_name(model, static_cast<std::size_t>(best - outputs.begin()));
    json["probability"] = *best;
  }
  json["outputs"] = std::vector<float>(outputs.begin(), outputs.end());
  return json;
}

/// `linnet predict model.safetensors x.npy --output x.npy` is a slip, and would cost the file.
void require_other_file(const PredictOptions& options, const SavedRun& run) {
  std::vector<std::string> read = options.inputs;
  read.push_back(run.model.string());
  for (const std::string& path : read) {
    std::error_code none;
    require(!std::filesystem::equivalent(options.output, path, none),
            "--output '{}' would overwrite a file that is read; name another one", options.output);
  }
}

int predict(const PredictOptions& options) {
  ModelOptions on{.threads = options.threads};
  apply(options.on, on);
  const SavedRun run = find_run(options.model);
  on.cpu.choices = run.engine_choices;
  if (!options.output.empty()) require_other_file(options, run);
  Model model = Model::load(run.model, on);
  const Shape sample = model.network().input_shape();
  const bool ids = model.network().definition().inputs[0].dtype == DType::i32;
  const Inputs inputs =
      ids ? read_texts(options.inputs, sample, run) : read_inputs(options.inputs, sample);
  const std::int64_t samples = inputs.data.size();
  require(samples > 0, "'{}' holds no samples", options.inputs.front());
  // Without class names the network is no classifier; its outputs are given as they are.
  const std::vector<float> outputs = model.class_names().empty()
                                         ? model.predict(inputs.data, options.batch)
                                         : model.predict_probabilities(inputs.data, options.batch);
  const std::size_t width = outputs.size() / static_cast<std::size_t>(samples);
  const auto wrong = std::find_if(outputs.begin(), outputs.end(),
                                  [](float value) { return !std::isfinite(value); });
  if (wrong != outputs.end()) {
    fail("the outputs for '{}' are not finite: its values or the weights are NaN, infinite or huge",
         inputs.names[static_cast<std::size_t>(wrong - outputs.begin()) / width]);
  }
  if (!options.output.empty()) {
    write_npy(options.output, DType::f32, model.network().output_shape().batched(samples),
              std::as_bytes(std::span(outputs)));
  }
  std::string text;
  Json json = Json::array();
  for (std::size_t i = 0; i < inputs.names.size(); ++i) {
    const std::span<const float> row(outputs.data() + i * width, width);
    if (options.json) {
      json.push_back(line_json(model, inputs.names[i], row));
    } else {
      text += line_text(model, inputs.names[i], row);
    }
  }
  if (options.json) {
    Json all{{"model", options.model}};
    add_device(all, model, on);
    all["predictions"] = std::move(json);
    print_json(all);
  } else {
    print_out(text);
  }
  return kSuccess;
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  auto o = std::make_shared<PredictOptions>();
  CLI::App* command =
      app.add_subcommand("predict",
                         "Prints path, class and probability of every input, tab-separated");
  command->add_option("MODEL", o->model, "A run folder, or a trained model (.safetensors)")
      ->required();
  command
      ->add_option("INPUT", o->inputs,
                   "Pictures, folders of them, IDX files or .npy arrays; for networks of texts: "
                   "texts, folders of *.txt or .tsv tables")
      ->required();
  command->add_option("--output", o->output,
                      "Write all probabilities to this .npy file, (N, classes)");
  command->add_option("--batch", o->batch, "Samples in a step")->check(at_least(1));
  add_device_options(*command, o->on);
  command->add_option("--threads", o->threads, "Processors to use; 0: all")->check(at_least(0));
  command->add_flag("--json", o->json, "Print one JSON object");
  command->footer("Example: linnet predict runs/first photo.png --output out.npy");
  command->callback([&action, o] { action = [o] { return predict(*o); }; });
}

}  // namespace linnet::command
