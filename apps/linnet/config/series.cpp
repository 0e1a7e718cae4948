// SPDX-License-Identifier: Apache-2.0
#include "config/series.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "base/check.h"
#include "config/options.h"
#include "tasks/options.h"
#include "tasks/series/forecasts.h"

namespace linnet::command {
const Description& series_flags() {
  static const Description kAll = by_flags(description_of<SeriesTaskOptions>());
  return kAll;
}

bool wants_windows(const DataSettings& settings) { return settings.has({"past", "future"}); }

void require_windows(const DataSettings& settings) {
  require(wants_windows(settings) || !settings.has({"entity", "known", "season", "network", "step",
                                                    "same_time", "off_step"}),
          "--entity, --known, --season, --network, --step, --same-time and --off-step are for "
          "windows of a series: --past says how many steps the model sees");
}

void describe_series(Job& job, const DataSettings& settings, std::uint64_t seed) {
  require(job.from.empty(), "windows of a series (--past) have default networks; leave out --from");
  require(settings.has({"past"}), "--future needs --past, the steps that the model sees");
  require(!settings.has({"task", "missing", "scale", "split", "group", "folds"}),
          "--task, --missing, --scale, --split, --group and --folds are for rows; windows of a "
          "series (--past) are split by time, and missing values are the last ones before");
  SeriesTaskOptions options;
  settings.read(series_flags(), &options);
  options.seed = seed;
  SeriesTask made = series_task(read_table(settings.file, table_options(settings)), options);
  job.network = made.network;
  job.training = made.training;
  job.data = settings.file;
  job.task = task_of_windows(std::move(made));
}

Job series_job(const DataSettings& settings, std::uint64_t seed, const std::string& from) {
  std::filesystem::path name = std::filesystem::path(settings.file).filename();
  while (name.has_extension()) name = name.stem();
  Job job{.name = name.string(), .network = Network({1}, {})};
  job.from = from;
  describe_series(job, settings, seed);
  return job;
}

}  // namespace linnet::command
