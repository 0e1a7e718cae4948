// SPDX-License-Identifier: Apache-2.0
#include "model/update_options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/check.h"
#include "base/pattern.h"
#include "core/align.h"
#include "model/step_graph.h"

namespace linnet {
namespace {

constexpr double kMostEpochs = 1e9;  // in steps they still fit into 64 bits

void require_range(bool holds, std::string_view what, double got) {
  require(holds, "the optimizer's {}; got {}", what, got);
}

void require_share(double value, std::string_view name) {
  require(value >= 0 && value < 1, "the optimizer's {} must lie in [0, 1); got {}", name, value);
}

void require_not_negative(double value, std::string_view name) {
  require(value >= 0, "the {} must not be negative; got {}", name, value);
  require(std::isfinite(value), "the {} must be finite; got {}", name, value);
}

void require_epsilon(double value) {
  require_range(value > 0, "epsilon must be above 0", value);
  require_range(std::isfinite(value), "epsilon must be finite", value);
}

void take(UpdateSettings& to, const SGD& o) {
  require_share(o.momentum, "momentum");
  require_range(!o.nesterov || o.momentum > 0, "Nesterov form wants a momentum", o.momentum);
  to.rule = o.momentum == 0 ? UpdateRule::sgd
            : o.nesterov    ? UpdateRule::nesterov
                            : UpdateRule::momentum;
  to.momentum = o.momentum;
}

template <class O>  // Adam or AdamW
void take_adam(UpdateSettings& to, const O& o) {
  require_share(o.beta1, "beta1");
  require_share(o.beta2, "beta2");
  require_epsilon(o.epsilon);
  to.beta1 = o.beta1;
  to.beta2 = o.beta2;
  to.epsilon = o.epsilon;
}

void take(UpdateSettings& to, const Adam& o) {
  take_adam(to, o);
  to.rule = UpdateRule::adam;
}

void take(UpdateSettings& to, const AdamW& o) {
  take_adam(to, o);
  to.rule = UpdateRule::adamw;
}

void take(UpdateSettings& to, const RMSprop& o) {
  require_share(o.alpha, "alpha");
  require_share(o.momentum, "momentum");
  require_epsilon(o.epsilon);
  to.rule = o.momentum == 0 ? UpdateRule::rmsprop : UpdateRule::rmsprop_momentum;
  to.alpha = o.alpha;
  to.epsilon = o.epsilon;
  to.momentum = o.momentum;
}

void take(UpdateSettings& to, const Adagrad& o) {
  require_not_negative(o.initial_accumulator_value, "optimizer's initial accumulator value");
  require_epsilon(o.epsilon);
  to.rule = UpdateRule::adagrad;
  to.initial_sum = o.initial_accumulator_value;
  to.epsilon = o.epsilon;
}

void take(UpdateSettings& to, const Lion& o) {
  require_share(o.beta1, "beta1");
  require_share(o.beta2, "beta2");
  to.rule = UpdateRule::lion;
  to.beta1 = o.beta1;
  to.beta2 = o.beta2;
}

/// A training's length, in which epochs become steps.
struct Length {
  std::int64_t epochs;
  std::int64_t steps_per_epoch;

