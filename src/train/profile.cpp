// SPDX-License-Identifier: Apache-2.0
#include <linnet/profile.h>

#include <algorithm>

#include "base/check.h"
#include "model/predictor_state.h"
#include "model/session.h"
#include "train/chunks.h"
#include "train/recipes.h"

namespace linnet {
namespace {

/// Least number of steps before the first that counts.
constexpr std::uint64_t kWarmUp = 3;

OperatorProfile describe(const Plan& plan, const NodeTime& time) {
  const Node& node = plan.graph.nodes()[time.node];
  const Cost cost = cost_of(plan.graph, node);
  const auto rate = [&](double work) { return time.seconds > 0 ? work / time.seconds : 0; };
  return {.name = std::string(node.op->name()),
          .layer = node.name,
          .engine = plan.engines.empty() ? std::string() : plan.engines[time.node],
          .start = time.start,
          .seconds = time.seconds,
          .flops = cost.flops,
          .bytes = cost.bytes,
          .flops_per_second = rate(cost.flops),
          .bytes_per_second = rate(cost.bytes)};
}

/// Times every node of a program in `steps` steps from `next` on, between about as many unwatched.
/// `run(count)` runs steps and waits for them.
template <class Run>
Profile watch(const ModelState& model, Program& program, StepInfo& next, std::int64_t batch,
              std::int64_t steps, Run run) {
  const auto watched = static_cast<std::uint64_t>(steps);
  const auto seconds_of = [&](std::uint64_t count) {
    const Clock::time_point start = Clock::now();
    run(count);
    next = next.after(count, 0);
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  seconds_of(std::max(kWarmUp, watched));  // as many as later, so that the same graphs are captured
  const std::vector<NodeTime> times = program.profile(next, watched);
  next = next.after(watched, 0);

  Profile profile;
  profile.device = model.device;
  profile.batch = batch;
  profile.steps = steps;
  profile.step_seconds = seconds_of(watched) / static_cast<double>(steps);
  for (const NodeTime& time : times) {
    profile.operators.push_back(describe(program.plan(), time));
    profile.operator_seconds += time.seconds;
  }
  const Ceilings ceilings = model.backend->ceilings();
  profile.flops_ceiling = ceilings.flops_per_second;
  profile.bytes_ceiling = ceilings.bytes_per_second;
  const auto fraction = [](double rate, double most) { return most > 0 ? rate / most : 0; };
  for (OperatorProfile& op : profile.operators) {
    op.of_ceiling = std::max(fraction(op.flops_per_second, profile.flops_ceiling),
                             fraction(op.bytes_per_second, profile.bytes_ceiling));
    op.share = profile.operator_seconds > 0 ? op.seconds / profile.operator_seconds
                                            : 1.0 / static_cast<double>(profile.operators.size());
  }
  return profile;
}

}  // namespace

Profile profile_training(Model& model, const Dataset& data, std::int64_t batch, std::int64_t steps,
                         const TrainingOptions& options) {
  require(batch >= 1, "expected a batch of at least 1; got {}", batch);
  require(steps >= 1, "expected at least 1 step; got {}", steps);
  require(batch <= data.size(), "expected at least {} samples, one batch; the data set '{}' has {}",
          batch, data.info().name, data.size());
  ModelState& state = model.state();
  const NetworkDefinition& network = state.definition();
  const StepData read = step_data(network, data, options);
  Session session(state, options.decoders);
  // Of files one batch is read: what is timed is the device's work on it.
  BatchStream* stream = read.has_source() ? session.stream(read, batch, 1) : nullptr;
  const std::int64_t steps_per_epoch = (data.size() + batch - 1) / batch;
  const TrainingStep step{.shuffle = options.shuffle && stream == nullptr,
                          .optimizer = resolve(options, network, steps_per_epoch),
                          .disabled_passes = options.disabled_passes,
                          .recompute = options.recompute};
  DataPass pass = session.add_pass(batch, batch,
                                   training_recipe("profile ", state, read, step,
                                                   std::make_shared<TrainingMemory>()));
  session.attach();
  StepInfo next{.seed = options.seed,
                .epoch = 1,
                .samples = static_cast<std::uint64_t>(data.size())};
  if (stream == nullptr) {
    session.bind_data(pass, read);
  } else {
    session.feed(pass, read, *stream, options.shuffle);
    pass.hold_first(next);
    next.samples = static_cast<std::uint64_t>(batch);
  }
  Program& program = pass.ready(pass.batch);
  // Always the same batch: what it holds changes no operator's time.
  Profile profile = watch(state, program, next, batch, steps, [&](std::uint64_t count) {
    program.run(next, count, 0);
    wait_for(state);
  });
  profile.notes = session.notes();
  state.programs->forget("profile ");
  return profile;
}

Profile profile_prediction(Model& model, std::int64_t batch, std::int64_t steps) {
  require(steps >= 1, "expected at least 1 step; got {}", steps);
  PredictorState predictor{.model = model.state()};
  const DType type = model.state().definition().inputs[0].dtype;
  PreparedBatch& prepared = predictor.at(batch, type);
  StepInfo next = prepared.step();
  Profile profile =
      watch(model.state(), prepared.program(), next, batch, steps, [&](std::uint64_t count) {
        for (; count > 0; --count) prepared.run();
        wait_for(model.state());
      });
  profile.notes = prepared.program().notes();
  return profile;
}

}  // namespace linnet
