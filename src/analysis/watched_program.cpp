// SPDX-License-Identifier: Apache-2.0
#include "analysis/watched_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "model/predictor_state.h"
#include "model/session.h"
#include "train/recipes.h"

namespace linnet {

std::vector<std::string> watch_training(Model& model, const Dataset& data, std::int64_t batch,
                                        const TrainingOptions& options, const WatchProgram& watch) {
  require(batch >= 1, "expected a batch of at least 1; got {}", batch);
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
  watch(program, next, [&](std::uint64_t count) {
    program.run(next, count, 0);
    wait_for(state);
  });
  std::vector<std::string> notes = session.notes();
  state.programs->forget("profile ");
  return notes;
}

std::vector<std::string> watch_prediction(Model& model, std::int64_t batch,
                                          const WatchProgram& watch) {
  PredictorState predictor{.model = model.state(), .in_blocks = false};  // nodes of a whole batch
  const DType type = model.state().definition().inputs[0].dtype;
  PreparedBatch& prepared = predictor.at(batch, type);
  StepInfo next = prepared.step();
  watch(prepared.program(), next, [&](std::uint64_t count) {
    for (; count > 0; --count) prepared.run();
    wait_for(model.state());
  });
  return prepared.program().notes();
}

std::string shapes_of(const Graph& graph, const Node& node) {
  std::vector<std::string> operands;
  for (std::size_t i = 0; i < std::min<std::size_t>(node.inputs.size(), 2); ++i) {
    operands.push_back(to_string(graph.type(node.inputs[i]).shape));
  }
  const std::string result =
      node.outputs.empty() ? std::string() : to_string(graph.type(node.outputs[0]).shape);
  return fmt::format("{} -> {}", fmt::join(operands, ", "), result);
}

}  // namespace linnet
