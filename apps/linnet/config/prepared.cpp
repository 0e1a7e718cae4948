// SPDX-License-Identifier: Apache-2.0
#include "config/prepared.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/check.h"
#include "base/folder.h"
#include "config/optimizer.h"
#include "data/targets.h"
#include "datasets/load_dataset.h"
#include "datasets/texts.h"
#include "describe/nearest.h"
#include "model/optimizers.h"
#include "nn/definition.h"
#include "report/saved_run.h"
#include "tasks/image/labelled_images.h"
#include "tasks/split_task.h"
#include "tasks/text/labelled_texts.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

constexpr double kTransferRate = 0.25;  // of the learning rate of a training from scratch

bool is_text_file(const std::string& path) { return fs::path(path).extension() == ".txt"; }

std::string name_of(const fs::path& path) {
  if (!is_file(path)) return folder_name(path);
  fs::path name = path.filename();
  while (name.has_extension()) name = name.stem();
  return name.string();
}

/// Trained weights take smaller steps.
void soften(TrainingOptions& training) { learning_rate_of(training.optimizer) *= kTransferRate; }

/// The samples as the model's training read its own.
std::shared_ptr<const Task> texts_for(const std::string& path, const PreparedSettings& s,
                                      const SavedRun& run, const Model& model) {
  Splits all = labelled_texts(path, s.columns, run.words(), model.sample_shape()[0]);
  if (is_file(path)) std::swap(all.train, all.test);
  Splits data = split_for_task(std::move(all), {.validation = s.validation,
                                                .test = s.test,
                                                .stratify = s.stratify,
                                                .seed = s.seed});
  std::vector<std::string> notes{task_note(data, "from the model's words", "texts")};
  return task_of_texts(std::move(data), std::move(notes));
}

Job text_job(const std::string& path, const PreparedSettings& s) {
  Job job{.name = name_of(path), .network = Network({1}, {})};
  if (s.from.empty()) {
    TextTask task = text_task(path, {.columns = s.columns,
                                     .validation = s.validation,
                                     .test = s.test,
                                     .stratify = s.stratify,
                                     .seed = s.seed});
    job.network = std::move(task.network);
    job.training = std::move(task.training);
    job.task = task_of_texts(std::move(task.data), std::move(task.notes));
  } else {
    const SavedRun run = find_run(s.from);
    const Model model = Model::load(run.model, {.device = "cpu", .threads = 1});
    require(model.network().definition().inputs[0].dtype == DType::i32,
            "'{}' holds texts, but the model '{}' takes samples of {}", path, s.from,
            to_string(model.sample_shape()));
    job.task = texts_for(path, s, run, model);
    job.training = text_training(job.task->data().train.size());
    job.training.seed = s.seed;
    soften(job.training);
  }
  return job;
}

Job image_job(const std::string& path, const PreparedSettings& s) {
  Job job{.name = name_of(path), .network = Network({1}, {})};
  ImageTaskOptions options{.validation = s.validation,
                           .test = s.test,
                           .stratify = s.stratify,
                           .seed = s.seed,
                           .files = s.files};
  if (!s.from.empty()) {
    const Model model = Model::load(find_run(s.from).model, {.device = "cpu", .threads = 1});
    options.files = datasets::options_for(model, path, data_places(), options.files);
  }
  ImageTask task = image_task(path, options);
  if (s.from.empty()) job.network = std::move(task.network);
  job.training = std::move(task.training);
  if (!s.from.empty()) soften(job.training);
  job.task = task_of_images(std::move(task.data), std::move(task.notes));
  return job;
}

std::string quoted_names(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 10;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) {
    shown.push_back(fmt::format("'{}'", names[i]));
  }
  if (names.size() > kShown) shown.push_back(fmt::format("{} more", names.size() - kShown));
  return fmt::format("{}", fmt::join(shown, ", "));
}

bool are_numbers(const std::vector<std::string>& names) {
  return names == numbered_names(std::ssize(names));
}

/// A network with more outputs than the data have classes would learn that some never come. Of
/// classes that are numbers there may be more than these data show.
void require_outputs_for(const Model& model, const Dataset& data) {
  if (model.network().output_names().size() != 1 || are_numbers(data.classes())) return;
  const Shape outputs = model.network().output_shape();
  const std::int64_t count = outputs.rank() == 1 ? outputs[0] : 1;
  require(
      count <= std::max<std::int64_t>(std::ssize(data.classes()), 1),
      "the network has {} outputs, the data set '{}' {} classes: give its last layer as many, or "
      "train it so with --force",
      count, data.info().name, data.classes().size());
}

}  // namespace

bool is_prepared(const std::string& path) {
  std::error_code none;
  if (fs::is_directory(path, none)) return true;
  return is_file(path) && (is_text_file(path) || holds_text_lines(path));
}

bool is_image_folder(const std::string& path) {
  std::error_code none;
  return fs::is_directory(path, none) && holds_dataset(path) &&
         find_dataset(path).kind == DataKind::image_table;
}

Job prepared_job(const std::string& path, const PreparedSettings& settings) {
  std::error_code none;
  const bool folder = fs::is_directory(path, none);
  const bool texts = !folder || holds_texts(path);
  if (!texts) {
    const DataKind kind = find_dataset(path).kind;
    require(kind != DataKind::npy,
            "'{}' holds arrays, whose network a configuration describes: linnet train FILE.toml "
            "with [data] path",
            path);
  }
  Job job = texts ? text_job(path, settings) : image_job(path, settings);
  job.data = path;
  return job;
}

Splits match_classes(const Job& job, Model& model, Splits splits, bool force) {
  const std::vector<std::string>& classes = splits.train.classes();
  if (classes.empty() || labels_of(splits.train).empty()) return splits;
  if (job.from.empty()) {
    if (!force && job.for_images == nullptr) require_outputs_for(model, splits.train);
    return splits;
  }
  const std::vector<std::string>& names = model.class_names();
  if (force) {
    model.set_class_names({});
    return splits;
  }
  const auto known = [&](const auto& name) { return std::ranges::count(names, name) > 0; };
  require(
      names.empty() || are_numbers(classes) || std::ranges::all_of(classes, known),
      "the model '{}' knows the classes {}; the data set '{}' has {}: --replace-head {} gives the "
      "model a new last layer, --force trains its own and takes the classes by number",
      job.from, quoted_names(names), splits.train.info().name, quoted_names(classes),
      classes.size());
  const Shape outputs = model.network().output_shape();
  const std::int64_t count = outputs.rank() > 0 ? outputs[-1] : 1;
  require(
      count == std::ssize(classes) || (count == 1 && classes.size() == 2),
      "the model '{}' has {} outputs, the data set '{}' {} classes: --replace-head {} gives the "
      "model a last layer of {} outputs, --force trains its own",
      job.from, count, splits.train.info().name, classes.size(), classes.size(), classes.size());
  for (Dataset* part : {&splits.train, &splits.validation, &splits.test}) {
    if (part->size() > 0) *part = with_class_names(std::move(*part), names);
  }
  return splits;
}

}  // namespace linnet::command
