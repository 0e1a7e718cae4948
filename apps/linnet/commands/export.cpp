// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/c_export.h>
#include <linnet/function_export.h>
#include <linnet/intervals.h>
#include <linnet/onnx.h>
#include <linnet/quantize.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/check.h"
#include "commands/commands.h"
#include "config/given.h"
#include "report/json.h"
#include "report/saved_run.h"

namespace linnet::command {
namespace {

struct ExportOptions {
  GivenOptions given;
  std::string model;
  std::string c_folder;
  std::string onnx;
  std::string function;
  std::string name = "model";
  std::int64_t opset = OnnxExportOptions().opset;
  bool int8 = false;
  bool jacobian = false;
  bool hessian = false;
};

/// Says what an exported table's model takes.
void print_table_note(const Model& model, const char* names) {
  const Task& task = task_of(model);
  if (!task.takes_rows(model)) return;
  print_note(
      "the file takes no raw rows, but the {} numbers that the table's transform "
      "makes of them; {} names them",
      task.features(model), names);
}

/// Says what the file lacks.
void print_interval_note(const Model& model) {
  if (held_out_errors(model).samples == 0) return;
  print_note(
      "the file holds no errors of held-out samples: intervals around its values need the model "
      "file");
}

int export_model(const ExportOptions& options) {
  const auto given = {!options.c_folder.empty(), !options.onnx.empty(), !options.function.empty()};
  const auto kinds = std::ranges::count(given, true);
  require(kinds == 1, "linnet export needs --c FOLDER, --onnx FILE or --function FILE; got {}",
          kinds == 0 ? "none" : "several");
  if (options.c_folder.empty()) {
    options.given.refuse({"--name", "--int8", "--hessian"}, "C files (--c)",
                         options.onnx.empty() ? "--function writes another one"
                                              : "--onnx writes another one");
  }
  if (options.onnx.empty()) {
    options.given.refuse({"--opset"}, "ONNX files (--onnx)",
                         options.c_folder.empty() ? "--function writes another one"
                                                  : "--c writes another one");
  }
  // The files hold f32: weights of fp64 are rounded.
  ModelOptions on{.device = "cpu", .threads = 1, .precision = Precision::fp32};
  const Model model = load_model(find_run(options.model), on);
  if (!options.onnx.empty()) {
    export_onnx(options.jacobian ? model.with_derivatives() : model, options.onnx,
                {.opset = options.opset});
    print_table_note(model, "its metadata 'linnet.features'");
    print_out(fmt::format("{}: opset {}, any batch, images as (N, C, H, W){}\n", options.onnx,
                          options.opset, options.jacobian ? ", with the output 'jacobian'" : ""));
    return kSuccess;
  }
  if (!options.function.empty()) {
    export_function(model, options.function, {.jacobian = options.jacobian});
    print_interval_note(model);
    print_out(fmt::format("{}: predict(){} of {}\n", options.function,
                          options.jacobian ? " and jacobian()" : "",
                          task_of(model).takes_rows(model) ? "a row" : "a sample"));
    return kSuccess;
  }
  const CExportOptions how{.name = options.name,
                           .weights = options.int8 ? CWeights::int8 : CWeights::f32,
                           .jacobian = options.jacobian,
                           .hessian = options.hessian};
  export_c(model, options.c_folder, how);
  print_table_note(model, "a comment in its header");
  print_interval_note(model);
  const std::filesystem::path file = std::filesystem::path(options.c_folder) / (how.name + ".c");
  const auto further = [&](bool given, const char* function) {
    return given ? fmt::format(", {}_{}()", how.name, function) : "";
  };
  print_out(fmt::format("{}: {}_predict(){}{} in C99, {}; compile it with -lm\n", file.string(),
                        how.name, further(how.jacobian, "jacobian"),
                        further(how.hessian, "hessian"),
                        quantized_layers(model) > 0 ? "products of 8-bit integers"
                        : options.int8              ? "8-bit weights"
                                                    : "32-bit weights"));
  return kSuccess;
}

}  // namespace

void add_export(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command =
      app.add_subcommand("export", "Writes a model for other programs, as C, ONNX or a function");
  command->add_option("MODEL", options->model, "A run folder, or a trained model (.safetensors)")
      ->required();
  command->add_option("--c", options->c_folder,
                      "Write one C99 file without dependencies, and its header, to this folder");
  command->add_option("--onnx", options->onnx, "Write this ONNX file");
  command
      ->add_option("--opset", options->opset,
                   "Opset of the ONNX file, 13 to 21: that of the oldest program that reads it")
      ->check(at_least(13, 21))
      ->capture_default_str();
  command->add_option(
      "--function", options->function,
      "Write this file with a function of a row, without dependencies: .py, .js, .cjs, .mjs, "
      ".java or .php says the language");
  command
      ->add_option("--name", options->name,
                   "Name of the C file, and prefix of the names it defines")
      ->capture_default_str();
  command->add_flag("--int8", options->int8,
                    "Write the C file's weights as 8-bit integers with scales");
  command->add_flag("--jacobian", options->jacobian,
                    "Add the outputs' derivatives by the inputs: a function in the file of C or of "
                    "--function, an output of the ONNX file");
  command->add_flag("--hessian", options->hessian,
                    "Add a function of the outputs' second derivatives to the C file");
  command->footer("Example: linnet export runs/demo --c firmware --name digits --int8");
  act(*command, options, action, export_model);
}

}  // namespace linnet::command
