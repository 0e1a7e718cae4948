// SPDX-License-Identifier: Apache-2.0
// A stage is a step, the last one first: it takes the slopes of the step after it back through
// w_hh. After some steps follows a stage of the products of all of them. Each task sums the
// gradients of its own units' weights over the whole batch, so nothing is left to add up.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "backend/cpu/pieces.h"
#include "ops/recurrent/shared_steps_cpu.h"

namespace linnet::cpu {
namespace {

using In = RecurrentGradOp::In;
using Out = RecurrentGradOp::Out;

struct SharedBackward {
  SharedBackward(const RecurrentShape& shape, const RecurrentGradOp& op, bool dx_read)
      : steps(shape),
        s(shape),
        attrs(op.attrs()),
        saved_input(op.saved_input()),
        y_input(op.y_input()),
        last_input(op.last_input()),
        dx_read(dx_read) {
    for (int part = 0; part < steps.parts; ++part) {
      Pieces packed;
      Weights(*this, part, packed);
      weights_each = std::max(weights_each, packed.bytes());
    }
    Pieces shared;
    Shared(*this, shared);
    shared_bytes = shared.bytes();
  }

  /// The features whose gradient a part computes.
  Range features(int part) const {
    const std::int64_t lanes = SharedSteps::kLanes;
    const Range vectors = split((s.features + lanes - 1) / lanes, steps.parts, part);
    return {std::min(vectors.begin * lanes, s.features), std::min(vectors.end * lanes, s.features)};
  }

  /// The packed weights of a part.
  struct Weights {
    Weights(const SharedBackward& of, int part, Pieces& memory) {
      first = {of.s.columns(), of.steps.units(part).size()};
      first.data = memory.take(first.floats());
      input = {of.s.columns(), of.features(part).size()};
      input.data = memory.take(input.floats());
    }
    WeightPanels first;  ///< w_hh to its units, in the order of the slopes
    WeightPanels input;  ///< w_ih to its features
  };
  Weights weights(const Args& args, int part) const {
    Pieces memory(args.work(shared_bytes + static_cast<std::size_t>(part) * weights_each));
    return {*this, part, memory};
  }

  struct Shared {
    Shared(const SharedBackward& of, Pieces& memory)
        : floats(of.steps.most_rows() * of.steps.most_units()),
          dh(memory.take(of.steps.tasks() * floats)),
          dm(memory.take(of.steps.tasks() * floats)),
          slopes(memory.take(of.s.n * of.steps.chunk() * of.s.slopes())),
          sums(memory.take(of.s.slopes())) {}
    std::int64_t floats;  ///< of a task's dh, and of its dm
    float* dh;
    float* dm;
    float* slopes;  ///< of all samples and a chunk's steps
    float* sums;    ///< as RecurrentShape::slopes(): the biases' gradients
  };
  Shared shared(const Args& args) const {
    Pieces memory(args.work());
    return {*this, memory};
  }
  std::size_t workspace_bytes() const {
    return shared_bytes + static_cast<std::size_t>(steps.parts) * weights_each;
  }

  void pack(const Args& args, const Task& task) const {
    const Weights own = weights(args, task.index);
    const Range units = steps.units(task.index);
    const float* w_hh = args.in(In::w_hh) + units.begin;
    auto* ordered = reinterpret_cast<float*>(task.scratch);
    // GRU's slopes begin with those of c_n, whose rows of w_hh are the last third.
    const std::int64_t begin = s.cell == Cell::gru ? 2 * s.units : 0;
    for (std::int64_t row = 0; row < s.columns(); ++row) {
      std::copy_n(w_hh + (begin + row) % s.columns() * s.units, units.size(),
                  ordered + row * units.size());
    }
    pack_panels(ordered, units.size(), 1, own.first);
    pack_panels(args.in(In::w_ih) + features(task.index).begin, s.features, 1, own.input);
  }

