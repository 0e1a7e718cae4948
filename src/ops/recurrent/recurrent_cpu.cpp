// SPDX-License-Identifier: Apache-2.0
// A task takes some samples through all steps alone: no barrier stands between two steps, and the
// packed w_hh stays in its core's cache.
#include "ops/recurrent/recurrent_cpu.h"

#include "backend/cpu/kernel.h"
#include "backend/cpu/partial_sums.h"
#include "backend/cpu/pieces.h"
#include "ops/recurrent/forward_weights_cpu.h"
#include "ops/recurrent/shared_steps_cpu.h"
#include "ops/recurrent/step_chunks_cpu.h"

namespace linnet::cpu {
namespace {

/// A task for each block, but not more than `most` nor than 1,024.
int block_tasks(const RecurrentShape& s, std::int64_t most = 1024) {
  const std::int64_t rows = block_rows(s);
  return static_cast<int>(
      std::clamp<std::int64_t>((s.n + rows - 1) / rows, 1, std::min<std::int64_t>(most, 1024)));
}

/// Calls f(block) for ranges of at most block_rows() samples.
template <class F>
void for_blocks(const RecurrentShape& s, int tasks, int task, F f) {
  const Range all = split(s.n, tasks, task);
  const std::int64_t rows = block_rows(s);
  for (std::int64_t n = all.begin; n < all.end; n += rows) f(Range{n, std::min(n + rows, all.end)});
}

/// Memory of a task of the forward kernel.
struct ForwardScratch {
  ForwardScratch(const RecurrentShape& s, bool keeps, Pieces& pieces)
      : sums(pieces.take(block_rows(s) * padded(s.columns()))),
        state(pieces.take(3 * block_rows(s) * padded(s.units))),
        chunk(pieces.take(keeps ? 0 : block_rows(s) * chunk_steps(s) * s.saved())) {}
  float* sums;
  float* state;
  float* chunk;  ///< RecurrentOp::Out::saved of the chunk's steps, where no operator reads it
};

/// One block of samples, whose memory begins at these pointers, through all steps. `saved` may be
/// null.
void run_forward(const RecurrentShape& s, std::int64_t rows, const ForwardWeights& weights,
                 const float* x, float* y, float* last, float* saved,
                 const ForwardScratch& scratch) {
  const std::int64_t width = padded(s.units);
  const std::int64_t sums_stride = padded(s.columns());
  float* sums = scratch.sums;
  float* state = scratch.state;
  std::fill_n(state, 3 * rows * width, 0.0F);
  ForwardStep step{.cell = s.cell,
                   .rows = rows,
                   .units = s.units,
                   .input_gate = s.units,
                   .saved_gate = s.units,
                   .sums = sums,
                   .sums_stride = sums_stride,
                   .bias = weights.bias,
                   .h = state,
                   .m = state + rows * width,
                   .rh = state + 2 * rows * width,
                   .y_stride = s.steps * s.units};
  for (std::int64_t begin = 0; begin < s.steps; begin += chunk_steps(s)) {
    const std::int64_t end = std::min(begin + chunk_steps(s), s.steps);
    const std::int64_t first = first_step(s, begin, end);
    const StepPlaces<float> kept =
        saved == nullptr ? StepPlaces<float>{scratch.chunk, chunk_steps(s) * s.saved(), s.saved()}
                         : places(s, saved, s.saved(), first);
    multiply_panels({rows, end - begin}, places(s, x, s.features, first), weights.input, kept,
                    false);
    step.input_stride = kept.sample;
    step.saved_stride = kept.sample;
    for (std::int64_t index = begin; index < end; ++index) {
      const std::int64_t t = s.step(index);
      step.saved = kept.data + (t - first) * kept.step;
      step.input = step.saved;
      step.y = y == nullptr ? nullptr : y + t * s.units;
      multiply_panels({rows}, {step.h, width}, weights.first, {sums, sums_stride}, false);
      if (s.cell == Cell::gru_original) {
        forward_gates(step);
        multiply_panels({rows}, {step.rh, width}, weights.candidate,
                        {sums + 2 * s.units, sums_stride}, false);
      }
      forward_step(step);
    }
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    std::copy_n(step.h + r * width, s.units, last + r * s.units);
  }
}

std::optional<Kernel> prepare_forward(const NodeView& node) {
  using In = RecurrentOp::In;
  using Out = RecurrentOp::Out;
  const RecurrentAttrs attrs = node.attrs<RecurrentOp>();
  const RecurrentShape s = recurrent_shape(attrs, node.in(In::x), node.in(In::w_hh));
  const bool y_read = node.output_read.empty() || node.output_read[Out::y];
  const bool saved_read = node.output_read.empty() || node.output_read[Out::saved];
  if (shares_steps(s)) return shared_forward(s, attrs.bias, y_read, saved_read);
  const int tasks = block_tasks(s);
  Kernel kernel;
  Pieces memory;
  ForwardWeights(s, {0, s.units}, memory);
  kernel.packed_bytes = memory.bytes();
  kernel.packed_operands = weight_operands(attrs.bias);
  Pieces counted;
  ForwardScratch(s, saved_read, counted);
  kernel.scratch_bytes = counted.bytes();
  kernel.packing.push_back(parallel(2, [=](const Args& args, const Task& task) {
    Pieces packed(args.pack());
    const ForwardWeights weights(s, {0, s.units}, packed);
    if (task.index == 0) return weights.pack_input(args);
    weights.pack_state(args, attrs.bias);
  }));
  kernel.stages.push_back(parallel(tasks, [=](const Args& args, const Task& task) {
    Pieces packed(args.pack());
    const ForwardWeights weights(s, {0, s.units}, packed);
    Pieces pieces(task.scratch);
    const ForwardScratch scratch(s, saved_read, pieces);
    for_blocks(s, tasks, task.index, [&](Range block) {
      const std::int64_t row = block.begin * s.steps;
      run_forward(s, block.size(), weights, args.in(In::x) + row * s.features,
                  y_read ? args.out(Out::y) + row * s.units : nullptr,
                  args.out(Out::last) + block.begin * s.units,
                  saved_read ? args.out(Out::saved) + row * s.saved() : nullptr, scratch);
    });
  }));
  return kernel;
}

/// The gradients of the weights that one task adds up.
struct WeightGradients {
  WeightGradients(const RecurrentShape& s, Pieces& memory)
      : w_ih(memory.take(s.columns() * s.features)),
        w_hh(memory.take(s.columns() * s.units)),
        slopes(memory.take(s.slopes())) {}
  float* w_ih;
  float* w_hh;
  float* slopes;  ///< as RecurrentShape::slopes(): the biases'
};

std::int64_t gradient_floats(const RecurrentShape& s) {
  return padded(s.columns() * s.features) + padded(s.columns() * s.units) + padded(s.slopes());
}

/// Holds what every task of the backward kernel reads, and what it writes.
struct BackwardShared {
  BackwardShared(const RecurrentShape& s, int tasks, Pieces& memory) {
    const bool original = s.cell == Cell::gru_original;
    input = {s.columns(), s.features};
    input.data = memory.take(input.floats());
    first = {original ? 2 * s.units : s.columns(), s.units};
    first.data = memory.take(first.floats());
    candidate = {original ? s.units : 0, s.units};
    candidate.data = memory.take(candidate.floats());
    gradients = memory.take(tasks * gradient_floats(s));
  }
  WeightPanels input;      ///< w_ih
  WeightPanels first;      ///< w_hh in the order of the slopes; of gru_original the gates alone
  WeightPanels candidate;  ///< gru_original's w_hn
  float* gradients;        ///< WeightGradients of one task after the other
};

void pack_state(const RecurrentShape& s, const float* w_hh, const BackwardShared& shared,
                float* ordered) {
  const std::int64_t part = s.units * s.units;
  if (s.cell == Cell::gru) {
    std::copy_n(w_hh + 2 * part, part, ordered);
    std::copy_n(w_hh, 2 * part, ordered + part);
    w_hh = ordered;
  }
  pack_panels(w_hh, s.units, 1, shared.first);
  if (s.cell == Cell::gru_original) pack_panels(w_hh + 2 * part, s.units, 1, shared.candidate);
}

/// One block of samples of the backward kernel.
struct BackwardBlock {
  RecurrentShape s;
  std::int64_t rows = 0;
  const float* x = nullptr;
  const float* saved = nullptr;
  const float* dy = nullptr;     ///< null: none
  const float* dlast = nullptr;  ///< null: none
  float* dx = nullptr;           ///< null: nobody reads it

