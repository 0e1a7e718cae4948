// SPDX-License-Identifier: Apache-2.0
#include "commands/propose.h"

#include <fmt/format.h>
#include <linnet/tables.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/counted.h"
#include "base/folder.h"
#include "base/join.h"
#include "config/config.h"
#include "config/file_kind.h"
#include "datasets/chest_xray.h"
#include "datasets/image_folder.h"
#include "datasets/image_table.h"
#include "datasets/load_dataset.h"
#include "datasets/texts.h"
#include "describe/nearest.h"
#include "report/run_folder.h"
#include "report/shell_word.h"
#include "tasks/table/table_rows.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

using Lines = std::vector<std::pair<std::string, std::string>>;  // commands, and what they do

constexpr std::size_t kMostNamed = 8;  // of classes or columns

std::string page(const std::string& found, const Lines& lines) {
  std::size_t width = 0;
  for (const auto& [line, meaning] : lines) width = std::max(width, line.size());
  std::string text = found + "\n\n";
  for (const auto& [line, meaning] : lines) {
    text += fmt::format("  {:<{}}   {}\n", line, width, meaning);
  }
  return text;
}

/// The commands after a training; runs have names of their own.
void add_use(Lines& lines, const std::string& fresh, const std::string& what) {
  lines.emplace_back("linnet predict runs/NAME " + fresh, "after it: " + what);
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool can_be_target(const TableColumn& column) {
  return column.type != ColumnType::constant && column.type != ColumnType::identifier &&
         column.type != ColumnType::date_time;
}

/// Returns the column that is likely to be predicted: by its name, else the last one, but for a
/// first one that alone has few texts.
std::size_t likely_target(const std::vector<TableColumn>& columns) {
  static constexpr std::array<std::string_view, 8> kNames{"target", "label",   "class",  "species",
                                                          "y",      "outcome", "output", "quality"};
  for (const std::string_view name : kNames) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (lower(columns[i].name) == name && can_be_target(columns[i])) return i;
    }
  }
  for (std::size_t i = columns.size(); i-- > 0;) {
    if (can_be_target(columns[i])) return i;
  }
  return columns.size() - 1;
}

std::string of_table(const std::string& path) {
  const Table table = read_table(path);
  std::vector<std::string> names;
  for (const TableColumn& column : table.columns()) names.push_back(column.name);
  const std::size_t target = likely_target(table.columns());
  std::size_t text = 0;
  while (text < names.size() && (text == target || !holds_sentences(table, text))) ++text;
  const bool is_series =
      std::ranges::count(table.columns(), ColumnType::date_time, &TableColumn::type) == 1;
  Lines lines{
      {"linnet data info " + shell_word(path), "types, ranges and missing values of the columns"}};
  const std::string of = "--target " + shell_word(names[target]);
  if (text < names.size()) {
    lines.emplace_back(fmt::format("linnet train {} --text {} {}", shell_word(path),
                                   shell_word(names[text]), of),
                       "learns to tell the texts apart");
    add_use(lines, "\"a new text\"", "classes of new texts");
  } else {
    if (names.size() > (is_series ? 2 : 1)) {
      lines.emplace_back(fmt::format("linnet train {} {}", shell_word(path), of),
                         "learns one column, any, from the others");
    }
    if (is_series) {
      lines.emplace_back(fmt::format("linnet train {} {} --past 30 --future 7", shell_word(path),
                                     of),
                         "forecasts 7 steps from the 30 before");
    }
    add_use(lines, "new.csv", "predictions for new rows");
  }
  return page(fmt::format("{} is a table of {} and {}: {}.", path, counted(table.rows(), "row"),
                          counted(names.size(), "column"), some_of(names, kMostNamed)),
              lines);
}

/// " (15 for the validation, 15 for the test)", of those that there are.
std::string held_out_text(std::size_t validation, std::size_t test) {
  std::vector<std::string> parts;
  if (validation > 0) parts.push_back(fmt::format("{} for the validation", validation));
  if (test > 0) parts.push_back(fmt::format("{} for the test", test));
  return parts.empty() ? "" : fmt::format(" ({})", join(parts, ", "));
}

