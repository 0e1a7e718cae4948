// SPDX-License-Identifier: Apache-2.0
#include "train/recipes.h"

#include "base/join.h"
#include "model/model_state.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

template <class Fields>
std::string text_of(Fields fields) {
  Attributes attributes;
  fields.fields(AttributeWriter(attributes));
  return to_string(attributes);
}

/// Returns the rule as checkpoints of version 0.1 said it; later fields follow where they act.
std::string augment_text(const AugmentRule& rule) {
  std::string text = text_of(AugmentAttrs{.rule = rule});
  for (const std::string_view later :
       {" rotate=0", " vertical_flip=0", " alternating_flip=false"}) {
    if (text.ends_with(later)) text.resize(text.size() - later.size());
  }
  return text;
}

/// Returns the data of a step without the samples, which a recipe outlives.
StepData without_samples(StepData data) {
  for (StepData::Part& part : data.parts) {
    part.bytes = {};
    part.source = nullptr;
  }
  return data;
}

std::string describe(const TrainingStep& step) {
  return fmt::format("shuffle {} optimizer {} average {} {} lookahead {} {} at {} without {}{}{}{}",
                     step.shuffle, text_of(step.optimizer), step.average.decay, step.average.warmup,
                     step.lookahead.every, step.lookahead.alpha, step.moments,
                     join(step.disabled_passes, " "), step.recompute ? " recomputed" : "",
                     step.overlap_sums ? fmt::format(" overlapped by {}", step.bucket_bytes) : "",
                     step.sync_norms ? " synchronised" : "");
}

template <class Build>
ProgramRecipe recipe(std::string key, const ModelState& model, const StepData& data,
                     std::shared_ptr<TrainingMemory> memory, Build build) {
  const NetworkDefinition& network = model.definition();
  return {.key = std::move(key),
          .graph_of = [&network, supports = supports_of(*model.backend),
                       data = without_samples(data),
                       build](std::int64_t batch) { return build(network, data, batch, supports); },
          .training = std::move(memory)};
}

/// Of keep_step() or add_step().
template <class Build>
ProgramRecipe sum_recipe(const std::string& key, const ModelState& model, std::size_t level,
                         std::shared_ptr<TrainingMemory> memory, Build build) {
  const NetworkDefinition& network = model.definition();
  return {.key = fmt::format("{} {}", key, level),
          .graph_of = [&network, level, build](std::int64_t) { return build(network, level); },
          .training = std::move(memory)};
}

/// Of training_step(), shard_step() or finish_step().
template <class Build>
ProgramRecipe step_recipe(const std::string& key, const ModelState& model, const StepData& data,
                          const TrainingStep& step, std::shared_ptr<TrainingMemory> memory,
                          Build build) {
  ProgramRecipe made = recipe(fmt::format("{} {} {}", key, describe(step), linnet::describe(data)),
                              model, data, std::move(memory),
                              [step, build](const NetworkDefinition& network, const StepData& read,
                                            std::int64_t batch, const Supports& supports) {
                                TrainingStep sized = step;
                                sized.batch = batch;
                                return build(network, read, sized, supports);
                              });
  made.chains = !is_disabled(kChainSamples, step.disabled_passes);
  made.shared_stages = !is_disabled(kShareStages, step.disabled_passes);
  return made;
}

}  // namespace

std::string describe(const StepData& data, std::string (*loss_text)(const OutputLoss& loss)) {
  std::string text;
  for (const StepData::Part& part : data.parts) {
    text += fmt::format("{} {}; ", part.name, to_string(part.record));
  }
  text += fmt::format("inputs {} l1 {} l2 {}", data.inputs, data.l1, data.l2);
  for (const TargetLoss& target : data.targets) {
    text += fmt::format("; output {} {}", target.output, loss_text(target.how));
  }
  if (data.augment.crop) text += "; crop " + augment_text(*data.augment.crop);
  if (data.augment.mix) text += "; mix " + text_of(*data.augment.mix);
  return text;
}

ProgramRecipe training_recipe(const std::string& key, const ModelState& model, const StepData& data,
                              const TrainingStep& step, std::shared_ptr<TrainingMemory> memory) {
  return step_recipe(key + "train", model, data, step, std::move(memory), training_step);
}

ProgramRecipe shard_recipe(const std::string& key, const ModelState& model, const StepData& data,
                           const TrainingStep& step, std::shared_ptr<TrainingMemory> memory) {
  ProgramRecipe shard =
      step_recipe(key + "shard", model, data, step, std::move(memory), shard_step);
  shard.fixed_weights = true;  // through all shards of a step
  shard.lane_gradients = ShardLayout(model.definition()).level(0);
  return shard;
}

ProgramRecipe finish_recipe(const std::string& key, const ModelState& model, const StepData& data,
                            const TrainingStep& step, std::shared_ptr<TrainingMemory> memory) {
  using Finish =
      Graph (*)(const NetworkDefinition&, const StepData&, const TrainingStep&, const Supports&);
  return step_recipe(key + "finish", model, data, step, std::move(memory),
                     static_cast<Finish>(finish_step));
}

ProgramRecipe keep_recipe(const std::string& key, const ModelState& model, std::size_t level,
                          std::shared_ptr<TrainingMemory> memory) {
  return sum_recipe(key + "keep", model, level, std::move(memory), keep_step);
}

ProgramRecipe add_recipe(const std::string& key, const ModelState& model, std::size_t level,
                         std::shared_ptr<TrainingMemory> memory) {
  return sum_recipe(key + "add", model, level, std::move(memory), add_step);
}

ProgramRecipe add_kept_recipe(const std::string& key, const ModelState& model, std::size_t level,
                              std::shared_ptr<TrainingMemory> memory) {
  return sum_recipe(key + "add kept", model, level, std::move(memory), add_kept_step);
}

ProgramRecipe add_lanes_recipe(const std::string& key, const ModelState& model, std::size_t lanes,
                               std::shared_ptr<TrainingMemory> memory) {
  return sum_recipe(key + "add lanes", model, lanes, std::move(memory), add_lanes_step);
}

ProgramRecipe evaluation_recipe(const std::string& key, const ModelState& model,
                                const StepData& data, std::shared_ptr<Buffer> weights) {
  const char* whose = weights == nullptr ? "" : "average ";
  ProgramRecipe evaluation = recipe(fmt::format("{}evaluate {}{}", key, whose, describe(data)),
                                    model, data, nullptr, evaluation_step);
  evaluation.fixed_weights = true;
  evaluation.parameters = std::move(weights);
  return evaluation;
}

}  // namespace linnet
