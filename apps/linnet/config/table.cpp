// SPDX-License-Identifier: Apache-2.0
#include "config/table.h"

#include <linnet/table_task.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/check.h"
#include "config/layers.h"
#include "config/options.h"
#include "config/series.h"
#include "describe/nearest.h"
#include "report/saved_run.h"
#include "tasks/options.h"
#include "tasks/table/table_rows.h"

namespace linnet::command {
namespace {

using Names = std::vector<std::string>;

const Description& task_flags() {
  static const Description kAll = [] {
    Description all = description_of<TableTaskOptions>();
    all.fields = joined({all.fields, lifted<&TableTaskOptions::transform>(
                                         description_of<TableTransformOptions>().fields)});
    return by_flags(all);
  }();
  return kAll;
}

TableTaskOptions task_options(const DataSettings& settings, std::uint64_t seed) {
  TableTaskOptions options;
  settings.read(task_flags(), &options);
  options.seed = seed;
  options.fold = settings.fold;
  // A method without a column.
  if (const auto all = options.transform.column_scaling.extract(""); !all.empty()) {
    options.transform.scaling = all.mapped();
  }
  require(options.folds == 0 || !settings.has({"test"}),
          "--folds measures on each part in turn; leave out --test");
  require(!settings.has({"split"}) || (options.group.empty() && options.time.empty()),
          "--split says how rows are split at random; leave it out with --group and --time");
  return options;
}

void require_target(const Table& table, const DataSettings& settings) {
  if (settings.has({"target"})) return;
  Names names;
  for (const TableColumn& column : table.columns()) names.push_back(column.name);
  fail("--target names the column of '{}' that is predicted, one of {}", settings.file,
       listed(names));
}

/// What to do for a column of texts, which the network of a table does not read; "": there is none.
std::string note_on_sentences(const Table& table, const Names& targets) {
  for (std::size_t column = 0; column < table.columns().size(); ++column) {
    const std::string& name = table.columns()[column].name;
    if (std::ranges::count(targets, name) > 0 || !holds_sentences(table, column)) continue;
    return fmt::format("the column '{0}' holds texts: --text '{0}' learns from them instead", name);
  }
  return "";
}

}  // namespace

bool DataSettings::has(std::initializer_list<std::string_view> keys) const {
  return std::ranges::any_of(keys, [&](std::string_view key) {
    return given_value(given, key) != nullptr;
  });
}

void DataSettings::read(const Description& options, void* object) const {
  SettingTable arguments;
  SettingTable data;
  for (const SettingEntry& entry : *given.get_if<SettingTable>()) {
    if (options.find(entry.key) == nullptr) continue;
    (entry.value.place.line == 0 ? arguments : data).push_back(entry);
  }
  placed_in(configuration, [&] { options.read(object, {std::move(data)}, "[data]"); });
  options.read(object, {std::move(arguments)}, "");
}

const Description& table_reading() {
  static const Description kAll = by_flags(description_of<TableOptions>());
  return kAll;
}

bool holds_sentences(const Table& table, std::size_t column) {
  constexpr std::int64_t kRows = 50;
  constexpr std::ptrdiff_t kWords = 4;
  const ColumnType type = table.columns()[column].type;
  if (type != ColumnType::category && type != ColumnType::identifier) return false;
  const std::int64_t rows = std::min(kRows, table.rows());
  std::ptrdiff_t words = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    words += 1 + std::ranges::count(table.text(row, column), ' ');
  }
  return words >= kWords * rows;
}

TableOptions table_options(const DataSettings& settings) {
  TableOptions options;
  settings.read(table_reading(), &options);
  if (std::ranges::count(options.missing, "") > 0) options.missing_words.clear();
  require(!options.types.contains(""), "--type is COLUMN=TYPE; got a type without a column");
  return options;
}

std::vector<std::string> table_option_names() {
  std::vector<std::string> names = flag_names(task_flags());
  const std::vector<std::string> reading = flag_names(table_reading());
  names.insert(names.end(), reading.begin(), reading.end());
  return names;
}

void add_table_settings(CLI::App& command, Setting& given) {
  add_flags(command, task_flags(), given);
  add_flags(command, table_reading(), given);
}

void add_data(Section& data, DataSettings& settings) {
  settings.configuration = data.file();
  SettingTable& given = *settings.given.get_if<SettingTable>();
  for (const Description* options : {&task_flags(), &table_reading(), &series_flags()}) {
    for (SettingEntry& entry : data.settings(*options)) {
      if (find(given, entry.key) == nullptr) given.push_back(std::move(entry));
    }
  }
}

void describe_table(Job& job, const DataSettings& settings, std::uint64_t seed) {
  const Table table =
      settings.rows ? *settings.rows : read_table(settings.file, table_options(settings));
  TableTaskOptions options = task_options(settings, seed);
  std::optional<Model> from;
  if (!job.from.empty()) {
    from = Model::load(find_run(job.from).model, {.device = "cpu", .threads = 1});
    options.fitted = from->table();
  }
  if (options.fitted.empty()) {
    require_target(table, settings);
  } else {
    require(!settings.has({"scale", "ignore", "task"}),
            "the columns are transformed as those of '{}' were; leave out --scale, --ignore and "
            "--task",
            job.from);
  }
  const std::string sentences = note_on_sentences(table, options.target.names);
  TableTask made = [&] {
    try {
      return table_task(table, options);
    } catch (const DataError& error) {
      throw DataError(std::string(error.what()) + (sentences.empty() ? "" : "; " + sentences));
    }
  }();
  if (!sentences.empty() && options.fitted.empty()) made.notes.push_back("warning: " + sentences);
  job.network = from ? from->network() : made.network;
  job.training = made.training;
  for (OutputLoss& loss : job.training.output_losses) {
    loss.output = job.network.output_names().front();
  }
  job.data = settings.file;
  job.folds = options.folds;
  job.task = task_of_rows(std::move(made), table);
}

Job table_job(const DataSettings& settings, std::uint64_t seed, const std::string& from) {
  std::filesystem::path name = std::filesystem::path(settings.file).filename();
  while (name.has_extension()) name = name.stem();
  Job job{.name = name.string(), .network = Network({1}, {})};
  job.from = from;
  describe_table(job, settings, seed);
  return job;
}

}  // namespace linnet::command