  std::int64_t steps(double count) const {
    return static_cast<std::int64_t>(count * static_cast<double>(steps_per_epoch) + 0.5);
  }
  /// Where a decay of so many epochs ends; 0: with the training.
  std::int64_t end(double count) const {
    require(count >= 0, "the schedule's epochs must not be negative; got {}", count);
    require(count <= kMostEpochs, "the schedule must be at most 1e9 epochs long; got {}", count);
    return std::max<std::int64_t>(count == 0 ? epochs * steps_per_epoch : steps(count), 1);
  }
};

void take_floor(UpdateSettings& to, double floor) {
  require_not_negative(floor, "schedule's floor");
  to.floor = floor;
}

void take(UpdateSettings& to, const Constant& /*schedule*/, const Length& /*length*/) {
  to.decay = Decay::constant;
}

void take(UpdateSettings& to, const StepDecay& s, const Length& length) {
  require_not_negative(s.gamma, "schedule's factor gamma");
  require(s.every_epochs > 0, "the schedule's step must be above 0 epochs; got {}", s.every_epochs);
  require(s.every_epochs <= kMostEpochs, "the schedule's step must be at most 1e9 epochs; got {}",
          s.every_epochs);
  to.decay = Decay::step;
  to.gamma = s.gamma;
  to.every_steps = std::max<std::int64_t>(length.steps(s.every_epochs), 1);
}

void take(UpdateSettings& to, const CosineDecay& s, const Length& length) {
  take_floor(to, s.floor);
  to.decay = Decay::cosine;
  to.total_steps = length.end(s.epochs);
}

void take(UpdateSettings& to, const LinearDecay& s, const Length& length) {
  take_floor(to, s.floor);
  to.decay = Decay::linear;
  to.total_steps = length.end(s.epochs);
}

void take(UpdateSettings& to, const PolynomialDecay& s, const Length& length) {
  require(s.power > 0 && std::isfinite(s.power),
          "the schedule's power must be above 0 and finite; got {}", s.power);
  take_floor(to, s.floor);
  to.decay = Decay::polynomial;
  to.power = s.power;
  to.total_steps = length.end(s.epochs);
}

void take(UpdateSettings& to, const OneCycle& s, const Length& length) {
  for (const auto& [name, value] : {std::pair<std::string_view, double>{"rise", s.rise},
                                    {"start", s.start},
                                    {"floor", s.floor}}) {
    require(value >= 0 && value <= 1, "the schedule's {} must lie in [0, 1]; got {}", name, value);
  }
  to.decay = Decay::one_cycle;
  to.start = s.start;
  to.floor = s.floor;
  to.total_steps = length.end(s.epochs);
  const auto cycle = static_cast<double>(to.total_steps - to.warmup_steps);
  to.rise_steps = s.rise * cycle - 1;  // as in PyTorch
}

void take(UpdateSettings& to, const Plateau& s, const Length& /*length*/) {
  require(s.factor > 0 && s.factor < 1, "the schedule's factor must lie in (0, 1); got {}",
          s.factor);
  require(s.patience >= 0, "the schedule's patience must not be negative; got {}", s.patience);
  require(s.threshold >= 0 && s.threshold < 1,
          "the schedule's threshold must lie in [0, 1); got {}", s.threshold);
  require(s.floor >= 0 && s.floor <= 1, "the schedule's floor must lie in [0, 1]; got {}", s.floor);
  to.decay = Decay::constant;
}

void take(UpdateSettings& to, const ScheduleFunction& function, const Length& /*length*/) {
  require(function != nullptr, "the schedule is an empty function");
  to.decay = Decay::constant;
}

/// The elements of a parameter, with the padding after it.
UpdateRange range_of(const ParameterSpec& spec) {
  const auto count = static_cast<std::size_t>(spec.shape.elements());
  const auto first = static_cast<std::int64_t>(spec.offset / sizeof(float));
  const std::size_t bytes = align_up(count * sizeof(float));
  return {.begin = first, .end = first + static_cast<std::int64_t>(bytes / sizeof(float))};
}
static_assert(kAlignment % (kRangeUnit * sizeof(float)) == 0);

/// "a, b, c and 3 more"
std::string some_of(std::vector<std::string> names) {
  constexpr std::size_t kMost = 8;
  const std::size_t more = names.size() - std::min(names.size(), kMost);
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

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
  fail("no loss{} depends on what '{}' matches: {}",
       objective.empty() ? "" : fmt::format(" of the objective '{}'", objective), pattern,
       some_of(matched));
}

}  // namespace

Objective objective_of(const TrainingOptions& options) {
  // Field by field: GCC 12 warns of a temporary that an exception leaves half built.
  Objective objective;
  objective.trains = options.trains;
  objective.loss = options.loss;
  objective.loss_options = options.loss_options;
  objective.custom_loss = options.custom_loss;
  objective.output_losses = options.output_losses;
  objective.optimizer = options.optimizer;
  objective.schedule = options.schedule;
  objective.warmup = options.warmup;
  objective.clip = options.clip;
  return objective;
}

OptimizerAttrs resolve(const Objective& options, std::int64_t epochs,
                       std::int64_t steps_per_epoch) {
  const Length length{epochs, steps_per_epoch};
  UpdateSettings to;
  std::visit(
      [&](const auto& optimizer) {
        require_not_negative(optimizer.learning_rate, "optimizer's learning rate");
        require_not_negative(optimizer.weight_decay, "optimizer's weight decay");
        to.learning_rate = optimizer.learning_rate;
        to.weight_decay = optimizer.weight_decay;
        take(to, optimizer);
      },
      options.optimizer);
  require_not_negative(options.clip.norm, "clipping norm");
  require_not_negative(options.clip.value, "clipping value");
  to.clip_norm = options.clip.norm;
  to.clip_value = options.clip.value;
  require(options.warmup.epochs >= 0, "the warm-up must not be negative; got {}",
          options.warmup.epochs);
  require(options.warmup.epochs <= kMostEpochs, "the warm-up must be at most 1e9 epochs; got {}",
          options.warmup.epochs);
  to.warmup_steps = length.steps(options.warmup.epochs);
  std::visit([&](const auto& schedule) { take(to, schedule, length); }, options.schedule);
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

void add_groups(OptimizerAttrs& attrs, const NetworkDefinition& network,
                const std::vector<ParameterGroup>& given, const std::vector<bool>& reached,
                const std::string& objective) {
  const auto trains = [&](std::size_t i) {
    return network.parameters[i].trainable && (reached.empty() || reached[i]);
  };
  bool all = true;
  for (std::size_t i = 0; i < network.parameters.size(); ++i) {
    all = all && (trains(i) || !network.parameters[i].trainable);
  }
  std::vector<ParameterGroup> groups = given;
  if (groups.empty() && !all) groups.emplace_back();
  for (const ParameterGroup& group : groups) {
    require_not_negative(group.learning_rate_factor,
                         fmt::format("learning-rate factor of '{}'", group.name));
    require_not_negative(group.weight_decay.value_or(0),
                         fmt::format("weight decay of '{}'", group.name));
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
    attrs.add(range);
  }
  require(groups.empty() || !attrs.bounds.empty(), "no loss depends on a parameter of the network");
}

OptimizerAttrs resolve(const TrainingOptions& options, const NetworkDefinition& network,
                       std::int64_t steps_per_epoch) {
  OptimizerAttrs attrs = resolve(objective_of(options), options.epochs, steps_per_epoch);
  add_groups(attrs, network, options.trains);
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