  /// dx and the weights' gradients of `count` steps from `first` in x's order, whose slopes lie
  /// `chunk` steps a sample.
  void products(const BackwardShared& shared, const float* slopes, std::int64_t chunk,
                std::int64_t first, std::int64_t count, const WeightGradients& to) const {
    const std::int64_t u = s.units;
    const StepRows all{rows, count};
    const auto by = [&](std::int64_t part) {
      return StepPlaces<const float>{slopes + part * u, chunk * s.slopes(), s.slopes()};
    };
    const StepPlaces<const float> by_a = by(s.input_slopes() / u);
    const auto add_w_hh = [&](std::int64_t part, std::int64_t gate, std::int64_t gates,
                              std::int64_t state) {
      add_row_sums(all, by(part), gates * u, places(s, saved + state, s.saved(), first), u,
                   to.w_hh + gate * u * u);
    };
    constexpr float kOne = 1;
    add_row_sums(all, {&kOne}, 1, by(0), s.slopes(), to.slopes);
    if (dx != nullptr) {
      multiply_panels(all, by_a, shared.input, places(s, dx, s.features, first), false);
    }
    add_row_sums(all, by_a, s.columns(), places(s, x, s.features, first), s.features, to.w_ih);
    switch (s.cell) {
      case Cell::gru:
        add_w_hh(0, 2, 1, s.state());
        add_w_hh(1, 0, 2, s.state());
        break;
      case Cell::gru_original:
        add_w_hh(0, 0, 2, s.state());
        add_w_hh(2, 2, 1, 3 * u);
        break;
      default: add_w_hh(0, 0, cell_gates(s.cell), s.state());
    }
  }

