// SPDX-License-Identifier: Apache-2.0
#include "fixtures.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>

#include "fusions/fusions.h"
#include "model/model_state.h"
#include "model/step_graph.h"

namespace linnet::testing {
namespace {

double uniform(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) / 9007199254740992.0;
}

}  // namespace

Dataset circle_data(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> samples;
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = uniform(random);
    const double y = uniform(random);
    samples.push_back(static_cast<std::uint8_t>(255 * x));
    samples.push_back(static_cast<std::uint8_t>(255 * y));
    labels.push_back((x - 0.5) * (x - 0.5) + (y - 0.5) * (y - 0.5) < 0.16 ? 1 : 0);
  }
  return data_of(records(samples, {2}), records(labels));
}

Dataset sums_data(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> samples;
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto a = static_cast<float>(2 * uniform(random) - 1);
    const auto b = static_cast<float>(2 * uniform(random) - 1);
    samples.insert(samples.end(), {a, b});
    values.insert(values.end(), {a + b, a - b});
  }
  return data_of(records(samples, {2}), records(values, {2}));
}

Network every_layer() {
  return Network({8, 8, 1}, {Rescale{}, Conv2d{.filters = 8, .padding = Padding2d::same()}, ReLU{},
                             MaxPool2d{}, BatchNorm{}, Conv2d{.filters = 4, .kernel = 1}, Tanh{},
                             Conv2d{.filters = 4, .padding = Padding2d::same(), .groups = 2},
                             AvgPool2d{.size = 2}, GELU{}, Flatten{}, Dense{.units = 9}, Sigmoid{},
                             Dropout{.rate = 0.25}, Reshape{.sample = {3, 3, 1}}, GlobalAvgPool2d{},
                             Dense{.units = 3}, LogSoftmax{}});
}

std::vector<float> weights_after(const Network& network, const Dataset& data, const RunOptions& o) {
  Model model(network, {.device = "cpu", .threads = o.threads, .seed = 3});
  ModelState& state = model.state();
  const StepData read = step_data(state.definition(), data, {});
  Graph graph =
      training_step(state.definition(), read,
                    {.batch = o.batch,
                     .optimizer = resolve({.optimizer = Adam{.learning_rate = 1e-2}}, 1, 1),
                     .disabled_passes = o.disabled_passes},
                    supports_of(*state.backend));
  const auto program = state.backend->prepare(std::move(graph), o.plan);
  verify_plan(program->plan());
  Memory memory;
  for (std::size_t s = 0; s < kStorages; ++s) {
    memory.buffers[s] = state.backend->allocate(program->plan().bytes[s]);
  }
  // What a step reads before it writes it must not come from the arena. Gradients begin as zeros: a
  // NaN in the gaps between them would stop the training.
  Buffer* arena = memory[Storage::arena];
  if (arena->bytes() > 0) std::memset(arena->data(), 0xFF, arena->bytes());
  memory.buffers[static_cast<std::size_t>(Storage::parameter)] = state.parameters;
  memory.buffers[static_cast<std::size_t>(Storage::state)] = state.statistics;
  program->attach(memory);
  std::vector<std::shared_ptr<Buffer>> views;
  for (std::size_t slot = 0; slot < read.parts.size(); ++slot) {
    views.push_back(state.backend->view(read.parts[slot].bytes));
    program->bind(slot, views.back()->data());
  }
  const auto records = static_cast<std::uint64_t>(data.size());
  const StepInfo first{.seed = 5, .epoch = 1, .samples = records};
  if (o.checked) {
    for (std::uint64_t step = 0; step < o.steps; ++step) {
      program->run_checked(first.after(step, static_cast<std::uint64_t>(o.batch)));
    }
  } else {
    program->run(first, o.steps, static_cast<std::uint64_t>(o.batch));
  }
  return all_weights(model);
}

std::vector<std::string> known_passes(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  std::ranges::copy_if(names, std::back_inserter(known),
                       [](const std::string& name) { return all_passes().has(name); });
  return known;
}

}  // namespace linnet::testing
