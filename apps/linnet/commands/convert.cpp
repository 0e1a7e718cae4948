// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/convert.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "base/check.h"
#include "commands/commands.h"
#include "commands/convert_onnx.h"
#include "config/given.h"
#include "config/options.h"
#include "convert/other_formats.h"
#include "describe/nearest.h"
#include "formats/safetensors.h"
#include "nn/definition.h"
#include "report/json.h"

namespace linnet::command {
namespace {

struct ConvertOptions {
  GivenOptions given;
  std::string in;
  std::string out;
  std::string network;
  std::string from;
  std::string to;
  std::string pixels;
  std::string dtype = "f32";
  std::int64_t image_size = 0;
  std::int64_t steps = 0;
  std::vector<std::string> ignore;
  std::vector<std::string> rename;
  bool non_strict = false;
  std::string classes;
  OnnxConvertOptions onnx;
  bool json = false;
};

const std::vector<std::string>& dtype_names() {
  static const std::vector<std::string> names{"f32", "f16", "bf16"};
  return names;
}

/// "fc=head", or "fc.*=head.*"
std::pair<std::string, std::string> renaming(const std::string& text) {
  const std::size_t equals = text.find('=');
  const auto layer = [](std::string name) {
    if (name.ends_with(".*") || name.ends_with("/*")) name.resize(name.size() - 2);
    return name;
  };
  std::string from = layer(text.substr(0, equals));
  std::string to = equals == std::string::npos ? "" : layer(text.substr(equals + 1));
  require(!from.empty() && !to.empty() && (from + to).find('*') == std::string::npos,
          "--rename: expected a layer of the file and its name in the network, such as fc=head; "
          "got '{}'",
          text);
  return {std::move(from), std::move(to)};
}

/// Weights of another library become a model.
int import_file(const ConvertOptions& options) {
  require(options.out.ends_with(".safetensors"),
          "cannot write the model '{}': expected a name that ends in .safetensors", options.out);
  ImportOptions import;
  import.network = options.network;
  if (!options.from.empty()) {
    import.names = static_cast<WeightNames>(index_of(weight_names(), options.from));
  }
  if (!options.pixels.empty()) {
    import.pixels = static_cast<PixelScale>(index_of(pixel_scale_names(), options.pixels));
  }
  if (options.image_size > 0) import.image = {options.image_size, options.image_size};
  if (options.steps > 0) import.steps = options.steps;
  import.ignore = options.ignore;
  for (const std::string& text : options.rename) import.rename.insert(renaming(text));
  import.strict = !options.non_strict;
  Imported imported =
      import_weights(read_weights(options.in), import, {.device = "cpu", .threads = 1});
  const Network& network = imported.model.network();
  const bool texts = network.definition().inputs[0].dtype == DType::i32;
  const std::string what =
      fmt::format("'{}' is a network of {}", options.network, texts ? "texts" : "images");
  if (texts) {
    options.given.refuse({"--pixels", "--image-size"}, "networks of images", what);
  } else {
    options.given.refuse({"--steps"}, "text models", what);
  }
  save_converted(imported.model, options.classes, options.out);
  const std::optional<PixelScale> pixels = pixel_scale_of(network);
  const std::string names = weight_names()[static_cast<std::size_t>(imported.names)];
  if (options.json) {
    Json json{{"network", options.network}, {"names", names},
              {"tensors", imported.placed}, {"ignored", imported.ignored},
              {"unfit", imported.unfit},    {"parameters", network.parameters()}};
    json["pixels"] =
        pixels ? Json(pixel_scale_names()[static_cast<std::size_t>(*pixels)]) : Json(nullptr);
    print_json(json);
    return kSuccess;
  }
  print_note("converted {} tensors by the names of {} to {} in '{}': samples {}, outputs {}",
             imported.placed, names, options.network, options.out, to_string(network.input_shape()),
             to_string(network.output_shape()));
  if (!imported.ignored.empty()) {
    print_note("left out: {}", some_of(imported.ignored));
  }
  for (const std::string& problem : imported.unfit) print_note("{}", problem);
  return kSuccess;
}

/// Returns a model's weights for another library.
int export_file(const ConvertOptions& options) {
  const Model model = Model::load(options.in, {.device = "cpu", .threads = 1});
  const auto names = static_cast<WeightNames>(index_of(weight_names(), options.to));
  std::vector<State::Entry> entries;
  const DType dtype = dtype_from_string(options.dtype);
  for (const auto& [name, value] : export_weights(model, names)) {
    entries.push_back({name, value.to(dtype)});
  }
  // With Linnet's names a model file keeps its network, its classes and its training record.
  const bool model_file = names == WeightNames::linnet && options.out.ends_with(".safetensors");
  write_weights(options.out, State(entries),
                model_file ? read_safetensors(options.in).metadata()
                           : std::map<std::string, std::string>{{"format", "pt"}});
  const std::optional<PixelScale> pixels = pixel_scale_of(model.network());
  const std::string scale =
      pixels ? pixel_scale_names()[static_cast<std::size_t>(*pixels)] : "none that has a name";
  if (options.json) {
    print_json({{"names", options.to}, {"tensors", entries.size()}, {"pixels", scale}});
    return kSuccess;
  }
  print_note("{} tensors by the names of {} written to '{}'{}", entries.size(), options.to,
             options.out,
             model_file ? std::string()
                        : "; they do not include the scale of the pixels: " + scale);
  return kSuccess;
}

int convert(const ConvertOptions& options) {
  const auto refuse = [&](const std::vector<std::string>& names, const std::string& purpose,
                          const std::string& what) {
    options.given.refuse(names, purpose, fmt::format("'{}' is {}", options.in, what));
  };
  const std::vector<std::string> importing{"--from",   "--pixels", "--image-size", "--steps",
                                           "--ignore", "--rename", "--non-strict"};
  const std::string weights = "weights that --network makes a model of";
  if (options.in.ends_with(".onnx")) {
    const std::string what = "an ONNX file, which describes its network";
    refuse({"--network", "--to"}, "other files", what);
    refuse(importing, weights, what);
    refuse({"--dtype"}, "weights that --to writes", what);
    return convert_onnx(options.in, options.out, options.classes, options.onnx, options.json);
  }
  const std::string_view way = way_from_other_format(options.in);
  require(way.empty(), "cannot read '{}': expected .onnx, .safetensors or .npz; {}", options.in,
          way);
  require(options.classes.empty() || options.to.empty(),
          "--classes needs --network or an ONNX file; --to writes only weights");
  require(options.network.empty() != options.to.empty(),
          "linnet convert needs --network, to make a model of weights, or --to, to write a model's "
          "weights; "
          "got {}",
          options.network.empty() ? "neither" : "both");
  refuse({"--shape", "--constant", "--until", "--one-sample"}, "ONNX files", "none");
  if (options.to.empty()) {
    refuse({"--dtype"}, "weights that --to writes", "read as weights (--network)");
  } else {
    refuse(importing, weights, "read as a model (--to)");
  }
  std::error_code none;
  require(!std::filesystem::equivalent(options.in, options.out, none),
          "-o '{}' would overwrite the input file; name another one", options.out);
  return options.to.empty() ? import_file(options) : export_file(options);
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  auto o = std::make_shared<ConvertOptions>();
  CLI::App* command =
      app.add_subcommand("convert",
                         "Reads models and weights of ONNX, PyTorch and Keras, and writes weights "
                         "for them");
  command
      ->add_option(
          "IN", o->in,
          "An ONNX file (.onnx), weights (.safetensors or .npz), or with --to a model file")
      ->required();
  command
      ->add_option("-o,--output", o->out,
                   "The model file to write; with --to a .safetensors or .npz file")
      ->required();
  command->add_option("--network", o->network, "The network of the weights")
      ->check(one_of(network_names()));
  command
      ->add_option(
          "--from", o->from,
          "The library whose names the weights have; found by the names in the file if not given")
      ->check(one_of(weight_names()));
  command->add_option("--to", o->to, "The library whose names and layouts to write")
      ->check(one_of(weight_names()));
  command
      ->add_option("--pixels", o->pixels,
                   "Scale of the pixels in the network's first layer; that of the published "
                   "weights if not given")
      ->check(one_of(pixel_scale_names()));
  command
      ->add_option("--image-size", o->image_size,
                   "Height and width of the images; 224 if not given, 32 for CIFAR networks")
      ->check(at_least(1, 1 << 14));
  command->add_option("--steps", o->steps, "Ids of a sample of a text model; 150 if not given")
      ->check(at_least(1));
  command->add_option("--ignore", o->ignore, "Leave out tensors of this name (* and ?); repeatable")
      ->allow_extra_args(false);
  command
      ->add_option("--rename", o->rename,
                   "Read the tensors of a layer of the file by another name, FROM=TO: fc=head; "
                   "repeatable")
      ->allow_extra_args(false);
  command->add_flag("--non-strict", o->non_strict,
                    "Leave out tensors that do not fit, draw weights that are missing, and list "
                    "both");
  command->add_option("--classes", o->classes,
                      "Text file with one class name per line, in the order of the outputs");
  command
      ->add_option("--dtype", o->dtype,
                   "Element type of the weights that --to writes: f32, f16 or bf16")
      ->check(one_of(dtype_names()))
      ->capture_default_str();
  add_onnx_options(*command, o->onnx);
  command->add_flag("--json", o->json, "Print one JSON object");
  set_most_used(*command, {"--output", "--network", "--from", "--to", "--classes"});
  command->footer(
      "Every tensor must belong to a parameter: tensors that are left over, missing or of another "
      "shape are listed, and nothing is written unless --non-strict is given.\n"
      "Example: linnet convert resnet50.safetensors --network resnet50 -o model.safetensors\n"
      "Example: linnet convert squeezenet.onnx -o squeezenet.safetensors\n"
      "Example: linnet convert model.safetensors --to keras -o resnet50.npz");
  act(*command, o, action, convert);
}

}  // namespace linnet::command