  void run(const BackwardShared& shared, const WeightGradients& to, Pieces scratch) const {
    const std::int64_t chunk = chunk_steps(s);
    const std::int64_t width = padded(s.units);
    float* slopes = scratch.take(rows * chunk * s.slopes());
    float* state = scratch.take(3 * rows * width);
    std::fill_n(state, 3 * rows * width, 0.0F);
    BackwardStep step{.cell = s.cell,
                      .rows = rows,
                      .units = s.units,
                      .gate = s.units,
                      .saved_stride = s.steps * s.saved(),
                      .dy_stride = s.steps * s.units,
                      .dh = state,
                      .dm = state + rows * width,
                      .drh = state + 2 * rows * width,
                      .slopes_stride = chunk * s.slopes()};
    for (std::int64_t r = 0; dlast != nullptr && r < rows; ++r) {
      std::copy_n(dlast + r * s.units, s.units, step.dh + r * width);
    }
    for (std::int64_t end = s.steps; end > 0; end -= chunk) {
      const std::int64_t begin = std::max<std::int64_t>(end - chunk, 0);
      const std::int64_t first = first_step(s, begin, end);
      for (std::int64_t index = end - 1; index >= begin; --index) {
        const std::int64_t t = s.step(index);
        step.saved = saved + t * s.saved();
        step.next_saved = index == 0 ? 0 : (s.step(index - 1) - t) * s.saved();
        step.m_before = index == 0 ? nullptr : saved + s.step(index - 1) * s.saved() + 4 * s.units;
        step.dy = dy == nullptr ? nullptr : dy + t * s.units;
        step.slopes = slopes + (t - first) * s.slopes();
        backward_step(step);
        if (s.cell == Cell::gru_original) {
          multiply_panels({rows}, {step.slopes + 2 * s.units, step.slopes_stride}, shared.candidate,
                          {state + 2 * rows * width, width}, false);
          backward_reset(step);
        }
        multiply_panels({rows}, {step.slopes, step.slopes_stride}, shared.first, {step.dh, width},
                        true);
      }
      products(shared, slopes, chunk, first, end - begin, to);
    }
  }
};

/// Adds up the tasks' gradients, the first one first.
Stage sum_stage(const RecurrentShape& s, bool bias, int count) {
  using Out = RecurrentGradOp::Out;
  const std::int64_t stride = gradient_floats(s);
  const int tasks = tasks_for(stride, 0.2 * count);
  return parallel(tasks, [=](const Args& args, const Task& task) {
    Pieces work(args.work());
    Pieces parts(BackwardShared(s, count, work).gradients);
    const WeightGradients from(s, parts);
    const auto add = [&](const float* part, std::int64_t elements, float* out) {
      add_partials(part, count, stride, split(elements, tasks, task.index), out);
    };
    add(from.w_ih, s.columns() * s.features, args.out(Out::dw_ih));
    add(from.w_hh, s.columns() * s.units, args.out(Out::dw_hh));
    if (!bias) return;
    add(from.slopes + s.input_slopes(), s.columns(), args.out(Out::db_ih));
    if (s.cell == Cell::gru) {
      add(from.slopes + s.units, 2 * s.units, args.out(Out::db_hh));
      add(from.slopes, s.units, args.out(Out::db_hh) + 2 * s.units);
    } else {
      add(from.slopes, s.columns(), args.out(Out::db_hh));
    }
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  using In = RecurrentGradOp::In;
  using Out = RecurrentGradOp::Out;
  const auto& op = static_cast<const RecurrentGradOp&>(node.op);
  const RecurrentGradAttrs attrs = op.attrs();
  const std::size_t saved_input = op.saved_input();
  const std::size_t y_input = op.y_input();
  const std::size_t last_input = op.last_input();
  const RecurrentShape s = recurrent_shape(attrs, node.in(In::x), node.in(In::w_hh));
  // Each has gradients of all weights of its own.
  const int tasks = block_tasks(s, std::max<std::int64_t>(kPartialFloats / gradient_floats(s), 2));
  const bool dx_read = node.output_read.empty() || node.output_read[Out::dx];
  if (shares_steps(s)) return shared_backward(s, op, dx_read);
  Kernel kernel;
  Pieces memory;
  BackwardShared(s, tasks, memory);
  kernel.workspace_bytes = memory.bytes();
  Pieces scratch;
  scratch.take(std::max(block_rows(s) * chunk_steps(s) * s.slopes(), s.columns() * s.units));
  scratch.take(3 * block_rows(s) * padded(s.units));
  kernel.scratch_bytes = scratch.bytes();
  kernel.stages.push_back(parallel(2, [=](const Args& args, const Task& task) {
    Pieces work(args.work());
    const BackwardShared shared(s, tasks, work);
    if (task.index == 0) return pack_panels(args.in(In::w_ih), s.features, 1, shared.input);
    pack_state(s, args.in(In::w_hh), shared, reinterpret_cast<float*>(task.scratch));
  }));
  kernel.stages.push_back(parallel(tasks, [=](const Args& args, const Task& task) {
    Pieces work(args.work());
    const BackwardShared shared(s, tasks, work);
    float* own = shared.gradients + task.index * gradient_floats(s);
    std::fill_n(own, gradient_floats(s), 0.0F);
    Pieces gradients(own);
    const WeightGradients to(s, gradients);
    for_blocks(s, tasks, task.index, [&](Range block) {
      const std::int64_t row = block.begin * s.steps;
      const BackwardBlock run{.s = s,
                              .rows = block.size(),
                              .x = args.in(In::x) + row * s.features,
                              .saved = args.in(saved_input) + row * s.saved(),
                              .dy = attrs.y_gradient ? args.in(y_input) + row * s.units : nullptr,
                              .dlast = attrs.last_gradient
                                           ? args.in(last_input) + block.begin * s.units
                                           : nullptr,
                              .dx = dx_read ? args.out(Out::dx) + row * s.features : nullptr};
      run.run(shared, to, Pieces(task.scratch));
    });
  }));
  kernel.stages.push_back(sum_stage(s, attrs.bias, tasks));
  return kernel;
}

}  // namespace

void register_recurrent(Registry& registry) {
  registry.add(RecurrentOp::kName, prepare_forward);
  registry.add(RecurrentGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
