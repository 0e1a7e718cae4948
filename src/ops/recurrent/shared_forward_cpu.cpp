// SPDX-License-Identifier: Apache-2.0
// A stage is a step. The same bits as the kernel whose tasks take all steps.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ops/recurrent/forward_weights_cpu.h"
#include "ops/recurrent/shared_steps_cpu.h"

namespace linnet::cpu {
namespace {

using In = RecurrentOp::In;
using Out = RecurrentOp::Out;

struct SharedForward {
  SharedForward(const RecurrentShape& shape, bool bias, bool y_read, bool saved_read)
      : steps(shape), s(shape), bias(bias), y_read(y_read), saved_read(saved_read) {
    for (int part = 0; part < steps.parts; ++part) {
      Pieces packed;
      ForwardWeights(s, steps.units(part), packed);
      packed_each = std::max(packed_each, packed.bytes());
    }
    Pieces state;
    State(*this, state);
    state_each = state.bytes();
    Pieces scratch;
    Scratch(*this, scratch);
    scratch_bytes = scratch.bytes();
  }

  /// What a task leaves for the next step.
  struct State {
    State(const SharedForward& of, Pieces& memory) {
      const std::int64_t rows = of.steps.most_rows();
      const std::int64_t units = of.steps.most_units();
      h = memory.take(rows * units);
      m = memory.take(rows * units);
      input = memory.take(rows * of.steps.chunk() * cell_gates(of.s.cell) * units);
    }
    float* h;
    float* m;
    float* input;  ///< w_ih x of a chunk's steps
  };

  struct Scratch {
    Scratch(const SharedForward& of, Pieces& memory) {
      const std::int64_t floats = of.steps.most_rows() * of.steps.most_units();
      sums = memory.take(floats * cell_gates(of.s.cell));
      saved = memory.take(of.saved_read ? 0 : floats * cell_saved(of.s.cell));
    }
    float* sums;
    float* saved;  ///< of a step, where RecurrentOp::Out::saved is not written
  };

  ForwardWeights weights(const Args& args, int part) const {
    Pieces packed(args.pack(static_cast<std::size_t>(part) * packed_each));
    return {s, steps.units(part), packed};
  }

  std::int64_t state_floats() const { return s.n * padded(s.units); }
  /// The state of all units that the `index`th step reads.
  float* before(const Args& args, std::int64_t index) const {
    return args.work(static_cast<std::size_t>(steps.tasks()) * state_each) +
           index % 2 * state_floats();
  }

  void run(std::int64_t index, const Args& args, const Task& task) const {
    const ForwardWeights own = weights(args, steps.part(task.index));
    const Range rows = steps.rows(task.index);
    const std::int64_t units = own.units.size();
    const std::int64_t columns = cell_gates(s.cell) * units;
    const std::int64_t width = padded(units);
    Pieces memory(args.work(static_cast<std::size_t>(task.index) * state_each));
    const State state(*this, memory);
    Pieces pieces(task.scratch);
    const Scratch scratch(*this, pieces);
    const std::int64_t chunk = steps.chunk();
    const std::int64_t begin = index / chunk * chunk;
    const std::int64_t end = std::min(begin + chunk, s.steps);
    const std::int64_t first = first_step(s, begin, end);
    const StepPlaces<float> input{state.input, chunk * columns, columns};
    if (index == begin) {
      const float* x = args.in(In::x) + rows.begin * s.steps * s.features;
      multiply_panels({rows.size(), end - begin}, places(s, x, s.features, first), own.input, input,
                      false);
    }
    if (index == 0) {
      std::fill_n(state.h, rows.size() * width, 0.0F);
      std::fill_n(state.m, rows.size() * width, 0.0F);
      std::fill_n(scratch.sums, rows.size() * columns, 0.0F);
    } else {
      multiply_panels({rows.size()},
                      {before(args, index) + rows.begin * padded(s.units), padded(s.units)},
                      own.first, {scratch.sums, columns}, false);
    }
    const std::int64_t t = s.step(index);
    const std::int64_t row = rows.begin * s.steps + t;
    forward_step({.cell = s.cell,
                  .rows = rows.size(),
                  .units = units,
                  .input = input.data + (t - first) * input.step,
                  .input_stride = input.sample,
                  .input_gate = units,
                  .saved = saved_read ? args.out(Out::saved) + row * s.saved() + own.units.begin
                                      : scratch.saved,
                  .saved_stride = saved_read ? s.steps * s.saved() : cell_saved(s.cell) * units,
                  .saved_gate = saved_read ? s.units : units,
                  .sums = scratch.sums,
                  .sums_stride = columns,
                  .bias = own.bias,
                  .h = state.h,
                  .m = state.m,
                  .y = y_read ? args.out(Out::y) + row * s.units + own.units.begin : nullptr,
                  .y_stride = s.steps * s.units});
    const bool last = index + 1 == s.steps;
    float* next = last ? args.out(Out::last) : before(args, index + 1);
    const std::int64_t stride = last ? s.units : padded(s.units);
    for (std::int64_t r = 0; r < rows.size(); ++r) {
      std::copy_n(state.h + r * width, units, next + (rows.begin + r) * stride + own.units.begin);
    }
  }

  SharedSteps steps;
  RecurrentShape s;
  bool bias = true;
  bool y_read = true;
  bool saved_read = true;
  std::size_t packed_each = 0;  ///< bytes of a part's weights, at most
  std::size_t state_each = 0;   ///< of a task's state
  std::size_t scratch_bytes = 0;
};

}  // namespace

Kernel shared_forward(const RecurrentShape& shape, bool bias, bool y_read, bool saved_read) {
  const SharedForward forward(shape, bias, y_read, saved_read);
  const SharedSteps& steps = forward.steps;
  Kernel kernel;
  kernel.packed_bytes = static_cast<std::size_t>(steps.parts) * forward.packed_each;
  kernel.packed_operands = weight_operands(bias);
  kernel.workspace_bytes = static_cast<std::size_t>(steps.tasks()) * forward.state_each +
                           2 * sizeof(float) * static_cast<std::size_t>(forward.state_floats());
  kernel.scratch_bytes = forward.scratch_bytes;
  kernel.packing.push_back(parallel(steps.parts, [=](const Args& args, const Task& task) {
    const ForwardWeights weights = forward.weights(args, task.index);
    weights.pack_input(args);
    weights.pack_state(args, forward.bias);
  }));
  for (std::int64_t index = 0; index < shape.steps; ++index) {
    kernel.stages.push_back(parallel(steps.tasks(), [=](const Args& args, const Task& task) {
      forward.run(index, args, task);
    }));
  }
  return kernel;
}

}  // namespace linnet::cpu
