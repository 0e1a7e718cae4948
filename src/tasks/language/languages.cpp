// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/language_task.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "describe/nearest.h"
#include "model/language.h"
#include "tasks/language/language_report.h"
#include "tasks/language/prepare_language.h"
#include "tasks/language/read_language.h"
#include "tasks/options.h"
#include "tasks/registry.h"
#include "tasks/task_recipe.h"

namespace linnet {
namespace {

class Languages final : public Task {
 public:
  using Task::Task;

  std::string_view samples(const Dataset& /*train*/) const override { return "windows"; }
  std::string title(const std::string& /*job*/, const Dataset& train) const override {
    return fmt::format("Next character of {}: {}", train.info().name,
                       counted(train.classes().size(), "character"));
  }
  std::string_view is() const override { return "is read as a text to continue (--task language)"; }
  std::vector<TaskFlags> flags() const override {
    return {{.group = "Language models",
             .purpose = "language models (--task language)",
             .all = &flags_of<LanguageTaskOptions>()},
            {.all = &flags_of<TaskName>()}};
  }
  bool accepts(TaskSettings /*settings*/) const override { return false; }

  TaskClaim claims(const std::filesystem::path& /*path*/,
                   const DataSettings& settings) const override {
    const Setting* name = find(*settings.given.get_if<SettingTable>(), "task");
    const auto* text = name == nullptr ? nullptr : name->get_if<std::string>();
    return {text != nullptr && *text == kLanguageTask ? TaskClaim::surely : TaskClaim::none};
  }
  PreparedTask prepare(const std::filesystem::path& path,
                       const TaskFileOptions& options) const override;

  // Each step has its class: accuracy is that of the report.
  bool learns_classes() const override { return false; }
  std::optional<TaskReport> report(Model& model) const override {
    const bool test = data().test.size() > 0;
    const Dataset& held = test ? data().test : data().validation;
    if (held.size() == 0) return TaskReport();
    return report_language(model, &data().train, held, test ? "test" : "validation");
  }

  bool made(const Model& model) const override { return is_language_model(model); }
  std::string_view takes() const override { return "texts to continue (`linnet generate`)"; }
  Samples read(std::span<const std::filesystem::path> paths, const Model& model,
               const ReadOptions& options) const override {
    const bool arrays = std::ranges::all_of(paths, [](const std::filesystem::path& path) {
      return path.extension() == ".npy";
    });
    require(arrays,
            "the model predicts next characters: `linnet generate` continues a text, `linnet "
            "evaluate` measures the model on one");
    return Task::read(paths, model, options);
  }
  bool knows(const std::filesystem::path& /*path*/) const override { return true; }
  LabelledData load(const Model& model, const LabelledFiles& files) const override;
  std::optional<TaskReport> score(Model& model, const Dataset& data,
                                  const std::string& part) const override {
    return report_language(model, nullptr, data, part);
  }
};

PreparedTask Languages::prepare(const std::filesystem::path& path,
                                const TaskFileOptions& options) const {
  auto how = options.settings.read<LanguageTaskOptions>();
  how.seed = options.seed;
  std::vector<std::string> known;
  if (options.from != nullptr) {
    require(made(*options.from), "'{}' is not a language model; leave out --from",
            options.from_name);
    options.settings.refuse({"context", "layers", "width", "heads", "dropout"},
                            "new language models", "the model to start from has its own");
    known = options.from->class_names();
    how.context = options.from->network().input_shape()[0];
  }
  LanguageTask made = prepare_language(path, how, known);
  if (options.from != nullptr) take_smaller_steps(made.training);
  return {std::make_shared<const Languages>(std::move(made.data), std::move(made.notes)),
          options.from != nullptr ? options.from->network() : std::move(made.network),
          std::move(made.training)};
}

LabelledData Languages::load(const Model& model, const LabelledFiles& files) const {
  Corpus corpus = read_corpus(files.path);
  LabelledData loaded{.notes = std::move(corpus.notes)};
  const std::int64_t context = model.network().input_shape()[0];
  loaded.splits.test =
      language_windows(encode_known(Characters(model.class_names()), corpus.text, "text",
                                    loaded.notes),
                       context, context, {.name = corpus.name, .classes = model.class_names()});
  require<DataError>(loaded.splits.test.size() > 0,
                     "'{}' is too short for a window of {} characters and the next one",
                     corpus.name, context);
  return loaded;
}

}  // namespace

void register_language_task(Tasks& tasks) { tasks.add(std::make_unique<const Languages>()); }

}  // namespace linnet
