// SPDX-License-Identifier: Apache-2.0
#include "train/levenberg_marquardt/least_squares_fit.h"

#include <array>
#include <optional>
#include <variant>
#include <vector>

#include "base/check.h"
#include "model/memory_report.h"
#include "model/optimizers.h"
#include "model/training_counters.h"
#include "model/update_options.h"
#include "train/trainer_state.h"

namespace linnet {
namespace {

void check_settings(const Objective& objective, const FitOptions& options,
                    const TrainerOptions& trainer) {
  constexpr const char* kMethod = "[levenberg_marquardt]";
  require(std::holds_alternative<Constant>(objective.schedule) && objective.warmup.epochs == 0,
          "{} has no learning rate; leave out the schedule and the warm-up", kMethod);
  require(objective.clip.norm == 0 && objective.clip.value == 0,
          "{} has no gradients to clip; leave out clip", kMethod);
  require(objective.average.decay == 0, "{} keeps no average of the weights; leave out average",
          kMethod);
  require(objective.lookahead.every == 0, "{} takes no steps back; leave out lookahead", kMethod);
  for (const ParameterGroup& group : objective.trains) {
    require(group.learning_rate_factor == 1,
            "{} has no learning rate; leave out the learning_rate_factor of '{}'", kMethod,
            group.name);
  }
  require(options.freeze.empty(), "{} takes one step an epoch; leave out freeze", kMethod);
  require(!options.drop_last, "{} takes all samples together; leave out drop_last", kMethod);
  require(options.shards <= 1,
          "{} takes all samples together, in blocks of the batch size; leave "
          "out shards",
          kMethod);
  require(!options.augment.any(), "{} minimises one loss; leave out augment", kMethod);
  require(trainer.ranks.size() == 1, "{} trains in one process; got {} ranks", kMethod,
          trainer.ranks.size());
}

/// Returns by parameter the factor of a weight's square in the loss.
std::vector<double> decays_of(const NetworkDefinition& network, const OptimizerAttrs& optimizer) {
  std::vector<double> decays;
  for (const ParameterSpec& spec : network.parameters) {
    const std::optional<UpdateRange> range = range_in(optimizer, spec);
    decays.push_back(range ? range->weight_decay / 2 : 0);
  }
  return decays;
}

const FitOptions& checked(const ObjectiveState& objective, const FitOptions& options,
                          const TrainerOptions& trainer) {
  check_settings(objective.objective, options, trainer);
  return options;
}

}  // namespace

LeastSquaresFit::LeastSquaresFit(Session& session, ObjectiveState& objective, const StepData& data,
                                 std::int64_t samples, const FitOptions& options,
                                 const TrainerOptions& trainer, const OptimizerAttrs& optimizer)
    : objective_(objective),
      samples_(samples),
      memory_limit_(options.memory_limit),
      problem_(session, *objective.model, data, samples, checked(objective, options, trainer).batch,
               trained_parameters(objective.network(), optimizer),
               decays_of(objective.network(), optimizer)),
      steps_(problem_, *objective.model) {}

void LeastSquaresFit::bind(Session& session) {
  const std::size_t planned = session.planned_bytes() + bytes();
  require(memory_limit_ == 0 || planned <= memory_limit_,
          "[levenberg_marquardt] {} are planned for {} weights that train; the limit is {}",
          mebibytes(planned), problem_.unknowns(), mebibytes(memory_limit_));
  problem_.bind(session);
  static_cast<void>(objective_.optimizer_memory());  // which other trainings' programs allocate
}

void LeastSquaresFit::run(const StepInfo& step) {
  const auto& options = std::get<LevenbergMarquardt>(objective_.objective.optimizer);
  ended_ = !steps_.run(options, objective_.damping);
  std::array<double, kCounters> counters{};
  const auto set = [&](Counter counter, double value) {
    counters[static_cast<std::size_t>(counter)] = value;
  };
  set(Counter::loss, steps_.loss() * problem_.weight());
  set(Counter::samples, static_cast<double>(samples_));
  set(Counter::last_loss, steps_.loss());
  set(Counter::weight, problem_.weight());
  const auto loss = static_cast<float>(steps_.loss());
  restore_counters(*objective_.model, *objective_.memory->optimizer, counters, std::span(&loss, 1),
                   step.step + 1);
}

}  // namespace linnet