  /// A chunk's steps in the order in which they are taken back: [begin, end) of the forward order.
  Range chunk_of(std::int64_t end) const {
    return {std::max<std::int64_t>(end - steps.chunk(), 0), end};
  }

  /// Adds to dh of the task's units what comes from the `slot`th of a chunk's steps.
  void through_state(const Args& args, int task, std::int64_t slot) const {
    const Shared work = shared(args);
    const Range rows = steps.rows(task);
    const int part = steps.part(task);
    const std::int64_t stride = steps.chunk() * s.slopes();
    multiply_panels({rows.size()}, {work.slopes + rows.begin * stride + slot * s.slopes(), stride},
                    weights(args, part).first,
                    {work.dh + task * work.floats, padded(steps.units(part).size())}, true);
  }

  void step(Range chunk, std::int64_t index, const Args& args, const Task& task) const {
    const Shared work = shared(args);
    const Range rows = steps.rows(task.index);
    const Range units = steps.units(steps.part(task.index));
    const std::int64_t first = first_step(s, chunk.begin, chunk.end);
    if (index + 1 == s.steps) begin(args, task.index);
    if (index + 1 < chunk.end) through_state(args, task.index, s.step(index + 1) - first);
    const std::int64_t t = s.step(index);
    const std::int64_t row = rows.begin * s.steps + t;
    const float* saved = args.in(saved_input) + row * s.saved() + units.begin;
    const std::int64_t to_next = index == 0 ? 0 : (s.step(index - 1) - t) * s.saved();
    backward_step(
        {.cell = s.cell,
         .rows = rows.size(),
         .units = units.size(),
         .gate = s.units,
         .saved = saved,
         .m_before = index == 0 ? nullptr : saved + to_next + 4 * s.units,
         .saved_stride = s.steps * s.saved(),
         .next_saved = to_next,
         .dy = attrs.y_gradient ? args.in(y_input) + row * s.units + units.begin : nullptr,
         .dy_stride = s.steps * s.units,
         .dh = work.dh + task.index * work.floats,
         .dm = work.dm + task.index * work.floats,
         .slopes =
             work.slopes + (rows.begin * steps.chunk() + t - first) * s.slopes() + units.begin,
         .slopes_stride = steps.chunk() * s.slopes()});
  }

  /// What reaches a task's units before the last step.
  void begin(const Args& args, int task) const {
    const Shared work = shared(args);
    const Range rows = steps.rows(task);
    const Range units = steps.units(steps.part(task));
    const std::int64_t width = padded(units.size());
    float* dh = work.dh + task * work.floats;
    std::fill_n(dh, rows.size() * width, 0.0F);
    std::fill_n(work.dm + task * work.floats, rows.size() * width, 0.0F);
    for (std::int64_t r = 0; attrs.last_gradient && r < rows.size(); ++r) {
      std::copy_n(args.in(last_input) + (rows.begin + r) * s.units + units.begin, units.size(),
                  dh + r * width);
    }
  }

