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

const std::vector<std::string>& network_names() {
  static const std::vector<std::string> names = [] {
    const std::vector<std::string_view> all = series_network_names();
    return std::vector<std::string>(all.begin(), all.end());
  }();
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
}

void require_windows(const SeriesSettings& settings) {
  require(settings.any() || (settings.entity.empty() && settings.known.empty() &&
                             !settings.season && settings.network.empty()),
          "--entity, --known, --season and --network are for windows of a series: --past says how "
          "many steps the model sees");
}

void read_series_settings(Section& data, SeriesSettings& settings) {
  const auto number = [&](const char* key, std::optional<std::int64_t>& to) {
    const std::int64_t value = data.integer(key, 1, 1, kMostSteps);
    if (data.has(key) && !to) to = value;
  };
  number("past", settings.past);
  number("future", settings.future);
  number("season", settings.season);
  const std::string entity = data.text("entity", "");
  if (settings.entity.empty()) settings.entity = entity;
  const std::size_t network =
      data.choice("network", index_of(network_names(), "gru"), network_names());
  if (data.has("network") && settings.network.empty()) settings.network = network_names()[network];
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
