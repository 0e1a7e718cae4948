// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/shared_steps_cpu.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "ops/recurrent/forward_weights_cpu.h"
#include "ops/recurrent/step_chunks_cpu.h"

namespace linnet::cpu {
namespace {

constexpr std::int64_t kLanes = 16;  // of the widest vectors

/// How many tasks share a step: about 128 KiB of w_hh are one's, and at least two vectors of units.
int step_tasks(const RecurrentShape& s) {
  constexpr std::uint64_t kWeights = std::uint64_t{24} << 10;
  const std::uint64_t worth =
      std::bit_floor(static_cast<std::uint64_t>(s.columns() * s.units) / kWeights);
  return static_cast<int>(
      std::clamp<std::int64_t>(static_cast<std::int64_t>(worth), 1,
                               std::max<std::int64_t>(s.units / (2 * kLanes), 1)));
}

/// The units of a task: whole vectors, but for the last one.
Range task_units(const RecurrentShape& s, int tasks, int task) {
  const Range vectors = split((s.units + kLanes - 1) / kLanes, tasks, task);
  return {vectors.begin * kLanes, std::min(vectors.end * kLanes, s.units)};
}

/// The dimensions of a task's units as if there were no others.
RecurrentShape task_shape(const RecurrentShape& s, Range units) {
  RecurrentShape own = s;
  own.units = units.size();
  return own;
}

/// What a task of a step leaves for the next one.
struct UnitState {
  UnitState(const RecurrentShape& s, const RecurrentShape& own, Pieces& memory)
      : h(memory.take(s.n * padded(own.units))),
        m(memory.take(s.n * padded(own.units))),
        chunk(memory.take(s.n * chunk_steps(s) * own.saved())) {}
  float* h;
  float* m;
  float* chunk;  ///< w_ih x of a chunk's steps, then what a step saves
};

struct SharedSteps {
  RecurrentShape s;
  int tasks = 1;
  bool bias = true;
  bool y_read = true;
  std::size_t packed_each = 0;  ///< bytes of a task's weights, at most
  std::size_t state_each = 0;   ///< of its state
  std::int64_t floats() const { return s.n * padded(s.units); }  ///< of all units' h

  SharedSteps(const RecurrentShape& shape, bool bias, bool y_read)
      : s(shape), tasks(step_tasks(shape)), bias(bias), y_read(y_read) {
    for (int task = 0; task < tasks; ++task) {
      const Range units = task_units(s, tasks, task);
      Pieces packed;
      ForwardWeights(s, units, packed);
      packed_each = std::max(packed_each, packed.bytes());
      Pieces state;
      UnitState(s, task_shape(s, units), state);
      state_each = std::max(state_each, state.bytes());
    }
  }

  ForwardWeights weights(const Args& args, int task) const {
    Pieces packed(args.pack(task * packed_each));
    return {s, task_units(s, tasks, task), packed};
  }

  /// The h of all units that the `index`th step reads.
  float* before(const Args& args, std::int64_t index) const {
    return args.work(tasks * state_each) + index % 2 * floats();
  }

  /// The `index`th step of the task's units.
  void run(std::int64_t index, const Args& args, const Task& task) const {
    using In = RecurrentOp::In;
    using Out = RecurrentOp::Out;
    const ForwardWeights weights = this->weights(args, task.index);
    const Range units = weights.units;
    const RecurrentShape own = task_shape(s, units);
    Pieces memory(args.work(task.index * state_each));
    const UnitState state(s, own, memory);
    const std::int64_t chunk = chunk_steps(s);
    const std::int64_t begin = index / chunk * chunk;
    const std::int64_t end = std::min(begin + chunk, s.steps);
    const std::int64_t first = first_step(s, begin, end);
    const StepPlaces<float> kept{state.chunk, chunk * own.saved(), own.saved()};
    if (index == begin) {
      multiply_panels({s.n, end - begin}, places(s, args.in(In::x), s.features, first),
                      weights.input, kept, false);
    }
    const std::int64_t width = padded(own.units);
    auto* sums = reinterpret_cast<float*>(task.scratch);
    if (index == 0) {
      std::fill_n(state.h, s.n * width, 0.0F);
      std::fill_n(state.m, s.n * width, 0.0F);
      std::fill_n(sums, s.n * padded(own.columns()), 0.0F);
    } else {
      multiply_panels({s.n}, {before(args, index), padded(s.units)}, weights.first,
                      {sums, padded(own.columns())}, false);
    }
    const std::int64_t t = s.step(index);
    forward_step({.cell = s.cell,
                  .rows = s.n,
                  .units = own.units,
                  .saved = kept.data + (t - first) * kept.step,
                  .saved_stride = kept.sample,
                  .sums = sums,
                  .sums_stride = padded(own.columns()),
                  .bias = weights.bias,
                  .h = state.h,
                  .m = state.m,
                  .y = y_read ? args.out(Out::y) + t * s.units + units.begin : nullptr,
                  .y_stride = s.steps * s.units});
    const bool last = index + 1 == s.steps;
    float* next = last ? args.out(Out::last) : before(args, index + 1);
    const std::int64_t stride = last ? s.units : padded(s.units);
    for (std::int64_t r = 0; r < s.n; ++r) {
      std::copy_n(state.h + r * width, own.units, next + r * stride + units.begin);
    }
  }
};

}  // namespace

bool shares_steps(const RecurrentShape& s) {
  constexpr std::int64_t kMostSteps = 4096;  // each is a stage
  return s.cell != Cell::gru_original && s.n > 0 && s.n <= block_rows(s) && s.steps <= kMostSteps &&
         step_tasks(s) > 1;
}

Kernel shared_steps(const RecurrentShape& s, bool bias, bool y_read) {
  const SharedSteps steps(s, bias, y_read);
  Kernel kernel;
  kernel.packed_bytes = steps.tasks * steps.packed_each;
  kernel.packed_operands = weight_operands(bias);
  kernel.workspace_bytes =
      steps.tasks * steps.state_each + 2 * sizeof(float) * static_cast<std::size_t>(steps.floats());
  kernel.scratch_bytes = sizeof(float) * static_cast<std::size_t>(s.n * padded(s.columns()));
  kernel.packing.push_back(parallel(steps.tasks, [=](const Args& args, const Task& task) {
    const ForwardWeights weights = steps.weights(args, task.index);
    weights.pack_input(args);
    weights.pack_state(args, steps.bias);
  }));
  for (std::int64_t index = 0; index < s.steps; ++index) {
    kernel.stages.push_back(parallel(steps.tasks, [=](const Args& args, const Task& task) {
      steps.run(index, args, task);
    }));
  }
  return kernel;
}

}  // namespace linnet::cpu
