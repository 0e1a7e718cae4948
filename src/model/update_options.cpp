// SPDX-License-Identifier: Apache-2.0
#include "model/update_options.h"

#include <algorithm>

#include "base/check.h"
#include "base/pattern.h"
#include "core/align.h"
#include "describe/nearest.h"
#include "model/muon.h"
#include "model/optimizers.h"
#include "model/options.h"
#include "model/step_graph.h"

namespace linnet {
namespace {

void require_match(const NetworkDefinition& network, const std::string& pattern,
                   const std::vector<bool>& reached, const std::string& objective) {
  std::vector<std::string> all;
  std::vector<std::string> matched;
  for (std::size_t i = 0; i < network.parameters.size(); ++i) {
    const ParameterSpec& spec = network.parameters[i];
    if (!spec.trainable) continue;
    all.push_back(spec.name);
    if (!matches(pattern, spec.name)) continue;
    if (reached.empty() || reached[i]) return;
    matched.push_back(spec.name);
  }
  require(!matched.empty(), "no parameter matches '{}'; the parameters are {}", pattern,
          some_of(all));
  fail("no loss{} depends on the parameters that '{}' matches: {}",
       objective.empty() ? "" : fmt::format(" of the objective '{}'", objective), pattern,
       some_of(matched));
}

}  // namespace

UpdateRange range_of(const ParameterSpec& spec) {
  const auto count = static_cast<std::size_t>(spec.shape.elements());
  const auto first = static_cast<std::int64_t>(spec.offset / size_of(spec.dtype));
  const std::size_t bytes = align_up(count * sizeof(float));
  return {.begin = first, .end = first + static_cast<std::int64_t>(bytes / sizeof(float))};
}
static_assert(kAlignment % (kRangeUnit * sizeof(float)) == 0);

std::optional<UpdateRange> range_in(const OptimizerAttrs& attrs, const ParameterSpec& spec) {
  UpdateRange own = range_of(spec);
  if (!spec.trainable || own.size() == 0) return std::nullopt;
  for (const UpdateRange& range : ranges_of(attrs, own.end)) {
    if (own.begin < range.begin || own.begin >= range.end) continue;
    own.rate_factor = range.rate_factor;
    own.weight_decay = range.weight_decay;
    own.left_out = range.left_out;
    return own;
  }
  return std::nullopt;
}

Objective objective_of(const TrainingOptions& options) {
  Objective objective;
  copy_fields(options, objective);
  return objective;
}

OptimizerAttrs resolve(const Objective& options, std::int64_t epochs,
                       std::int64_t steps_per_epoch) {
  const TrainingLength length{epochs, steps_per_epoch};
  UpdateSettings to;
  set_optimizer(to, options.optimizer);
  description_of<Clip>().check(&options.clip, "");
  to.clip_norm = options.clip.norm;
  to.clip_value = options.clip.value;
  description_of<Warmup>().check(&options.warmup, "");
  to.warmup_steps = length.steps(options.warmup.epochs);
  set_schedule(to, options.schedule, length);
  return {.settings = to};
}

std::vector<bool> reached_parameters(const NetworkDefinition& network, const StepData& data) {
  const NetworkDefinition& run = data.run_of(network);
  std::vector<bool> needed(run.graph.value_count(), false);
  const auto place = [](Value value) { return static_cast<std::size_t>(value.id); };
  for (const TargetLoss& target : data.targets)
    needed[place(run.outputs[target.output].value)] = true;
  const std::vector<Node>& nodes = run.graph.nodes();
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const bool helps =
        std::ranges::any_of(node->outputs, [&](Value v) -> bool { return needed[place(v)]; });
    if (!helps) continue;
    for (const Value input : node->inputs) needed[place(input)] = true;
  }
  std::vector<bool> reached;
  for (const ParameterSpec& spec : network.parameters) reached.push_back(needed[place(spec.value)]);
  return reached;
}

namespace {

/// Resolves names to ranges of the flat arrays; no groups: every parameter trains.
void add_groups(OptimizerAttrs& attrs, const NetworkDefinition& network,
                const std::vector<ParameterGroup>& given, const std::vector<bool>& reached,
                const std::string& objective, const std::vector<std::int64_t>& left_out) {
  const auto trains = [&](std::size_t i) {
    return network.parameters[i].trainable && (reached.empty() || reached[i]);
  };
  bool all = true;
  for (std::size_t i = 0; i < network.parameters.size(); ++i) {
    const bool whole = trains(i) && (left_out.empty() || left_out[i] == 0);
    all = all && (whole || !network.parameters[i].trainable);
  }
  std::vector<ParameterGroup> groups = given;
  if (groups.empty() && !all) groups.emplace_back();
  for (const ParameterGroup& group : groups) {
    description_of<ParameterGroup>().check(&group, group.name);
    require_match(network, group.name, reached, objective);
  }
  if (groups.empty()) return;
  for (std::size_t i = 0; i < network.parameters.size(); ++i) {
    const ParameterSpec& spec = network.parameters[i];
    UpdateRange range = range_of(spec);
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const ParameterGroup& g) {
      return matches(g.name, spec.name);
    });
    if (!trains(i) || group == groups.end() || range.size() == 0) continue;
    range.rate_factor = group->learning_rate_factor;
    range.weight_decay = group->weight_decay.value_or(attrs.settings.weight_decay);
    if (!left_out.empty()) range.left_out = left_out[i];
    attrs.add(range);
  }
  require(groups.empty() || !attrs.bounds.empty(), "no loss depends on a parameter of the network");
}

}  // namespace

std::vector<ParameterGroup> groups_without(const NetworkDefinition& network,
                                           const std::vector<ParameterGroup>& groups,
                                           const std::vector<bool>& rests) {
  std::vector<ParameterGroup> left;
  for (std::size_t i = 0; i < network.parameters.size(); ++i) {
    const ParameterSpec& spec = network.parameters[i];
    const auto group = std::ranges::find_if(groups, [&](const ParameterGroup& g) {
      return matches(g.name, spec.name);
    });
    const bool trains = spec.trainable && (groups.empty() || group != groups.end());
    if (!trains || rests[i]) continue;
    left.push_back(group == groups.end() ? ParameterGroup{} : *group);
    left.back().name = spec.name;
  }
  return left;
}

void add_parameters(OptimizerAttrs& attrs, const NetworkDefinition& network,
                    const Objective& objective, const std::vector<bool>& reached,
                    const std::string& name, const std::vector<std::int64_t>& left_out) {
  add_groups(attrs, network, objective.trains, reached, name, left_out);
  if (const auto* muon = std::get_if<Muon>(&objective.optimizer)) {
    set_matrices(attrs, network, muon->exclude);
  }
}

OptimizerAttrs resolve(const TrainingOptions& options, const NetworkDefinition& network,
                       std::int64_t steps_per_epoch) {
  const Objective objective = objective_of(options);
  OptimizerAttrs attrs = resolve(objective, options.epochs, steps_per_epoch);
  add_parameters(attrs, network, objective);
  return attrs;
}

std::vector<bool> trained_parameters(const NetworkDefinition& network,
                                     const OptimizerAttrs& attrs) {
  std::vector<bool> trained;
  for (const ParameterSpec& spec : network.parameters) {
    bool found = attrs.bounds.empty();
    const std::int64_t begin = range_of(spec).begin;
    for (std::size_t r = 0; r < attrs.bounds.size(); r += 2) {
      found = found || (attrs.bounds[r] <= begin && begin < attrs.bounds[r + 1]);
    }
    trained.push_back(spec.trainable && found);
  }
  return trained;
}

}  // namespace linnet
