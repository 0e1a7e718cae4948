// SPDX-License-Identifier: Apache-2.0
#include "commands/propose.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/check.h"
#include "base/folder.h"
#include "base/shell_word.h"
#include "config/config.h"
#include "config/file_kind.h"
#include "datasets/image_folder.h"
#include "datasets/load_dataset.h"
#include "report/run_folder.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

using Lines = std::vector<std::pair<std::string, std::string>>;  // commands, and what they do

std::string page(const std::string& found, const Lines& lines) {
  std::size_t width = 0;
  for (const auto& [line, meaning] : lines) width = std::max(width, line.size());
  std::string text = found + "\n\n";
  for (const auto& [line, meaning] : lines) {
    text += fmt::format("  {:<{}}   {}\n", line, width, meaning);
  }
  return text;
}

/// Returns whether a configuration has the table [search]; one that cannot be read has none.
bool describes_search(const std::string& path) {
  try {
    return read_toml(path).contains("search");
  } catch (const Error&) {
    return false;
  }
}

std::string of_run(const std::string& path) {
  return page(fmt::format("{} is a trained model.", path),
              {{"linnet predict " + shell_word(path) + " INPUT", "predictions for new samples"},
               {"linnet evaluate " + shell_word(path) + " --data DATA", "metrics on a data set"},
               {"linnet serve " + shell_word(path), "a page and an HTTP server to try it"},
               {"linnet train DATA --from " + shell_word(path), "trains it further"}});
}

struct Group {
  std::string_view title;
  std::vector<std::string_view> commands;
};

const std::vector<Group>& groups() {
  static const std::vector<Group> all{
      {"Train and use models",
       {"train", "launch", "predict", "generate", "evaluate", "serve", "runs", "search",
        "importance", "optimize"}},
      {"Look at data and networks",
       {"data", "summary", "plan", "max-batch", "layers", "optimizers"}},
      {"Bring models in and out", {"convert", "export", "quantize", "features"}},
      {"Speed and this machine", {"bench", "profile", "devices", "completion"}}};
  return all;
}

}  // namespace

std::string proposal(const std::string& path) {
  std::error_code none;
  const bool folder = fs::is_directory(path, none);
  if (folder && is_file(fs::path(path) / kModelFile)) return of_run(path);
  if (const FoundTask found = task_of_files(path); found.likely) {
    const TaskPage of = found.task->page(path);
    return page(of.found, of.commands);
  }
  if (folder) {
    find_dataset(path);  // says what is wrong with one that is none
    return page(fmt::format("{} holds arrays (.npy).", path),
                {{"linnet data info " + shell_word(path), "shapes and ranges"},
                 {"linnet train FILE.toml --data " + shell_word(path),
                  "trains a network that FILE.toml describes (docs/data.md)"}});
  }
  const std::string ending = lower_ascii(fs::path(path).extension().string());
  if (ending == ".safetensors") return of_run(path);
  if (ending == ".toml" && describes_search(path)) {
    return page(fmt::format("{} describes a search.", path),
                {{"linnet search " + shell_word(path), "trains its networks and keeps the best"}});
  }
  if (ending == ".toml") {
    return page(fmt::format("{} describes a training.", path),
                {{"linnet summary " + shell_word(path), "its layers, and the memory that it needs"},
                 {"linnet train " + shell_word(path), "trains it"}});
  }
  if (ending == ".onnx") {
    return page(fmt::format("{} is a model of another program.", path),
                {{"linnet convert " + shell_word(path) + " -o model.safetensors", "reads it"}});
  }
  if (is_image_name(path)) {
    return page(fmt::format("{} is an image.", path),
                {{"linnet predict runs/NAME " + shell_word(path), "its class, by a model"},
                 {"linnet train FOLDER", "trains a model: a folder of images for each class"}});
  }
  const std::string kind = file_kind(path);
  require(kind.empty(), "'{}' is {}", path, kind);
  fail(
      "'{}' is not a folder of data, table, file of texts, image, model or configuration that "
      "`linnet` knows; see `linnet --help`",
      path);
}

std::string help_page(const CLI::App& app) {
  std::string text =
      "Linnet trains and runs neural networks on CPUs and NVIDIA GPUs.\n\n"
      "First steps with your own data:\n"
      "  linnet penguins.csv                         says what is in a file or a folder, and what "
      "to run\n"
      "  linnet train penguins.csv --target species  learns a column of a table from the others\n"
      "  linnet train photos/                        learns images: a folder for each class\n"
      "  linnet train reviews.tsv                    learns texts: a label, a tab and a text in "
      "each line\n"
      "  linnet predict runs/NAME new.csv            predicts with a trained model; also images "
      "and texts\n"
      "  linnet train --workload mnist-cnn           trains a known network on known data\n"
      "  linnet train network.toml                   trains a network of your own, described in a "
      "file\n";
  std::map<std::string, std::string> left;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    left[command->get_name()] = command->get_description();
  }
  const auto add = [&](const std::string& name) {
    text += fmt::format("  {:<12} {}\n", name, left.at(name));
    left.erase(name);
  };
  for (const Group& group : groups()) {
    text += fmt::format("\n{}:\n", group.title);
    for (const std::string_view name : group.commands) {
      if (left.contains(std::string(name))) add(std::string(name));
    }
  }
  if (!left.empty()) text += "\nOthers:\n";
  while (!left.empty()) add(std::string(left.begin()->first));
  return text +
         "\n`linnet COMMAND --help` describes a command, `linnet --version` prints the version.\n"
         "A training writes a folder with the model, its history and a page, report.html. "
         "Documentation: docs/.\n"
         "Example: linnet train --workload mnist-cnn --data fashion-mnist\n";
}

}  // namespace linnet::command
