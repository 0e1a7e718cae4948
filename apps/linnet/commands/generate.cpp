// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/generator.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/files.h"
#include "commands/commands.h"
#include "config/device.h"
#include "config/options.h"
#include "describe/flags.h"
#include "model/options.h"
#include "report/json.h"
#include "report/print.h"
#include "report/saved_run.h"
#include "tasks/language/read_language.h"

namespace linnet::command {
namespace {

struct GenerateArguments {
  GivenOptions given;
  std::string model;
  std::string prompt;
  std::string prompt_file;
  Setting options = {SettingTable()};  ///< fields of GenerateOptions
  bool no_cache = false;
  DeviceOptions on;
  int threads = 0;
  bool json = false;
};

std::string prompt_of(const GenerateArguments& arguments) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 26;
  if (arguments.prompt_file.empty()) return arguments.prompt;
  return with_line_feeds(read_text(arguments.prompt_file, kMostBytes));
}

int generate_text(const GenerateArguments& arguments) {
  auto [run, on, model, task] =
      load_run(arguments.model, arguments.on, arguments.threads, arguments.given);
  GenerateOptions options;
  flags_of<GenerateOptions>().read(&options, arguments.options, "");
  Generator generator(model, !arguments.no_cache);
  const std::string prompt = prompt_of(arguments);
  bool begun = false;
  const auto show = [&](std::string_view character) {
    if (!begun) print_out(prompt);
    begun = true;
    print_out(character);
    return true;
  };
  if (!arguments.json) options.on_text = show;
  const auto start = std::chrono::steady_clock::now();
  const std::string text = generator.generate(prompt, options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (!arguments.json) {
    if (!begun) print_out(prompt);
    print_out("\n");
    return kSuccess;
  }
  Json json{{"model", arguments.model}};
  add_device(json, model, on);
  json["prompt"] = prompt;
  json["text"] = text;
  json["seed"] = options.seed;
  json["cache"] = generator.caches();
  json["seconds"] = seconds.count();
  print_json(json);
  return kSuccess;
}

}  // namespace

void add_generate(CLI::App& app, Action& action) {
  auto o = std::make_shared<GenerateArguments>();
  CLI::App* command =
      app.add_subcommand("generate",
                         "Continues a text by a language model, character by character");
  command
      ->add_option("RUN", o->model,
                   "A run folder of linnet train --task language, or its model (.safetensors)")
      ->required();
  CLI::Option* prompt =
      command->add_option("--prompt", o->prompt, "Text to continue; a line break if not given");
  command
      ->add_option("--prompt-file", o->prompt_file,
                   "File with the text to continue; -: standard input")
      ->excludes(prompt);
  add_flags(*command, flags_of<GenerateOptions>(), o->options);
  command->add_flag(
      "--no-cache", o->no_cache,
      "For comparison: compute the whole context for each character, without kept keys and values");
  add_device_options(*command, o->on);
  add_threads_option(*command, o->threads);
  command->add_flag("--json", o->json, "Print one JSON object at the end");
  set_most_used(*command, {"--prompt", "--length", "--temperature", "--top-k", "--seed"});
  command->footer(
      "Example: linnet generate runs/corpus --prompt \"Once upon a time\" --length 200 --seed 1");
  act(*command, o, action, generate_text);
}

}  // namespace linnet::command
