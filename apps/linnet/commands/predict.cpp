// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/model.h>
#include <linnet/samples.h>
#include <linnet/tables.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/files.h"
#include "base/folder.h"
#include "commands/commands.h"
#include "commands/forecast.h"
#include "config/device.h"
#include "config/given.h"
#include "config/images.h"
#include "config/model_rows.h"
#include "config/options.h"
#include "config/views.h"
#include "datasets/image_folder.h"
#include "model/output_form.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/output_name.h"
#include "report/predictions.h"
#include "report/saved_run.h"
#include "tasks/task.h"

namespace linnet::command {
namespace {

struct PredictOptions {
  GivenOptions given;
  std::string model;
  std::vector<std::string> inputs;
  std::string output;
  std::string text;
  std::string sheet;
  Setting images = {SettingTable()};  ///< fields of image_flags()
  std::int64_t resize = 0;
  DeviceOptions on;
  std::int64_t batch = 256;
  std::optional<std::string> views;
  int threads = 0;
  bool json = false;
  bool safe = false;
  double interval = 0;
};

/// Said where a model file does not name the loss of its training.
std::string assumption(const Model& model) {
  switch (model.answers()) {
    case Answers::classes:
      return "its outputs are read as logits of one class of several (softmax)";
    case Answers::labels: return "its outputs are read as probabilities of independent labels";
    case Answers::scores:
    case Answers::values: break;
  }
  return "its outputs are printed unchanged";
}

/// `linnet predict model.safetensors x.npy --output x.npy` is a slip, and would cost the file.
void require_other_file(const PredictOptions& options, const SavedRun& run) {
  std::vector<std::string> read = options.inputs;
  read.push_back(run.model.string());
  for (const std::string& path : read) {
    std::error_code none;
    require(!std::filesystem::equivalent(options.output, path, none),
            "--output '{}' would overwrite an input file; name another one", options.output);
  }
}

/// Returns whether an argument of a text model is a text: no file has its name, and none is meant.
bool is_literal(const std::string& input) {
  std::error_code none;
  const auto type = std::filesystem::symlink_status(input, none).type();
  if (type != std::filesystem::file_type::not_found && type != std::filesystem::file_type::none) {
    return false;
  }
  if (input.find(' ') != std::string::npos) return true;
  return input.find('/') == std::string::npos && !std::filesystem::path(input).has_extension();
}

/// Each line of standard input is a text.
void read_lines(std::vector<std::string>& texts) {
  for (std::string line; std::getline(std::cin, line);) {
    if (line.ends_with('\r')) line.pop_back();
    texts.push_back(std::move(line));
  }
}

/// Refuses options that do nothing for these inputs.
void check_inputs(const PredictOptions& options, const Task& task) {
  const auto none_is = [&](auto is) { return std::ranges::none_of(options.inputs, is); };
  const std::string what = fmt::format("'{}' takes {}", options.model, task.takes());
  const bool tables = task.reads(TaskFiles::tables);
  if (!task.reads(TaskFiles::images)) {
    options.given.refuse({"--resize"}, "models of images", what);
  }
  std::error_code none;
  const auto is_image = [&](const std::string& path) {
    return is_image_name(path) || std::filesystem::is_directory(path, none);
  };
  if (none_is(is_image)) options.given.refuse({"--resize"}, "image files", "no input is one");
  if (!task.reads(TaskFiles::texts)) options.given.refuse({"--text"}, "models of texts", what);
  if (!tables) options.given.refuse({"--sheet"}, "spreadsheets", what);
  if (none_is(is_table_name))
    options.given.refuse({"--text", "--sheet"}, "tables", "no input is one");
}

/// The words of a text model are read where something else than an array of ids is
/// predicted.
Samples read_inputs(const PredictOptions& options, const Model& model, const SavedRun& run) {
  const bool arrays = std::ranges::all_of(options.inputs, [](const std::string& path) {
    return path.ends_with(".npy");
  });
  const Task& task = task_of(model, !arrays);
  const bool texts = task.reads(TaskFiles::texts);
  check_inputs(options, task);
  DatasetOptions images{.on_bad_image = OnBadImage::skip};
  read_images(options.images, images);
  ReadOptions read{.threads = options.threads,
                   .shorter_side = options.resize,
                   .sheet = options.sheet,
                   .on_bad_image = images.on_bad_image};
  std::vector<std::filesystem::path> paths;
  for (const std::string& input : options.inputs) {
    if (texts && input == "-") {
      read_lines(read.texts);
    } else if (texts && is_literal(input)) {
      read.texts.push_back(input);
    } else {
      paths.emplace_back(input);
    }
  }
  if (texts) {
    read.vocabulary = run.words();
    read.text_column = options.text.empty() ? run.argument("--text") : options.text;
  }
  return read_samples(paths, model, read);
}

/// Says which files were left out, below the predictions of the others.
void print_bad_files(const std::vector<std::string>& bad) {
  constexpr std::size_t kShown = 20;
  for (std::size_t i = 0; i < std::min(kShown, bad.size()); ++i) {
    print_note("left out: {}", bad[i]);
  }
  if (bad.size() > kShown) {
    print_note("and {} more are left out", bad.size() - kShown);
  }
}

/// Returns (N, outputs, 3): each value with the ends of its interval.
Tensor with_intervals(const Tensor& values, const std::vector<double>& half_widths) {
  const Tensor wide = values.to(DType::f64);
  const std::span<const double> all = wide.as<double>();
  std::vector<double> ends;
  ends.reserve(3 * all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double half = half_widths[i % half_widths.size()];
    ends.insert(ends.end(), {all[i], all[i] - half, all[i] + half});
  }
  std::vector<std::int64_t> dims(values.shape().dims().begin(), values.shape().dims().end());
  dims.push_back(3);
  return {std::move(ends), Shape(dims)};
}

int predict(const PredictOptions& options) {
  require(!options.given.has("--interval") || (options.interval > 0 && options.interval < 1),
          "--interval is a probability between 0 and 1, such as 0.9; got {:g}", options.interval);
  auto [run, on, model, task] = load_run(options.model, options.on, options.threads, options.given);
  if (!options.output.empty()) require_other_file(options, run);
  if (task.answers_tables()) {
    options.given.refuse({"--resize", "--text", "--batch", "--tta"}, "models of images and texts",
                         fmt::format("'{}' forecasts a series", options.model));
    require_extension(options.output, {".csv"});
    return print_forecast(task, model,
                          {.tables = options.inputs,
                           .sheet = options.sheet,
                           .output = options.output,
                           .json = options.json,
                           .safe = options.safe,
                           .interval = options.interval});
  }
  model = with_views(std::move(model), options.views);
  require_extension(options.output, {".csv", ".npy"});
  Shown shown = shown_of(model);
  shown.safe = options.safe;
  if (options.given.has("--interval")) show_intervals(shown, model, options.interval);
  require(!options.safe || is_csv_name(options.output),
          "--spreadsheet is for tables of predictions; name one with --output FILE.csv");
  const Samples inputs = read_inputs(options, model, run);
  const std::int64_t samples = inputs.data.size();
  if (samples == 0 && !inputs.bad_files.empty()) fail<DataError>("{}", inputs.bad_files[0]);
  require(samples > 0, "'{}' has no samples", options.inputs.front());
  for (const std::string& note : inputs.data.info().notes) {
    print_note("{}", note);
  }
  if (model.training_record().loss.empty()) {
    print_note("'{}' does not name the loss of its training: {}", run.model.string(),
               assumption(model));
  }
  const bool squashed = model.answers() == Answers::classes || model.answers() == Answers::labels;
  const Tensor predicted =
      predict_in_form(model, inputs.data, options.batch,
                      squashed ? probability_form(model.state()) : OutputForm::plain);
  const std::span<const float> outputs = predicted.as<float>();
  const std::size_t width = outputs.size() / static_cast<std::size_t>(samples);
  const auto wrong =
      std::ranges::find_if(outputs, [](float value) { return !std::isfinite(value); });
  if (wrong != outputs.end()) {
    fail("the outputs for '{}' are not finite: its values or the weights are NaN, infinite or huge",
         inputs.names[static_cast<std::size_t>(wrong - outputs.begin()) / width]);
  }
  if (is_csv_name(options.output)) {
    write_file_atomically(options.output, predictions_csv(model, shown, inputs.names, outputs));
  } else if (!options.output.empty()) {
    const Tensor values = with_offsets(predicted, shown.offsets);
    write_npy(options.output,
              shown.half_widths.empty() ? values : with_intervals(values, shown.half_widths));
  }
  std::string text;
  Json json = Json::array();
  const bool prints = options.json || options.output.empty();
  for (std::size_t i = 0; prints && i < inputs.names.size(); ++i) {
    const std::span<const float> row = outputs.subspan(i * width, width);
    if (options.json) {
      json.push_back({{"input", inputs.names[i]}});
      json.back().update(answer_json(shown, row));
    } else {
      text += line_text(shown, inputs.names[i], row);
    }
  }
  if (options.json) {
    Json all{{"model", options.model}};
    add_device(all, model, on);
    const std::string& loss = model.training_record().loss;
    all["loss"] = loss.empty() ? Json(nullptr) : Json(loss);
    if (!shown.half_widths.empty()) all["interval"] = options.interval;
    if (shown.threshold) all["threshold"] = *shown.threshold;
    if (!inputs.data.info().notes.empty()) all["notes"] = inputs.data.info().notes;
    all["predictions"] = std::move(json);
    if (!inputs.bad_files.empty()) all["bad_files"] = inputs.bad_files;
    print_json(all);
  } else if (options.output.empty()) {
    print_out(text);
  } else {
    print_note("{} written to '{}'", counted(inputs.names.size(), "prediction"), options.output);
  }
  print_bad_files(inputs.bad_files);
  return inputs.bad_files.empty() || options.given.has("--on-bad-image") ? kSuccess : kUserError;
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
                   "Images, folders of them, IDX files or .npy arrays; for text models: texts,\n"
                   "\"in quotes\", as files, folders of *.txt, tables, or - for lines of standard\n"
                   "input; for models of a table: tables of rows;\n"
                   "for models of series: a table of the last rows, which the forecast follows")
      ->required();
  command->add_option(
      "-o,--output", o->output,
      "Write all outputs (probabilities if the loss defines them) to this file: "
      "FILE.csv with\n"
      "names, any other as .npy (N, outputs); of a model of series the forecast, as "
      "CSV");
  command->add_option(
      "--interval", o->interval,
      "Print the ends of an interval beside each value, in which the true value lies with\n"
      "this probability, e.g. 0.9; it follows from the errors on the validation set");
  command->add_flag(
      "--spreadsheet", o->safe,
      "In FILE.csv, put a ' before texts that begin with =, +, - or @, which a "
      "spreadsheet\nwould run as formulas; without it they stay as the input has them");
  command
      ->add_option("--resize", o->resize,
                   "Pixels of the shorter side of image files before the centre crop, e.g. 256 for "
                   "ImageNet; if not given, image files are resized to the model's size")
      ->check(at_least(1, 1 << 14));
  command->add_option(
      "--text", o->text,
      "Column of the texts in tables, for text models; that of the training if not\n"
      "given");
  add_sheet_option(*command, o->sheet);
  Description images = image_flags({"on_bad_image"});
  images.fields.front().flag_help =
      "What follows when an image file cannot be read: stop, or skip to leave it out and\n"
      "end with status 0; if not given, the others are predicted and the status is 2";
  add_flags(*command, images, o->images);
  command->add_option("--batch", o->batch, "Samples in a batch")->check(at_least(1));
  add_views_option(*command, o->views);
  add_device_options(*command, o->on);
  add_threads_option(*command, o->threads);
  command->add_flag("--json", o->json, "Print one JSON object");
  set_most_used(*command, {"--output", "--interval", "--text", "--batch", "--json"});
  command->footer(
      "A model of independent labels (binary cross-entropy) prints one line per label, a model of "
      "values its numbers.\n"
      "Images are read as those of the training: its size, channels, EXIF orientation and range of "
      "16-bit samples.\n"
      "Example: linnet predict runs/first photo.png --output out.npy\n"
      "Example: linnet predict runs/films \"a wonderful film\"");
  act(*command, o, action, predict);
}

}  // namespace linnet::command
