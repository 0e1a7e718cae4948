// SPDX-License-Identifier: Apache-2.0
#include "commands/train_checks.h"

#include <fmt/format.h>

#include <string>

#include "config/ranks.h"
#include "model/shard_layout.h"

namespace linnet::command {
namespace {

/// A cross-validation keeps no model.
void check_folds(const GivenOptions& given) {
  given.refuse({"--log", "--checkpoint-every", "--keep-checkpoints", "--on-failed-save", "--test",
                "--within"},
               "one training",
               "--folds trains several, measures each on another part and keeps none");
}

}  // namespace

void check_data(const TrainOptions& options, const Task& task, const std::string& data) {
  const GivenOptions& given = options.given;
  const std::string what = sentence_on(task, data);
  if (!task.accepts(TaskSettings::images)) {
    given.refuse(image_option_names(), "images", what);
    given.refuse({"--tta"}, "images", what);
  } else {
    check_image_files(given, data);
  }
  if (!task.accepts(TaskSettings::classes)) given.refuse({"--force"}, "classes", what);
}

void check_options(const TrainOptions& options, const Job& job) {
  const GivenOptions& given = options.given;
  if (!job.task->brings_data()) {  // else they are checked before data are read
    check_settings(*job.task, options.of_data, job.data);
    check_data(options, *job.task, job.data);
  }
  if (job.task->folds() > 0) check_folds(given);
  if (!job.training.streamed) {
    const std::string name = job.data.empty() ? "the data set" : fmt::format("'{}'", job.data);
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
