// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/layers.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "tasks/options.h"
#include "tasks/registry.h"
#include "tasks/split_task.h"
#include "tasks/task_recipe.h"

namespace linnet {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

/// Settings of this task alone.
struct NumberSettings {
  std::int64_t units = 8;
};

}  // namespace

template <>
inline constexpr bool kIsDescribed<NumberSettings> = true;
template <>
Description described<NumberSettings>() {
  return {"numbers",
          "NumberSettings",
          {field<&NumberSettings::units>("units").at_least(1).flag("--units", "Units of a layer")},
          nullptr};
}

namespace {

/// Lines of a class and numbers: "low 0.5 1.5".
Dataset read_lines(const std::filesystem::path& path) {
  std::istringstream lines(read_text(path, kMostBytes));
  std::vector<float> values;
  std::vector<std::int32_t> labels;
  std::map<std::string, std::int32_t> classes{{"high", 0}, {"low", 1}};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name;
    fields >> name;
    require<DataError>(classes.contains(name), "'{}': expected high or low; got '{}'",
                       path.string(), name);
    labels.push_back(classes.at(name));
    for (float value = 0; fields >> value;) values.push_back(value);
  }
  const auto count = std::ssize(labels);
  require<DataError>(count > 0, "'{}' is empty", path.string());
  const std::int64_t width = std::ssize(values) / count;
  return Dataset({{"line", Tensor(std::move(values), {count, width})}},
                 {{"class", Tensor(std::move(labels), {count})}},
                 {.name = path.filename().string(), .classes = {"high", "low"}});
}

class Numbers final : public Task {
 public:
  using Task::Task;

  std::string_view samples(const Dataset& /*train*/) const override { return "lines"; }
  std::string_view is() const override { return "holds numbers"; }
  std::vector<TaskFlags> flags() const override {
    return {{.group = "Numbers", .purpose = "numbers", .all = &flags_of<NumberSettings>()}};
  }
  bool accepts(TaskSettings settings) const override { return settings != TaskSettings::images; }

  TaskClaim claims(const std::filesystem::path& path,
                   const DataSettings& /*settings*/) const override {
    return {knows(path) ? TaskClaim::surely : TaskClaim::none};
  }
  PreparedTask prepare(const std::filesystem::path& path,
                       const TaskFileOptions& options) const override {
    const auto settings = options.settings.read<NumberSettings>();
    Splits data = split_for_task({.train = read_lines(path)}, {.seed = options.seed});
    std::vector<std::string> notes{task_note(data, "one of 2 classes", "lines")};
    FunctionalNetwork network;
    const Expression line = network.input("line", data.train.inputs()[0].record());
    PreparedTask made{.network = network.build({{"output", line | Dense{.units = settings.units} |
                                                               ReLU{} | Dense{.units = 2}}}),
                      .training = training_by({8, 20, 20}, 1e-2)};
    made.task = std::make_shared<const Numbers>(std::move(data), std::move(notes));
    return made;
  }
  TaskSurvey survey(const std::filesystem::path& path, const DataSettings& /*settings*/,
                    const SurveyProgress& /*progress*/) const override {
    return shown_survey(survey_dataset(Splits{.train = read_lines(path)}), path.string());
  }

  bool made(const Model& model) const override {
    return model.network().input_names() == std::vector<std::string>{"line"};
  }
  std::string_view takes() const override { return "numbers of a line"; }
  Samples read(std::span<const std::filesystem::path> paths, const Model& /*model*/,
               const ReadOptions& /*options*/) const override {
    Samples samples{.data = read_lines(paths[0])};
    for (std::int64_t i = 0; i < samples.data.size(); ++i) {
      samples.names.push_back(fmt::format("{}:{}", paths[0].string(), i + 1));
    }
    return samples;
  }
  bool knows(const std::filesystem::path& path) const override {
    return path.extension() == ".numbers";
  }
  LabelledData load(const Model& /*model*/, const LabelledFiles& files) const override {
    return {.splits = {.test = read_lines(files.path)}};
  }
  void describe(const Model& /*model*/, nlohmann::ordered_json& json) const override {
    json["format"] = "lines of numbers";
  }
};

}  // namespace

void register_numbers_task(Tasks& tasks) { tasks.add(std::make_unique<const Numbers>()); }

}  // namespace linnet
