// SPDX-License-Identifier: Apache-2.0
#include "config/table.h"

#include <linnet/table_task.h>

#include <algorithm>
#include <filesystem>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"
#include "config/options.h"
#include "describe/nearest.h"
#include "report/saved_run.h"

namespace linnet::command {
namespace {

using Names = std::vector<std::string>;

/// An option of the command and a key of [data], described once.
template <class S>
struct Described {
  std::string name;  ///< as the option's; the key has _ for -
  std::string help;
  std::variant<std::string S::*, Names S::*, std::optional<double> S::*,
               std::optional<std::int64_t> S::*, std::optional<bool> S::*>
      member;
  Names choices = {};  ///< of a text; empty: any
};

template <class E>
Names texts(const std::vector<E>& names) {
  return {names.begin(), names.end()};
}

const Names& task_names() {
  static const Names names{"automatic", "classification", "regression", "labels"};
  return names;
}
const Names& split_names() {
  static const Names names{"stratified", "random"};
  return names;
}

constexpr double kMostShare = 0.99;

template <class S>
std::vector<Described<S>> described_reading() {
  return {
      {"separator",
       "Separator of a table's fields; else found",
       &S::separator,
       {",", ";", "|", "tab", "blank"}},
      {"decimal", "Decimal separator of a table; else found", &S::decimal, {".", ","}},
      {"thousands",
       "Separator of groups of three digits in a table's numbers; else found",
       &S::thousands,
       {".", ",", "'", "blank", "none"}},
      {"header", "The first record of a table names the columns; else found", &S::header},
      {"type",
       "Type of a table's column, COLUMN=TYPE, by name or number from 1: number,\n"
       "integer, category, boolean, date_time, constant or identifier; may be given\n"
       "several times",
       &S::type},
      {"missing-text",
       "Text that stands for a missing value of a table in every column, e.g. -999, beside the\n"
       "empty field, and NA, ? and the like among numbers, dates and truth values; may be\n"
       "given several times; \"\": the empty field alone",
       &S::missing_text},
      {"date-order",
       "Order of the parts of a table's dates, e.g. day_first for 31/03/2024; else found",
       &S::date_order, texts(date_order_names())},
      {"encoding", "Encoding of a table's file, e.g. cp1252, cp1251, utf-16 or gbk; else found",
       &S::encoding},
      {"comment",
       "First character of a table's lines that are comments, or none; else #, where the\n"
       "file begins with it",
       &S::comment},
      {"sheet", "Sheet of a spreadsheet (.xlsx), by name or number from 1; else the first",
       &S::sheet},
  };
}

std::vector<Described<TableSettings>> described_settings() {
  using S = TableSettings;
  std::vector<Described<S>> all{
      {"target",
       "Column that a model of a table predicts, by name or number from 1; given several\n"
       "times: several numbers, or several labels of 0 and 1",
       &S::target},
      {"task",
       "What is learned of the target; automatic: classes of categories, values of\n"
       "numbers, labels of several booleans",
       &S::task, task_names()},
      {"ignore", "Column of a table that is left out; may be given several times", &S::ignore},
      {"missing",
       "What stands in for missing values of a table: mean (the default), median,\n"
       "most_frequent, interpolate between the rows before and after, or drop, which\n"
       "leaves such rows out",
       &S::missing, texts(missing_values_names())},
      {"scale",
       "Scaling of a table's numbers: standard (the default), min_max, robust, quantile or\n"
       "log1p; COLUMN=METHOD for one column; may be given several times",
       &S::scale},
      {"validation",
       "Share of the samples that choose the epoch; 0.1 if not given, of a table, a folder\n"
       "or texts; else none",
       &S::validation},
      {"test",
       "Share of the samples that measure the model; 0.2 if not given, where there is no\n"
       "test set",
       &S::test},
      {"split",
       "How samples are split: stratified (the same share of each class, the\n"
       "default) or random",
       &S::split, split_names()},
      {"group", "Column of a table whose equal texts are never in two parts, e.g. a patient",
       &S::group},
      {"time",
       "Column of a table by which the earliest rows train and the latest measure; of series\n"
       "(--past) their time, none: rows follow each other at equal steps; if not given, the\n"
       "only column of dates",
       &S::time},
      {"folds",
       "Number of parts of a cross-validation of a table: each measures a model that the\n"
       "others trained; prints their scores, mean and std, and keeps no model",
       &S::folds},
  };
  for (Described<S>& setting : described_reading<S>()) all.push_back(std::move(setting));
  return all;
}

bool is_given(const std::string& text) { return !text.empty(); }
bool is_given(const Names& names) { return !names.empty(); }
template <class T>
bool is_given(const std::optional<T>& value) {
  return value.has_value();
}

void add(CLI::App& command, const std::string& flag, const std::string& help, std::string& to,
         const Names& choices) {
  CLI::Option* option = command.add_option(flag, to, help);
  if (!choices.empty()) option->check(one_of(choices));
}
void add(CLI::App& command, const std::string& flag, const std::string& help, Names& to,
         const Names& /*choices*/) {
  command.add_option(flag, to, help)->allow_extra_args(false);
}
void add(CLI::App& command, const std::string& flag, const std::string& help,
         std::optional<double>& to, const Names& /*choices*/) {
  command.add_option(flag, to, help)
      ->check(CLI::Range(0.0, kMostShare).description("share of the rows"));
}
void add(CLI::App& command, const std::string& flag, const std::string& help,
         std::optional<std::int64_t>& to, const Names& /*choices*/) {
  command.add_option(flag, to, help)->check(at_least(2));
}
void add(CLI::App& command, const std::string& flag, const std::string& help,
         std::optional<bool>& to, const Names& /*choices*/) {
  CLI::Option* yes = command.add_flag_callback(
      flag, [&to] { to = true; }, help);
  command
      .add_flag_callback(
          "--no-" + flag.substr(2), [&to] { to = false; }, "The first record of a table is a row")
      ->excludes(yes);
}

template <class S>
void add_all(CLI::App& command, S& settings, const std::vector<Described<S>>& all) {
  for (const Described<S>& one : all) {
    std::visit(
        [&](auto member) {
          add(command, "--" + one.name, one.help, settings.*member, one.choices);
        },
        one.member);
  }
}

/// A column may be a number.
std::string text_of(const toml::node& node, Section& data, const std::string& key,
                    std::string_view expected) {
  if (const auto number = node.is_integer() ? node.value<std::int64_t>() : std::nullopt) {
    return std::to_string(*number);
  }
  if (!node.is_string()) data.refuse_type(key, expected);
  return *node.value<std::string>();
}

void read(Section& data, const std::string& key, std::string& to, const Names& choices) {
  if (choices.empty()) {
    const toml::node* node = data.node(key);
    to = text_of(*node, data, key, "a string");
    if (to.empty()) data.refuse(key, fmt::format("'{}' in [data] is empty", key));
  } else {
    to = choices[data.choice(key, 0, choices)];
  }
}
/// "a", ["a", "b"], or { a = "x" } for "a=x".
void read(Section& data, const std::string& key, Names& to, const Names& /*choices*/) {
  constexpr std::string_view kExpected = "a string, an array of strings, or a table of strings";
  const toml::node* node = data.node(key);
  if (const toml::array* list = node->as_array()) {
    for (const toml::node& item : *list) to.push_back(text_of(item, data, key, kExpected));
  } else if (const toml::table* table = node->as_table()) {
    for (auto&& [column, value] : *table) {
      to.push_back(fmt::format("{}={}", column.str(), text_of(value, data, key, kExpected)));
    }
  } else {
    to.push_back(text_of(*node, data, key, kExpected));
  }
}
void read(Section& data, const std::string& key, std::optional<double>& to,
          const Names& /*choices*/) {
  to = data.number(key, 0);
  if (!(*to >= 0 && *to <= kMostShare)) {
    data.refuse(key,
                fmt::format("'{}' in [data] must lie in [0, {}]; got {}", key, kMostShare, *to));
  }
}
void read(Section& data, const std::string& key, std::optional<std::int64_t>& to,
          const Names& /*choices*/) {
  to = data.integer(key, 2, 2);
}
void read(Section& data, const std::string& key, std::optional<bool>& to,
          const Names& /*choices*/) {
  to = data.flag(key, false);
}

/// Returns where `name` stands in `names`; throws Error with the nearest one for any other.
template <class E>
E chosen(const std::vector<std::string_view>& names, const std::string& name,
         const std::string& what) {
  const Names all = texts(names);
  const std::size_t found = index_of(all, name);
  require(found < all.size(), "{}: expected {}; got '{}'{}", what, listed(all), name,
          did_you_mean(name, all));
  return static_cast<E>(found);
}

/// "a=x" as {"a", "x"}; "x" as {"", "x"}.
std::pair<std::string, std::string> column_and_value(const std::string& given) {
  const std::size_t at = given.rfind('=');
  if (at == std::string::npos) return {"", given};
  return {given.substr(0, at), given.substr(at + 1)};
}

TableTaskOptions task_options(const TableSettings& settings, std::uint64_t seed) {
  TableTaskOptions options;
  options.target = settings.target;
  options.seed = seed;
  TableTransformOptions& transform = options.transform;
  if (!settings.task.empty()) {
    transform.target = static_cast<TableTarget>(index_of(task_names(), settings.task));
  }
  if (!settings.missing.empty()) {
    transform.missing =
        chosen<MissingValues>(missing_values_names(), settings.missing, "--missing");
  }
  for (const std::string& given : settings.scale) {
    const auto [column, name] = column_and_value(given);
    const auto scaling =
        chosen<Scaling>(scaling_names(), name,
                        column.empty() ? "--scale" : fmt::format("--scale {}", column));
    (column.empty() ? transform.scaling : transform.column_scaling[column]) = scaling;
  }
  transform.ignore = settings.ignore;
  options.validation = settings.validation.value_or(options.validation);
  options.test = settings.test.value_or(options.test);
  options.stratify = settings.split != split_names()[1];
  options.group = settings.group;
  options.time = settings.time;
  options.folds = settings.folds.value_or(0);
  options.fold = settings.fold;
  require(options.folds == 0 || !settings.test,
          "--folds measures on each part in turn; leave out --test");
  require(settings.split.empty() || (options.group.empty() && options.time.empty()),
          "--split says how rows are split at random; leave it out with --group and --time");
  return options;
}

void require_target(const Table& table, const TableSettings& settings) {
  if (!settings.target.empty()) return;
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

void add_table_reading(CLI::App& command, TableReading& reading) {
  const OptionGroup group(command, "Reading of tables");
  add_all(command, reading, described_reading<TableReading>());
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

TableOptions table_options(const TableReading& reading) {
  TableOptions options;
  if (!reading.separator.empty()) {
    options.separator = reading.separator == "tab"     ? '\t'
                        : reading.separator == "blank" ? ' '
                                                       : reading.separator[0];
  }
  if (!reading.decimal.empty()) options.decimal = reading.decimal[0];
  if (!reading.thousands.empty()) {
    options.thousands = reading.thousands == "none"    ? '\0'
                        : reading.thousands == "blank" ? ' '
                                                       : reading.thousands[0];
  }
  options.header = reading.header;
  for (const std::string& text : reading.missing_text) {
    if (text.empty()) options.missing_words.clear();
    options.missing.push_back(text);
  }
  if (!reading.date_order.empty()) {
    options.date_order = chosen<DateOrder>(date_order_names(), reading.date_order, "--date-order");
  }
  options.encoding = reading.encoding;
  options.sheet = reading.sheet;
  if (!reading.comment.empty()) {
    const bool none = reading.comment == "none";
    require(none || reading.comment.size() == 1, "--comment is one character or none; got '{}'",
            reading.comment);
    options.comment = none ? '\0' : reading.comment[0];
  }
  for (const std::string& given : reading.type) {
    const auto [column, name] = column_and_value(given);
    require(!column.empty(), "--type is COLUMN=TYPE; got '{}'", given);
    options.types[column] =
        chosen<ColumnType>(column_type_names(), name, fmt::format("--type {}", column));
  }
  return options;
}

std::vector<std::string> table_option_names() {
  std::vector<std::string> names{"--no-header"};
  for (const auto& one : described_settings()) names.push_back("--" + one.name);
  return names;
}

void add_table_settings(CLI::App& command, TableSettings& settings) {
  add_all(command, settings, described_settings());
}

void read_table_settings(Section& data, TableSettings& settings) {
  for (const Described<TableSettings>& one : described_settings()) {
    std::string key = one.name;
    std::ranges::replace(key, '-', '_');
    data.node(key);
    if (!data.has(key)) continue;
    std::visit(
        [&](auto member) {
          std::remove_reference_t<decltype(settings.*member)> value{};
          read(data, key, value, one.choices);
          if (!is_given(settings.*member)) settings.*member = std::move(value);
        },
        one.member);
  }
}

void describe_table(Job& job, const TableSettings& settings, std::uint64_t seed) {
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
    require(settings.scale.empty() && settings.ignore.empty() && settings.task.empty(),
            "the columns are transformed as those of '{}' were; leave out --scale, --ignore and "
            "--task",
            job.from);
  }
  const std::string sentences = note_on_sentences(table, settings.target);
  TableTask made = [&] {
    try {
      return table_task(table, options);
    } catch (const DataError& error) {
      throw DataError(std::string(error.what()) + (sentences.empty() ? "" : "; " + sentences));
    }
  }();
  if (!sentences.empty() && options.fitted.empty()) made.notes.push_back("warning: " + sentences);
  auto task = std::make_shared<const TableTask>(std::move(made));
  job.network = from ? from->network() : task->network;
  job.training = task->training;
  for (OutputLoss& loss : job.training.output_losses) {
    loss.output = job.network.output_names().front();
  }
  job.data = settings.file;
  job.folds = options.folds;
  job.table = std::move(task);
  job.rows = table;
}

Job table_job(const TableSettings& settings, std::uint64_t seed, const std::string& from) {
  std::filesystem::path name = std::filesystem::path(settings.file).filename();
  while (name.has_extension()) name = name.stem();
  Job job{.name = name.string(), .network = Network({1}, {})};
  job.from = from;
  describe_table(job, settings, seed);
  return job;
}

}  // namespace linnet::command