std::string of_texts(const std::string& path, const LabelledTexts& train,
                     std::size_t validation = 0, std::size_t test = 0) {
  const std::vector<std::string> classes = text_classes(label_names(train));
  Lines lines{{"linnet train " + shell_word(path), "learns the classes"}};
  add_use(lines, "\"a new text\"", "classes of new texts");
  return page(fmt::format("{} holds {} of {}{}: {}.", path,
                          counted(train.texts.size() + validation + test, "text"),
                          counted(classes.size(), "class"), held_out_text(validation, test),
                          some_of(classes, kMostNamed)),
              lines);
}

std::string of_images(const std::string& path, const std::string& what) {
  Lines lines{{"linnet data info " + shell_word(path),
               "counts, sizes, and files that can't be read"},
              {"linnet train " + shell_word(path), "trains a small residual network on them"},
              {"linnet train " + shell_word(path) + " --from runs/OTHER --replace-head N",
               "begins with a trained network, for N classes"}};
  add_use(lines, "new.jpg", "classes of new images");
  return page(what, lines);
}

std::string of_folder(const std::string& path) {
  const FoundData found = find_dataset(path);
  switch (found.kind) {
    case DataKind::texts: {
      const TextParts parts = read_text_folder(found.folder);
      return of_texts(path, parts.train, parts.validation.texts.size(), parts.test.texts.size());
    }
    case DataKind::images: {
      const ImageIndex index = index_image_folders(found.folder);
      const std::size_t images = index.train.size() + index.validation.size() + index.test.size();
      if (index.class_names.size() < 2) {
        return page(fmt::format("{} holds {} images of one class: {}. A training wants a folder "
                                "for each of at least two classes.",
                                path, images, some_of(index.class_names, kMostNamed)),
                    {{"linnet data info " + shell_word(path),
                      "counts, sizes, and files that can't be read"}});
      }
      return of_images(path, fmt::format("{} holds {} images of {} classes{}: {}.", path, images,
                                         index.class_names.size(),
                                         held_out_text(index.validation.size(), index.test.size()),
                                         some_of(index.class_names, kMostNamed)));
    }
    case DataKind::image_table: {
      const ImageTable table = read_image_table(found.folder, {});
      return of_images(path,
                       fmt::format("{} holds {} images, whose {} '{}' says: {}.", path,
                                   table.images.size(), table.width == 0 ? "classes" : "values",
                                   table.table.filename().string(),
                                   some_of(table.classes, kMostNamed)));
    }
    case DataKind::chest_xray: {
      const XrayIndex index = index_chest_xray(found.folder);
      return of_images(path,
                       fmt::format("{} holds {} X-rays with {} labels: {}.", path,
                                   index.train.size() + index.validation.size() + index.test.size(),
                                   index.labels.size(), some_of(index.labels, kMostNamed)));
    }
    case DataKind::npy:
      return page(fmt::format("{} holds arrays (.npy).", path),
                  {{"linnet data info " + shell_word(path), "shapes and ranges"},
                   {"linnet train FILE.toml --data " + shell_word(path),
                    "trains a network that FILE.toml describes (docs/data.md)"}});
    case DataKind::idx:
    case DataKind::cifar: break;
  }
  return of_images(path, fmt::format("{} holds images ({} files).", path, to_string(found.kind)));
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
       {"train", "launch", "predict", "evaluate", "serve", "runs", "search", "importance",
        "optimize"}},
      {"Look at data and networks",
       {"data", "summary", "plan", "max-batch", "layers", "optimizers"}},
      {"Bring models in and out", {"convert", "export", "quantize", "features"}},
      {"Speed and this machine", {"bench", "profile", "devices", "completion"}}};
  return all;
}

}  // namespace

std::string proposal(const std::string& path) {
  std::error_code none;
  if (fs::is_directory(path, none)) {
    return is_file(fs::path(path) / kModelFile) ? of_run(path) : of_folder(path);
  }
  const std::string ending = lower(fs::path(path).extension().string());
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
  if (ending == ".txt" || holds_text_lines(path)) {
    return of_texts(path, read_text_lines(path));
  }
  if (is_table_name(path)) return of_table(path);
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
