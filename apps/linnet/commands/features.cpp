// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/model.h>
#include <linnet/samples.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/check.h"
#include "base/utf8.h"
#include "commands/commands.h"
#include "config/device.h"
#include "config/options.h"
#include "report/json.h"
#include "report/output_name.h"
#include "report/saved_run.h"
#include "tasks/task.h"

namespace linnet::command {
namespace {

struct FeaturesOptions {
  GivenOptions given;
  std::string model;
  std::vector<std::string> inputs;
  std::string layer;
  std::string out;
  std::optional<std::int64_t> resize;
  DeviceOptions on;
  std::int64_t batch = 64;
  int threads = 0;
  bool json = false;
};

/// 256 for 224, as torchvision's transforms of ImageNet have it.
std::int64_t usual_resize(const Shape& input) { return std::max(input[0], input[1]) * 256 / 224; }

int features(const FeaturesOptions& options) {
  require_extension(options.out, {".npy"});
  auto [run, on, model, task] = load_run(options.model, options.on, options.threads, options.given);
  const Shape input = model.network().input_shape();
  ReadOptions read{.threads = options.threads};
  const bool arrays = std::ranges::all_of(options.inputs, [](const std::string& path) {
    return path.ends_with(".npy");
  });
  if (!arrays && task.reads(TaskFiles::texts)) {
    read.vocabulary = run.words();
  } else if (input.rank() == 3) {
    read.shorter_side = options.resize.value_or(usual_resize(input));
  }
  if (input.rank() != 3) {
    options.given.refuse({"--resize"}, "models of images",
                         fmt::format("'{}' takes samples of {}", options.model, to_string(input)));
  }
  const std::vector<std::filesystem::path> paths(options.inputs.begin(), options.inputs.end());
  const Samples samples = read_samples(paths, model, read);
  const Tensor values = options.layer.empty()
                            ? model.predict(samples.data, options.batch)
                            : model.value_of(options.layer, samples.data, options.batch);
  write_npy(options.out, values);
  if (options.json) {
    print_json({{"model", options.model},
                {"layer", options.layer},
                {"inputs", samples.names},
                {"shape", std::vector<std::int64_t>(values.shape().dims().begin(),
                                                    values.shape().dims().end())}});
  } else {
    for (const std::string& name : samples.names) print_out(escaped(name) + "\n");
    print_note("{} of {} samples written to '{}'", to_string(values.shape()), samples.data.size(),
               options.out);
  }
  return kSuccess;
}

}  // namespace

void add_features(CLI::App& app, Action& action) {
  auto o = std::make_shared<FeaturesOptions>();
  CLI::App* command = app.add_subcommand(
      "features", "Writes a layer's outputs for every input to a .npy file, and prints the inputs");
  command->add_option("MODEL", o->model, "A run folder, or a trained model (.safetensors)")
      ->required();
  command
      ->add_option("INPUT", o->inputs,
                   "Images, folders of them, IDX files or .npy arrays; for text models: texts, "
                   "folders of *.txt or .tsv tables")
      ->required();
  command->add_option("--layer", o->layer,
                      "The layer, as `linnet summary` names it; the network's output if not given");
  command->add_option("-o,--output", o->out, "The file to write, f32 (N, ...)")->required();
  command
      ->add_option(
          "--resize", o->resize,
          "Pixels of the shorter side of image files before the centre crop; 0: no crop, the whole "
          "image is resized to the model's size; 256/224 of the model's size if not given")
      ->check(at_least(0, 1 << 14));
  command->add_option("--batch", o->batch, "Samples in a batch")->check(at_least(1));
  add_device_options(*command, o->on);
  add_threads_option(*command, o->threads);
  command->add_flag("--json", o->json, "Print one JSON object");
  set_most_used(*command, {"--output", "--layer", "--batch", "--device", "--json"});
  command->footer(
      "Image files are resized and cropped byte for byte as torchvision's Resize and CenterCrop "
      "do.\n"
      "Example: linnet features resnet50.safetensors photos --layer global_avg_pool2d_1 -o "
      "out.npy");
  act(*command, o, action, features);
}

}  // namespace linnet::command
