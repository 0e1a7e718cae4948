// SPDX-License-Identifier: Apache-2.0
#include "commands/train_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/folder.h"
#include "config/prepared.h"
#include "config/ranks.h"
#include "model/leaf.h"

namespace linnet::command {
namespace {

using Names = std::vector<std::string>;

const Names kSeries{"--past", "--future", "--entity", "--known", "--season", "--network"};

Names without(Names names, const Names& others) {
  std::erase_if(names, [&](const auto& name) { return std::ranges::count(others, name) > 0; });
  return names;
}

/// The options that are such settings, but for those of any data.
Names names_of(TaskSettings settings) {
  switch (settings) {
    case TaskSettings::images: return image_option_names();
    case TaskSettings::texts: return {"--text"};
    case TaskSettings::classes: return {"--force"};
    case TaskSettings::windows: return kSeries;
    case TaskSettings::rows: break;
  }
  return without(table_option_names(), {"--validation"});
}

/// A cross-validation keeps no model.
void check_folds(const GivenOptions& given) {
  given.refuse({"--log", "--checkpoint-every", "--keep-checkpoints", "--on-failed-save", "--test"},
               "one training",
               "--folds trains several, measures each on another part and keeps none");
}

}  // namespace

void check_prepared(const TrainOptions& options, bool texts) {
  const GivenOptions& given = options.given;
  const std::string what = fmt::format("'{}' holds {}", options.config, texts ? "texts" : "images");
  given.refuse(kSeries, "series, the rows of a table", what);
  Names kept{"--validation", "--test", "--split"};
  if (!texts && is_image_folder(options.config)) kept.emplace_back("--target");
  if (!options.text.empty() && is_file(options.config)) {
    kept.emplace_back("--target");
    kept.emplace_back("--sheet");
  } else {
    given.refuse({"--text"}, "tables", what);
  }
  given.refuse(without(table_option_names(), kept), "tables of values", what);
  if (texts) {
    given.refuse(image_option_names(), "images", what);
  } else {
    check_image_files(given, options.config);
  }
}

void check_options(const TrainOptions& options, const Job& job) {
  const GivenOptions& given = options.given;
  const std::string name = job.data.empty() ? "the data set" : fmt::format("'{}'", job.data);
  for (const RefusedSettings& refused : job.task->refused()) {
    given.refuse(names_of(refused.settings), std::string(refused.wanted),
                 fmt::format("{} {}", name, job.task->is()));
  }
  if (!job.task->brings_data()) check_image_files(given, job.data);
  if (job.folds > 0) check_folds(given);
  if (!job.training.streamed) {
    given.refuse({"--prefetch"}, "streamed trainings (--streamed)", name + " is held in memory");
  }
}

void check_alone(const GivenOptions& given) {
  if (in_a_job()) return;
  given.refuse({"--rank-deadline", "--reduce", "--bucket"}, "several processes (linnet launch)",
               "this one is alone");
}

void check_shards(const TrainOptions& options, const TrainingOptions& training,
                  const Model& model) {
  if (!options.resume.empty()) return;  // perhaps with fewer processes than before
  const GivenOptions& given = options.given;
  const std::int64_t ranks = training.ranks.size();
  const std::int64_t shards = std::max(training.shards, ranks);
  const std::string one =
      shards == 1 ? "each batch is computed whole" : "each process computes one shard";
  if (shards == ranks) {
    given.refuse({"--side-by-side"}, "several shards of a process (--shards)", one);
  }
  if (shards == 1) given.refuse({"--sync-batch-norm"}, "several shards (--shards)", one);
  if (!has_batch_norms(model.network().definition())) {
    given.refuse({"--sync-batch-norm"}, "batch norms", "the network has none");
  }
}

}  // namespace linnet::command
