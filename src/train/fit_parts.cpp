// SPDX-License-Identifier: Apache-2.0
#include "train/fit_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/join.h"
#include "model/check_values.h"
#include "model/memory_report.h"
#include "model/update_options.h"
#include "plan/step_time.h"
#include "train/memory_plan.h"
#include "train/recipes.h"
#include "train/trainer_state.h"

namespace linnet {
namespace {

constexpr std::int64_t kFewRows =
    16;  // of a shard: below, its operators no longer fill a processor

/// Returns the samples of the largest shard. Evaluations take batches of that size too, so that
/// they need no more memory than the training.
std::int64_t rows_of_shard(const FitProgram& program, const FitForm& form) {
  const auto batch = static_cast<std::uint64_t>(program.options.batch);
  return static_cast<std::int64_t>(form.shards.largest(batch));
}

bool is_fed(const FitProgram& program, const FitPart& part, const FitForm& form) {
  return part.data.has_source() ||
         (form.streamed && !program.model.backend->capabilities().host_memory);
}

/// Returns the shards that a ring holds, which evaluations may share.
std::int64_t ring_slots(const FitProgram& program, const FitForm& form) {
  return slots_of(program.options.prefetch, lanes_of(program.model, form.shards, program.trainer));
}

void add_evaluation_passes(Session& session, FitParts& parts, const FitProgram& program,
                           const FitForm& form) {
  const ObjectiveState& objective = program.objective;
  for (FitPart* part : {&parts.validation, &parts.test}) {
    if (part->samples == 0) continue;
    part->pass = session.add_pass(part->samples, rows_of_shard(program, form),
                                  evaluation_recipe(objective.key + part->name, program.model,
                                                    part->data, objective.averaged));
    part->pass.one_batch = program.model.definition().draws_noise();
  }
}

}  // namespace

DataPass add_training(Session& session, const StepData& data, std::unique_ptr<ShardedSteps>& tree,
                      const FitProgram& program, const FitForm& form, bool fed) {
  const FitOptions& options = program.options;
  const ObjectiveState& objective = program.objective;
  const TrainingStep step{.shuffle = options.shuffle && !fed,
                          .optimizer = program.optimizer,
                          .average = objective.average(),
                          .lookahead = objective.lookahead(),
                          .moments = objective.moments,
                          .disabled_passes = program.trainer.disabled_passes,
                          .recompute = form.recompute,
                          .overlap_sums =
                              overlaps_sums(program.model, form.shards, program.trainer),
                          .bucket_bytes = program.trainer.bucket_bytes,
                          .sync_norms = syncs_norms(program.model, form.shards, program.trainer,
                                                    program.trained, options.batch)};
  const std::size_t lanes = lanes_of(program.model, form.shards, program.trainer);
  const auto recipe_of = form.shards.count == 1 ? training_recipe : shard_recipe;
  ProgramRecipe recipe = recipe_of(objective.key, program.model, data, step, objective.memory);
  recipe.apart = shards_apart(program.model, lanes, form.shards.own());
  DataPass pass = session.add_pass(program.trained, options.batch, recipe, form.shards, lanes > 1);
  if (form.shards.count == 1) return pass;
  tree = std::make_unique<ShardedSteps>(session, program.model, objective.key, data, step,
                                        objective.memory, form.shards.count, lanes, options.shuffle,
                                        program.trainer.ranks);
  return pass;
}

void bind(Session& session, DataPass& pass, const FitPart& part, bool shuffle) {
  if (part.stream == nullptr) return session.bind_data(pass, part.data);
  session.feed(pass, part.data, *part.stream, shuffle);
}

namespace {

/// Adds all programs, as if the parts marked so were fed.
void add_passes(Session& session, FitParts& parts, const FitProgram& program, const FitForm& form,
                bool train_fed) {
  parts.train.pass =
      add_training(session, parts.train.data, parts.updates.tree, program, form, train_fed);
  parts.updates.pass = &parts.train.pass;
  add_evaluation_passes(session, parts, program, form);
}

/// Returns the memory of the data on a device, or on their way to it.
std::size_t data_bytes(FitParts& parts, const FitProgram& program, const FitForm& form) {
  std::size_t total = 0;
  std::set<const std::byte*> views;
  std::set<std::size_t> rings;  // parts of equal records share one
  const bool on_host = program.model.backend->capabilities().host_memory;
  for (const FitPart* part : parts.all()) {
    if (part->samples == 0) continue;
    std::size_t record = 0;
    for (const StepData::Part& of : part->data.parts) {
      record += of.record.bytes();
      const bool copied = !on_host && !is_fed(program, *part, form);
      if (copied && views.insert(of.bytes.data()).second) total += of.bytes.size();
    }
    if (!is_fed(program, *part, form) || !rings.insert(record).second) continue;
    const std::int64_t slot = std::min(rows_of_shard(program, form), part->samples);
    total += record * static_cast<std::size_t>(slot * ring_slots(program, form));
  }
  return total;
}

/// What a fit in some form takes, as planned.
struct Needs {
  std::size_t bytes = 0;
  double seconds = 0;  ///< of a step on a processor; for comparisons
};

double step_seconds(const FitParts& parts, const FitProgram& program, const FitForm& form) {
  const DeviceRates rates = processor_rates(std::max(program.model.backend->threads(), 1));
  double seconds = parts.updates.tree ? parts.updates.tree->predicted_seconds(rates) : 0;
  const DataPass& pass = parts.train.pass;
  for (std::uint64_t s = form.shards.first; s < form.shards.last; ++s) {
    const std::uint64_t rows = form.shards.size(s, pass.rows_of(0));
    if (rows == 0) continue;
    const std::size_t lane = pass.lanes.empty() ? 0 : s - form.shards.first;
    const CachedProgram* shard = lane > 0 ? pass.lanes.at({lane, rows}) : pass.programs.at(rows);
    seconds += predicted_seconds(shard->program->plan(), rates);
  }
  return seconds;
}

/// Returns what the fit takes in such a form, without allocating.
Needs needs_of(const FitParts& parts, const FitProgram& program, const FitForm& form) {
  FitParts trial{.train = parts.train, .validation = parts.validation, .test = parts.test};
  Session session(program.model);
  add_passes(session, trial, program, form, is_fed(program, parts.train, form));
  return {.bytes = session.needed_bytes() + data_bytes(trial, program, form),
          .seconds = step_seconds(trial, program, form)};
}

/// Returns the forms that a limit may choose from, the fastest first.
std::vector<FitForm> forms_of(const FitParts& parts, const FitProgram& program) {
  const FitOptions& options = program.options;
  const NetworkDefinition& network = parts.train.data.run_of(program.model.definition());
  const std::vector<bool> trains =
      trained_parameters(program.model.definition(), program.optimizer);
  const bool on_host = program.model.backend->capabilities().host_memory;
  const bool recompute = program.trainer.recompute;
  const Ranks& ranks = program.trainer.ranks;
  const std::int64_t first = options.shards > 0 ? options.shards : ranks.size();
  // More parts at the same time need no less, and norms of the whole batch take one for each rank.
  const bool fixed =
      options.shards > 0 || program.trainer.sync_batch_norm || program.trainer.side_by_side;
  const std::int64_t last = fixed ? first : kMostShards;
  std::vector<FitForm> forms;
  for (std::int64_t shards = first; shards <= last; shards *= 2) {
    const bool useless = shards > first && shards / 2 >= options.batch;
    if (useless || norm_of_one_value(network, program.trained, options.batch, shards, trains)) {
      break;
    }
    FitForm form{.shards = own_shards(shards, ranks),
                 .streamed = options.streamed,
                 .recompute = recompute};
    const auto add = [&] { forms.push_back(form); };
    if (shards == first) add();
    form.streamed = options.streamed || !on_host;
    if (shards > first || form.streamed != options.streamed) add();
    form.recompute = true;
    if (!recompute) add();
  }
  return forms;
}

/// Says what a form costs beside another, of which a step takes `plain` seconds. Of a device's
/// copies nothing is predicted.
std::string cost_of_change(double plain, double seconds, bool on_host) {
  if (!on_host) return "";
  const double percent = std::max(100 * (seconds / plain - 1), 0.0);
  return fmt::format("; predicted: a step takes {:.0f} % longer", percent);
}

/// Says what a form does beyond another.
std::string change_of(const FitForm& plain, const FitForm& form, std::int64_t shard) {
  std::vector<std::string> words;
  if (form.shards.count > plain.shards.count) {
    words.push_back(
        fmt::format("computed in {} shards of at most {} samples", form.shards.count, shard));
  }
  if (form.streamed != plain.streamed) words.emplace_back("streamed");
  if (form.recompute != plain.recompute) words.emplace_back("partly recomputed");
  return join(words, ", ");
}

}  // namespace

FitForm choose_form(const FitParts& parts, const FitProgram& program,
                    std::vector<std::string>& notes) {
  const FitOptions& options = program.options;
  FitForm form{.shards = own_shards(options.shards, program.trainer.ranks),
               .streamed = options.streamed,
               .recompute = program.trainer.recompute};
  check_batch_norms(program.model.definition(), program.trained, options.batch,
                    static_cast<std::int64_t>(form.shards.count),
                    trained_parameters(program.model.definition(), program.optimizer));
  if (options.memory_limit > 0) {
    std::size_t smallest = 0;
    std::optional<double> plain;
    std::optional<FitForm> found;
    for (const FitForm& tried : forms_of(parts, program)) {
      const Needs needs = needs_of(parts, program, tried);
      smallest = smallest == 0 ? needs.bytes : std::min(smallest, needs.bytes);
      if (!plain) plain = needs.seconds;
      if (needs.bytes > options.memory_limit) continue;
      found = tried;
      if (const std::string change = change_of(form, tried, rows_of_shard(program, tried));
          !change.empty()) {
        notes.push_back(
            fmt::format("to stay within {}, a batch of {} is {}: {} are planned{}",
                        mebibytes(options.memory_limit), options.batch, change,
                        mebibytes(needs.bytes),
                        cost_of_change(*plain, needs.seconds,
                                       program.model.backend->capabilities().host_memory)));
      }
      break;
    }
    if (!found) fail_above_limit(smallest, options.batch, options.memory_limit);
    form = *found;
  }
  const std::int64_t rows = rows_of_shard(program, form);
  if (form.shards.count > 1 && rows < kFewRows) {
    notes.push_back(fmt::format(
        "{} shards of a batch of {} have at most {} samples each: below {} a step takes longer",
        form.shards.count, options.batch, rows, kFewRows));
  }
  return form;
}

namespace {

void add_stream(Session& session, FitPart& part, const FitProgram& program, const FitForm& form) {
  if (part.samples == 0 || !(form.streamed || part.data.has_source())) return;
  part.stream = session.stream(part.data, rows_of_shard(program, form), ring_slots(program, form));
}

}  // namespace

void add_evaluations(Session& session, FitParts& parts, const FitProgram& program,
                     const FitForm& form) {
  for (FitPart* part : {&parts.validation, &parts.test}) add_stream(session, *part, program, form);
  add_evaluation_passes(session, parts, program, form);
}

void add_programs(Session& session, FitParts& parts, const FitProgram& program,
                  const FitForm& form) {
  for (FitPart* part : parts.all()) add_stream(session, *part, program, form);
  add_passes(session, parts, program, form, parts.train.stream != nullptr);
}

}  // namespace linnet
