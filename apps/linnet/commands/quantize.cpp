// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/quantize.h>
#include <linnet/samples.h>

#include <memory>

#include "base/check.h"
#include "base/files.h"
#include "commands/commands.h"
#include "commands/run_data.h"
#include "config/options.h"
#include "report/json.h"
#include "tasks/task.h"

namespace linnet::command {
namespace {

struct QuantizeArguments : RunDataOptions {
  std::string run;
  std::string out;
  QuantizeOptions quantize;
  bool json = false;
};

/// The training set, or what there is.
Dataset calibration_set(const Splits& splits, const std::string& name) {
  for (const Dataset* data : {&splits.train, &splits.validation, &splits.test}) {
    if (data->size() > 0) return *data;
  }
  fail("'{}' has no samples", name);
}

int quantize_run(const QuantizeArguments& arguments) {
  ModelOptions on{.device = "cpu", .threads = arguments.threads, .precision = Precision::fp32};
  const SavedRun run = find_run(arguments.run);
  Model model = load_model(run, on);
  const Task& task = task_of(model);
  require(!task.answers_tables(), "models of series cannot be quantized by this command");
  std::error_code none;
  require(!std::filesystem::equivalent(run.model, arguments.out, none),
          "-o '{}' would overwrite the model; name another file", arguments.out);
  const RunData loaded = load_run_data(arguments, run, task, model);
  const Dataset data = fit_samples(calibration_set(loaded.splits, arguments.data), model);
  const Model made = quantize(model, data, arguments.quantize);
  made.save(arguments.out);
  const std::int64_t samples = std::min(arguments.quantize.samples, data.size());
  if (arguments.json) {
    print_json({{"model", arguments.out},
                {"layers", quantized_layers(made)},
                {"samples", samples},
                {"data", data.info().name}});
    return kSuccess;
  }
  print_out(
      fmt::format("{}: {} layers in int8, ranges of {} samples of {}\n"
                  "compare: linnet evaluate {} --data {}\n",
                  arguments.out, quantized_layers(made), samples, data.info().name, arguments.out,
                  arguments.data));
  return kSuccess;
}

}  // namespace

void add_quantize(CLI::App& app, Action& action) {
  auto o = std::make_shared<QuantizeArguments>();
  CLI::App* command =
      app.add_subcommand("quantize", "Writes a model that predicts in 8-bit integers on the CPU");
  command->add_option("RUN", o->run, "A run folder, or a trained model (.safetensors)")->required();
  command->add_option("-o,--output", o->out, "The model file to write")->required();
  add_run_data_options(*command, *o);
  command
      ->add_option("--samples", o->quantize.samples,
                   "Samples that are predicted to find the ranges of activations")
      ->check(at_least(1));
  command->add_option("--batch", o->quantize.batch, "Samples in a batch")->check(at_least(1));
  add_threads_option(*command, o->threads);
  command->add_flag("--json", o->json, "Print one JSON object");
  set_most_used(*command, {"--data", "--output", "--target", "--samples", "--json"});
  command->footer(
      "Samples are taken evenly from the training set, if there is one.\n"
      "Example: linnet quantize runs/first --data fashion-mnist -o int8.safetensors");
  act(*command, o, action, quantize_run);
}

}  // namespace linnet::command
