// SPDX-License-Identifier: Apache-2.0
#include "config/table.h"

#include <linnet/table_task.h>

#include <filesystem>
#include <utility>

#include "base/check.h"
#include "config/options.h"
#include "describe/nearest.h"

namespace linnet::command {
namespace {

const std::vector<std::string>& type_names() {
  static const std::vector<std::string> names = [] {
    const std::vector<std::string_view> all = column_type_names();
    return std::vector<std::string>(all.begin(), all.end());
  }();
  return names;
}

const std::vector<std::string>& task_names() {
  static const std::vector<std::string> names{"automatic", "classification", "regression"};
  return names;
}

const std::vector<std::string>& missing_names() {
  static const std::vector<std::string> names{"mean", "median", "drop"};
  return names;
}

CLI::Validator share() { return CLI::Range(0.0, 0.99).description("share of the rows"); }

}  // namespace

void add_table_reading(CLI::App& command, TableReading& reading) {
  command.add_option("--separator", reading.separator, "Separator of a table's fields; else found")
      ->check(one_of({",", ";", "|", "tab"}));
  command.add_option("--decimal", reading.decimal, "Decimal separator of a table; else found")
      ->check(one_of({".", ","}));
  CLI::Option* header = command.add_flag_callback(
      "--header", [&reading] { reading.header = true; },
      "The first record of a table names the columns; else found");
  command
      .add_flag_callback(
          "--no-header", [&reading] { reading.header = false; },
          "The first record of a table is a row")
      ->excludes(header);
  command
      .add_option("--type", reading.types,
                  "Type of a table's column, COLUMN=TYPE, by name or number from 1: number,\n"
                  "integer, category, boolean, date_time, constant or identifier; may be given\n"
                  "several times")
      ->allow_extra_args(false);
}

TableOptions table_options(const TableReading& reading) {
  TableOptions options;
  if (!reading.separator.empty()) {
    options.separator = reading.separator == "tab" ? '\t' : reading.separator[0];
  }
  if (!reading.decimal.empty()) options.decimal = reading.decimal[0];
  options.header = reading.header;
  for (const std::string& given : reading.types) {
    const std::size_t at = given.rfind('=');
    require(at != std::string::npos && at > 0, "--type is COLUMN=TYPE; got '{}'", given);
    const std::string name = given.substr(at + 1);
    const auto found = std::ranges::find(type_names(), name);
    require(found != type_names().end(), "--type {}: expected {}; got '{}'{}", given.substr(0, at),
            listed(type_names()), name, did_you_mean(name, type_names()));
    options.types[given.substr(0, at)] =
        static_cast<ColumnType>(std::distance(type_names().begin(), found));
  }
  return options;
}

bool TableSettings::any() const {
  return !target.empty() || !task.empty() || !ignore.empty() || !missing.empty() || validation ||
         test || !split.empty() || !reading.separator.empty() || !reading.decimal.empty() ||
         reading.header || !reading.types.empty();
}

void add_table_settings(CLI::App& command, TableSettings& settings) {
  command.add_option("--target", settings.target,
                     "Column that a model of a table predicts, by name or number from 1");
  command
      .add_option("--task", settings.task,
                  "What is learned of the target; automatic: classes of categories, values of\n"
                  "numbers")
      ->check(one_of(task_names()));
  command
      .add_option("--ignore", settings.ignore,
                  "Column of a table that is left out; may be given several times")
      ->allow_extra_args(false);
  command
      .add_option("--missing", settings.missing,
                  "What stands in for missing numbers of a table: mean (the default), median, or\n"
                  "drop, which leaves such rows out")
      ->check(one_of(missing_names()));
  command
      .add_option("--validation", settings.validation,
                  "Share of a table's rows that choose the epoch; 0.1 if not given")
      ->check(share());
  command
      .add_option("--test", settings.test,
                  "Share of a table's rows that measure the model; 0.2 if not given")
      ->check(share());
  command
      .add_option("--split", settings.split,
                  "How a table's rows are split: stratified (the same share of each class, the\n"
                  "default) or random")
      ->check(one_of({"stratified", "random"}));
  add_table_reading(command, settings.reading);
}

Job table_job(const std::string& file, const TableSettings& settings, std::uint64_t seed) {
  const Table table = read_table(file, table_options(settings.reading));
  if (settings.target.empty()) {
    std::vector<std::string> names;
    for (const TableColumn& column : table.columns()) names.push_back(column.name);
    constexpr std::size_t kMostListed = 30;
    const std::size_t count = names.size();
    if (count > kMostListed) names.resize(kMostListed);
    fail("--target names the column of '{}' that is predicted, one of {}{}", file, listed(names),
         count > kMostListed ? fmt::format(" and {} more", count - kMostListed) : "");
  }
  TableTaskOptions options{.target = settings.target, .seed = seed};
  if (!settings.task.empty()) {
    options.transform.target = static_cast<TableTarget>(index_of(task_names(), settings.task));
  }
  if (!settings.missing.empty()) {
    options.transform.missing =
        static_cast<MissingValues>(index_of(missing_names(), settings.missing));
  }
  options.transform.ignore = settings.ignore;
  options.validation = settings.validation.value_or(options.validation);
  options.test = settings.test.value_or(options.test);
  options.stratify = settings.split != "random";
  auto task = std::make_shared<const TableTask>(table_task(table, options));
  std::filesystem::path name = std::filesystem::path(file).filename();
  while (name.has_extension()) name = name.stem();
  Job job{.name = name.string(), .network = task->network};
  job.training = task->training;
  job.data = file;
  job.table = std::move(task);
  return job;
}

}  // namespace linnet::command