  /// A part's share of what a chunk's slopes give: the gradients of its units' weights, and dx of
  /// its features.
  void products(Range chunk, const Args& args, int part) const {
    const Shared work = shared(args);
    const Range units = steps.units(part);
    const std::int64_t u = s.units;
    const std::int64_t first = first_step(s, chunk.begin, chunk.end);
    const StepRows all{s.n, chunk.size()};
    const auto by = [&](std::int64_t gate, std::int64_t unit) {
      return StepPlaces<const float>{work.slopes + gate * u + unit, steps.chunk() * s.slopes(),
                                     s.slopes()};
    };
    const bool begins = chunk.end == s.steps;
    const std::int64_t by_a = s.input_slopes() / u;  // the gate where a's slopes begin
    const auto w_hh_of = [&](std::int64_t gate) {    // c_n stands for n
      return s.cell == Cell::gru ? (gate == 0 ? 2 : gate - 1) : gate;
    };
    constexpr float kOne = 1;
    for (std::int64_t gate = 0; gate < s.slopes() / u; ++gate) {
      float* sums = work.sums + gate * u + units.begin;
      if (begins) std::fill_n(sums, units.size(), 0.0F);
      add_row_sums(all, {&kOne}, 1, by(gate, units.begin), units.size(), sums);
    }
    for (std::int64_t gate = 0; gate < cell_gates(s.cell); ++gate) {
      float* dw_ih = args.out(Out::dw_ih) + (gate * u + units.begin) * s.features;
      if (begins) std::fill_n(dw_ih, units.size() * s.features, 0.0F);
      add_row_sums(all, by(by_a + gate, units.begin), units.size(),
                   places(s, args.in(In::x), s.features, first), s.features, dw_ih);
      float* dw_hh = args.out(Out::dw_hh) + (w_hh_of(gate) * u + units.begin) * u;
      if (begins) std::fill_n(dw_hh, units.size() * u, 0.0F);
      add_row_sums(all, by(gate, units.begin), units.size(),
                   places(s, args.in(saved_input) + s.state(), s.saved(), first), u, dw_hh);
    }
    if (chunk.begin == 0 && attrs.bias) write_biases(args, work.sums, units);
    const Range own = features(part);
    if (!dx_read || own.size() == 0) return;
    multiply_panels(all, by(by_a, 0), weights(args, part).input,
                    places(s, args.out(Out::dx) + own.begin, s.features, first), false);
  }

  void write_biases(const Args& args, const float* sums, Range units) const {
    const std::int64_t u = s.units;
    const float* by_a = sums + s.input_slopes();
    for (std::int64_t gate = 0; gate < cell_gates(s.cell); ++gate) {
      const bool apart = s.cell == Cell::gru;
      const float* by_c = apart ? sums + (gate == 2 ? 0 : gate + 1) * u : by_a + gate * u;
      const std::int64_t at = gate * u + units.begin;
      std::copy_n(by_a + at, units.size(), args.out(Out::db_ih) + at);
      std::copy_n(by_c + units.begin, units.size(), args.out(Out::db_hh) + at);
    }
  }

  SharedSteps steps;
  RecurrentShape s;
  RecurrentGradAttrs attrs;
  std::size_t saved_input, y_input, last_input;
  bool dx_read = true;
  std::size_t weights_each = 0;  ///< bytes, at most
  std::size_t shared_bytes = 0;
};

}  // namespace

Kernel shared_backward(const RecurrentShape& shape, const RecurrentGradOp& op, bool dx_read) {
  const SharedBackward backward(shape, op, dx_read);
  const SharedSteps& steps = backward.steps;
  Kernel kernel;
  kernel.workspace_bytes = backward.workspace_bytes();
  kernel.scratch_bytes =
      sizeof(float) * static_cast<std::size_t>(shape.columns() * steps.most_units());
  kernel.stages.push_back(parallel(steps.parts, [=](const Args& args, const Task& task) {
    backward.pack(args, task);
  }));
  for (std::int64_t end = shape.steps; end > 0; end -= steps.chunk()) {
    const Range chunk = backward.chunk_of(end);
    for (std::int64_t index = chunk.end - 1; index >= chunk.begin; --index) {
      kernel.stages.push_back(parallel(steps.tasks(), [=](const Args& args, const Task& task) {
        backward.step(chunk, index, args, task);
      }));
    }
    // The products of all steps, and the first step's way to the chunk before.
    kernel.stages.push_back(parallel(steps.parts, [=](const Args& args, const Task& task) {
      backward.products(chunk, args, task.index);
      if (chunk.begin == 0) return;
      const RecurrentShape& s = backward.s;
      const std::int64_t slot = s.step(chunk.begin) - first_step(s, chunk.begin, chunk.end);
      for (int block = 0; block < backward.steps.blocks; ++block) {
        backward.through_state(args, task.index * backward.steps.blocks + block, slot);
      }
    }));
  }
  return kernel;
}

}  // namespace linnet::cpu
