// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/series_transform.h>
#include <linnet/table_transform.h>
#include <linnet/text_task.h>

#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/folder.h"
#include "base/shell_word.h"
#include "datasets/load_dataset.h"
#include "datasets/texts.h"
#include "describe/nearest.h"
#include "nn/definition.h"
#include "tasks/options.h"
#include "tasks/read_arrays.h"
#include "tasks/registry.h"
#include "tasks/split_task.h"
#include "tasks/task_recipe.h"
#include "tasks/text/read_texts.h"

namespace linnet {
namespace {

bool holds_folder_of_texts(const std::filesystem::path& path) {
  std::error_code none;
  if (!std::filesystem::is_directory(path, none)) return false;
  try {
    return holds_texts(path);
  } catch (const DataError&) {  // a folder of something else
    return false;
  }
}

class Texts final : public Task {
 public:
  using Task::Task;

  std::string_view samples(const Dataset& /*train*/) const override { return "texts"; }
  std::string title(const std::string& /*job*/, const Dataset& train) const override {
    return fmt::format("Texts of {}{}", train.info().name, classes_text(train));
  }
  std::string_view is() const override { return "holds texts"; }
  std::vector<TaskFlags> flags() const override {
    return {{.group = "Data and run",
             .purpose = "tables of texts",
             .all = &flags_of<TextColumns>()},
            {.all = &flags_of<TextColumns>()},
            {.all = &flags_of<TextTaskOptions>()}};
  }
  bool accepts(TaskSettings settings) const override { return settings != TaskSettings::images; }

  TaskClaim claims(const std::filesystem::path& path, const DataSettings& settings) const override {
    const bool lines =
        !settings.has({"target"}) && (path.extension() == ".txt" || holds_text_lines(path));
    const bool file = is_file(path) && (settings.has({"text"}) || lines);
    return {file || holds_folder_of_texts(path) ? TaskClaim::surely : TaskClaim::none};
  }
  PreparedTask prepare(const std::filesystem::path& path,
                       const TaskFileOptions& options) const override;

  TaskPage page(const std::filesystem::path& path) const override;
  TaskSurvey survey(const std::filesystem::path& path, const DataSettings& settings,
                    const SurveyProgress& progress) const override;

  bool made(const Model& model) const override {
    return model.table().empty() && model.series().empty() &&
           model.network().definition().inputs[0].dtype == DType::i32;
  }
  std::string_view takes() const override { return "texts"; }
  bool reads(TaskFiles files) const override { return files != TaskFiles::images; }
  Samples read(std::span<const std::filesystem::path> paths, const Model& model,
               const ReadOptions& options) const override {
    TextCollector texts(model, options);
    for (const auto& path : paths) in_memory_of(path, [&] { texts.add(path); });
    for (const std::string& text : options.texts) texts.add_literal(text);
    return texts.finish();
  }
  bool knows(const std::filesystem::path& path) const override {
    return is_file(path) || holds_folder_of_texts(path);
  }
  LabelledData load(const Model& model, const LabelledFiles& files) const override {
    return {.splits =
                labelled_texts(files.path, files.columns, files.words, model.sample_shape()[0])};
  }
};

PreparedTask Texts::prepare(const std::filesystem::path& path,
                            const TaskFileOptions& options) const {
  auto how = options.settings.read<TextTaskOptions>();
  how.seed = options.seed;
  const bool table = is_file(path) && options.settings.has({"text"});
  if (!table) {
    options.settings.refuse({"text", "target", "sheet"}, "tables",
                            sentence_on(*this, path.string()));
  }
  const Setting* target = find(*options.settings.given.get_if<SettingTable>(), "target");
  const auto* several = target == nullptr ? nullptr : target->get_if<Setting::List>();
  require(!table || (target != nullptr && (several == nullptr || several->size() == 1)),
          "--text names the column of the texts; --target has to name that of the labels");
  how.columns = options.settings.read<TextColumns>();
  if (options.from == nullptr) {
    TextTask made = text_task(path, how);
    return {std::make_shared<const Texts>(std::move(made.data), std::move(made.notes)),
            std::move(made.network), std::move(made.training)};
  }
  const Model& from = *options.from;
  require(made(from), "'{}' holds texts, but the model to start from takes samples of {}",
          path.string(), to_string(from.sample_shape()));
  // The samples as the model's training read its own.
  Splits all = labelled_texts(path, how.columns, options.words(), from.sample_shape()[0]);
  if (is_file(path)) std::swap(all.train, all.test);
  Splits data = split_for_task(std::move(all), {.validation = how.validation,
                                                .test = how.test,
                                                .stratify = how.stratify,
                                                .seed = how.seed});
  TrainingOptions training = text_training(data.train.size());
  take_smaller_steps(training);
  training.seed = options.seed;
  std::vector<std::string> notes{task_note(data, "from the model's words", "texts")};
  return {std::make_shared<const Texts>(std::move(data), std::move(notes)), from.network(),
          std::move(training)};
}

TaskPage Texts::page(const std::filesystem::path& path) const {
  constexpr std::size_t kMostNamed = 8;  // of classes
  const TextParts parts = is_file(path) ? TextParts{.name = {}, .train = read_text_lines(path)}
                                        : read_text_folder(find_dataset(path).folder);
  const std::vector<std::string> classes = text_classes(label_names(parts.train));
  const std::size_t validation = parts.validation.texts.size();
  const std::size_t test = parts.test.texts.size();
  TaskPage page{.found =
                    fmt::format("{} holds {} of {}{}: {}.", path.string(),
                                counted(parts.train.texts.size() + validation + test, "text"),
                                counted(classes.size(), "class"), held_out_text(validation, test),
                                some_of(classes, kMostNamed))};
  page.commands.emplace_back("linnet train " + shell_word(path.string()), "learns the classes");
  page.add_use("\"a new text\"", "classes of new texts");
  return page;
}

TaskSurvey Texts::survey(const std::filesystem::path& path, const DataSettings& settings,
                         const SurveyProgress& progress) const {
  settings.refuse({"target", "sheet"}, "tables", sentence_on(*this, path.string()));
  if (!is_file(path)) return Task::survey(path, settings, progress);
  const LabelledTexts texts = read_text_lines(path);
  const TextOptions how;
  Survey survey =
      survey_dataset({.train = encode_texts(texts, label_names(texts),
                                            Vocabulary::from_texts(texts.texts, how.ids),
                                            how.length, path.filename().string())});
  survey.format = to_string(DataKind::texts);
  if (!texts.note.empty()) survey.notes.push_back(texts.note);
  return shown_survey(survey, path.string());
}

}  // namespace

void register_text_task(Tasks& tasks) { tasks.add(std::make_unique<const Texts>()); }

}  // namespace linnet
