// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/folder.h"
#include "commands/data_commands.h"
#include "config/named_data.h"
#include "config/options.h"
#include "report/count_progress.h"
#include "report/json.h"
#include "tasks/options.h"
#include "tasks/task.h"

namespace linnet::command {
namespace {

struct InfoOptions {
  GivenOptions given;
  std::string path;
  bool json = false;
  std::string target = {};
  DataSettings reading = {};
};

TaskSurvey survey_of(const InfoOptions& options) {
  DataSettings settings = options.reading;
  if (!options.target.empty()) {
    settings.given.get_if<SettingTable>()->push_back({"target", {options.target}});
  }
  std::optional<std::filesystem::path> place = options.path;
  if (!is_file(options.path)) place = datasets::find(options.path, data_places());
  const Task* found = place ? task_of_files(*place, settings).task : nullptr;
  const Task& task = found != nullptr ? *found : *task_of_arrays();
  check_settings(task, settings, options.path);
  if (place) {
    CountProgress progress("reading", "files");
    return task.survey(*place, settings, [&](std::int64_t done, std::int64_t files) {
      progress.update(done, files);
    });
  }
  LoadedData data = load_data(options.path, 0);
  print_notes(data.note);
  return shown_survey(survey_dataset(data.splits), options.path);
}

int info(const InfoOptions& options) {
  TaskSurvey survey = survey_of(options);
  if (options.json) {
    survey.json["path"] = options.path;
    print_json(survey.json);
  } else {
    print_out(survey.text);
  }
  return survey.all_usable ? kSuccess : kUserError;
}

}  // namespace

void add_data_info(CLI::App& data, Action& action) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command =
      data.add_subcommand("info", "Describes a folder of data and reports bad files");
  command
      ->add_option("PATH", options->path,
                   "A folder of IDX files, CIFAR batches, .npy arrays, reviews, X-rays or images, "
                   "a table (.csv, .tsv; also .gz, .xz), or a name")
      ->required();
  command->add_flag("--json", options->json, "Print one JSON object");
  command->add_option("--target", options->target,
                      "Column of a table with which the others are correlated, by name or number "
                      "from 1");
  {
    const OptionGroup group(*command, "Reading of tables");
    add_flags(*command, flags_of<TableOptions>(), options->reading.given);
  }
  set_most_used(*command, {"--target", "--separator", "--type", "--sheet", "--json"});
  command->footer(
      "Reads every file; exits with 2 if one cannot be used.\n"
      "Example: linnet data info path/to/mnist --json");
  act(*command, options, action, info);
}

}  // namespace linnet::command
