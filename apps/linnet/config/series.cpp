// SPDX-License-Identifier: Apache-2.0
#include "config/series.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "base/check.h"
#include "config/options.h"

namespace linnet::command {
namespace {

constexpr std::int64_t kMostSteps = 1 << 20;

using Names = std::vector<std::string>;

Names texts(const std::vector<std::string_view>& names) { return {names.begin(), names.end()}; }

const Names& network_names() {
  static const Names names = texts(series_network_names());
  return names;
}
const Names& same_times() {
  static const Names names = texts(same_time_names());
  return names;
}
const Names& off_steps() {
  static const Names names = texts(off_step_names());
  return names;
}

}  // namespace

void add_series_settings(CLI::App& command, SeriesSettings& settings) {
  command
      .add_option("--past", settings.past,
                  "Steps of a series that the model sees; makes windows of a table's rows")
      ->check(at_least(1, kMostSteps));
  command
      .add_option("--future", settings.future,
                  "Steps of a series that the model forecasts; 1 if not given")
      ->check(at_least(1, kMostSteps));
  command.add_option("--entity", settings.entity, "Column that tells several series apart");
  command
      .add_option("--known", settings.known,
                  "Column of a series whose values are known ahead; may be given several times")
      ->allow_extra_args(false);
  command
      .add_option("--season", settings.season,
                  "Steps of a season, for the seasonal naive forecast; 1: none; found if not given")
      ->check(at_least(1, kMostSteps));
  command
      .add_option("--network", settings.network, "Default network of a series; gru if not given")
      ->check(one_of(network_names()));
  command.add_option(
      "--step", settings.step,
      "Time from one step of a series to the next, e.g. 15min, 1h, 1d or 1month; the\n"
      "most common one if not given");
  command
      .add_option("--same-time", settings.same_time,
                  "What becomes of several rows of a series that have the same time: refuse (the\n"
                  "default), first, last, or the mean or sum of their numbers")
      ->check(one_of(same_times()));
  command
      .add_option("--off-step", settings.off_step,
                  "What becomes of times between two steps of a series: refuse (the default) or\n"
                  "nearest, the nearest step")
      ->check(one_of(off_steps()));
}

void require_windows(const SeriesSettings& settings) {
  const bool plain = settings.entity.empty() && settings.known.empty() && !settings.season &&
                     settings.network.empty() && settings.step.empty() &&
                     settings.same_time.empty() && settings.off_step.empty();
  require(settings.any() || plain,
          "--entity, --known, --season, --network, --step, --same-time and --off-step are for "
          "windows of a series: --past says how many steps the model sees");
}

void read_series_settings(Section& data, SeriesSettings& settings) {
  const auto number = [&](const char* key, std::optional<std::int64_t>& to) {
    const std::int64_t value = data.integer(key, 1, 1, kMostSteps);
    if (data.has(key) && !to) to = value;
  };
  number("past", settings.past);
  number("future", settings.future);
  number("season", settings.season);
  const auto text = [&](const char* key, std::string& to) {
    const std::string value = data.text(key, "");
    if (to.empty()) to = value;
  };
  text("entity", settings.entity);
  text("step", settings.step);
  const auto choice = [&](const char* key, const Names& names, const char* usual, std::string& to) {
    const std::size_t value = data.choice(key, index_of(names, usual), names);
    if (data.has(key) && to.empty()) to = names[value];
  };
  choice("network", network_names(), "gru", settings.network);
  choice("same_time", same_times(), "refuse", settings.same_time);
  choice("off_step", off_steps(), "refuse", settings.off_step);
  const toml::node* known = data.node("known");
  if (known == nullptr || !settings.known.empty()) return;
  constexpr std::string_view kExpected = "a string or an array of strings";
  const auto add = [&](const toml::node& node) {
    if (!node.is_string()) data.refuse_type("known", kExpected);
    settings.known.push_back(*node.value<std::string>());
  };
  if (const toml::array* list = known->as_array()) {
    for (const toml::node& column : *list) add(column);
  } else {
    add(*known);
  }
}

void describe_series(Job& job, const TableSettings& table, const SeriesSettings& settings,
                     std::uint64_t seed) {
  require(job.from.empty(), "windows of a series (--past) have default networks; leave out --from");
  require(settings.past.has_value(), "--future needs --past, the steps that the model sees");
  require(table.task.empty() && table.missing.empty() && table.scale.empty() &&
              table.split.empty() && table.group.empty() && !table.folds,
          "--task, --missing, --scale, --split, --group and --folds are for rows; windows of a "
          "series (--past) are split by time, and missing values are the last ones before");
  SeriesTaskOptions options;
  options.targets = table.target;
  options.time = table.time;
  options.entity = settings.entity;
  options.past = *settings.past;
  options.future = settings.future.value_or(options.future);
  options.known = settings.known;
  options.ignore = table.ignore;
  options.season = settings.season.value_or(0);
  if (!settings.network.empty()) {
    options.network = static_cast<SeriesNetwork>(index_of(network_names(), settings.network));
  }
  options.step = settings.step;
  if (!settings.same_time.empty()) {
    options.same_time = static_cast<SameTime>(index_of(same_times(), settings.same_time));
  }
  if (!settings.off_step.empty()) {
    options.off_step = static_cast<OffStep>(index_of(off_steps(), settings.off_step));
  }
  options.validation = table.validation.value_or(options.validation);
  options.test = table.test.value_or(options.test);
  options.seed = seed;
  auto task = std::make_shared<const SeriesTask>(
      series_task(read_table(table.file, table_options(table)), options));
  job.network = task->network;
  job.training = task->training;
  job.data = table.file;
  job.series = std::move(task);
}

Job series_job(const TableSettings& table, const SeriesSettings& settings, std::uint64_t seed,
               const std::string& from) {
  std::filesystem::path name = std::filesystem::path(table.file).filename();
  while (name.has_extension()) name = name.stem();
  Job job{.name = name.string(), .network = Network({1}, {})};
  job.from = from;
  describe_series(job, table, settings, seed);
  return job;
}

}  // namespace linnet::command
