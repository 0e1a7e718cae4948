// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/depthwise_cpu.h"

#include <memory>
#include <vector>

#include "backend/cpu/partial_sums.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/conv2d/engine_cpu.h"

namespace linnet::cpu {
namespace {

bool takes(const ConvShape& s) { return s.attrs.groups == s.c && s.co == s.c; }

double row_cost(const ConvShape& s, std::int64_t rows) {
  return conv_cost(s.flops_per_sample()) / static_cast<double>(std::max<std::int64_t>(rows, 1));
}

/// The taps of one axis of the kernel that meet a pixel, and the source pixels that they read:
/// tap + i * tap_step reads from + i * from_step.
struct AxisTaps {
  std::int64_t tap = 0;
  std::int64_t tap_step = 1;
  std::int64_t count = 0;
  std::int64_t from = 0;
  std::int64_t from_step = 0;
};

/// One axis of a convolution.
struct Axis {
  std::int64_t in;
  std::int64_t out;
  std::int64_t taps;
  std::int64_t stride;
  std::int64_t dilation;
  std::int64_t pad;
};
Axis rows_of(const ConvShape& s) {
  return {s.h, s.oh, s.kh, s.attrs.stride_h, s.attrs.dilation_h, s.attrs.pad_top};
}
Axis columns_of(const ConvShape& s) {
  return {s.w, s.ow, s.kw, s.attrs.stride_w, s.attrs.dilation_w, s.attrs.pad_left};
}

/// Returns the taps that read(tap) finds inside: it returns the source pixel, below 0 for none. In
/// both directions they are equally far apart, and so are their pixels.
template <class Read>
AxisTaps axis_taps(std::int64_t taps, Read read) {
  AxisTaps found;
  for (std::int64_t t = 0; t < taps; ++t) {
    const std::int64_t from = read(t);
    if (from < 0) continue;
    if (found.count == 0) found.tap = t, found.from = from;
    if (found.count == 1) found.tap_step = t - found.tap, found.from_step = from - found.from;
    ++found.count;
  }
  return found;
}

/// Returns what each output pixel reads of the inputs.
std::vector<AxisTaps> forward_taps(const Axis& a) {
  std::vector<AxisTaps> all;
  for (std::int64_t i = 0; i < a.out; ++i) {
    all.push_back(axis_taps(a.taps, [&](std::int64_t t) {
      const std::int64_t from = i * a.stride - a.pad + t * a.dilation;
      return from < a.in ? from : -1;
    }));
  }
  return all;
}

/// Returns what each input pixel reads of the outputs' gradients.
std::vector<AxisTaps> backward_taps(const Axis& a) {
  std::vector<AxisTaps> all;
  for (std::int64_t i = 0; i < a.in; ++i) {
    all.push_back(axis_taps(a.taps, [&](std::int64_t t) {
      const std::int64_t from = i + a.pad - t * a.dilation;
      return from < 0 || from % a.stride != 0 || from / a.stride >= a.out ? -1 : from / a.stride;
    }));
  }
  return all;
}

/// Pixels of a row, `to_step` apart, that meet the same taps; from one to the next these read
/// `from_step` pixels further on.
struct Run {
  std::int64_t to = 0;
  std::int64_t count = 0;
  AxisTaps taps = {};
};
std::vector<Run> runs_of(const std::vector<AxisTaps>& pixels, std::int64_t to_step,
                         std::int64_t from_step) {
  std::vector<Run> runs;
  for (std::int64_t phase = 0; phase < to_step; ++phase) {
    for (std::int64_t i = phase; i < std::ssize(pixels); i += to_step) {
      const AxisTaps& taps = pixels[static_cast<std::size_t>(i)];
      const bool goes_on =
          i != phase && taps.count == runs.back().taps.count && taps.tap == runs.back().taps.tap &&
          (taps.count == 0 || taps.from == runs.back().taps.from + runs.back().count * from_step);
      if (!goes_on) runs.push_back({i, 0, taps});
      ++runs.back().count;
    }
  }
  return runs;
}

/// How the rows of one image follow from those of another.
struct Passes {
  std::vector<AxisTaps> rows;
  std::vector<Run> runs;
  std::int64_t to_step;
  std::int64_t from_step;
};
std::shared_ptr<const Passes> forward_passes(const ConvShape& s) {
  return std::make_shared<Passes>(Passes{forward_taps(rows_of(s)),
                                         runs_of(forward_taps(columns_of(s)), 1, s.attrs.stride_w),
                                         1, s.attrs.stride_w});
}
std::shared_ptr<const Passes> backward_passes(const ConvShape& s) {
  const std::int64_t step = s.attrs.stride_w;
  return std::make_shared<Passes>(
      Passes{backward_taps(rows_of(s)), runs_of(backward_taps(columns_of(s)), step, 1), step, 1});
}

/// Packs w (C, taps), the second operand, as (taps, C): channels are vectors.
Stage pack_weights(const ConvShape& s) {
  const std::int64_t taps = s.kh * s.kw;
  return parallel(1, [=](const Args& args) {
    const float* w = args.in(kSecond);
    for (std::int64_t t = 0; t < taps; ++t) {
      for (std::int64_t c = 0; c < s.c; ++c) args.pack()[t * s.c + c] = w[c * taps + t];
    }
  });
}

/// What follows the sums of a row.
struct RowTail {
  bool bias = false;
  Activation activation = Activation::none;
};

/// Computes the rows of output 0, `to_w` pixels wide, from operand 0, images of (from_h, from_w)
/// pixels.
Kernel by_rows(const ConvShape& s, std::shared_ptr<const Passes> passes, std::int64_t to_w,
               std::int64_t from_h, std::int64_t from_w, const RowTail& tail) {
  const std::int64_t to_h = std::ssize(passes->rows);
  const bool in_registers =
      tail.activation == Activation::none || tail.activation == Activation::relu;
  Kernel kernel;
  kernel.packed_bytes = sizeof(float) * static_cast<std::size_t>(s.weights());
  kernel.packed_operands = {kSecond};
  kernel.packing.push_back(pack_weights(s));
  kernel.scratch_bytes = sizeof(DepthwiseTap) * static_cast<std::size_t>(s.kh * s.kw);
  kernel.stages.push_back(
      parallel(tasks_for(s.n * to_h, row_cost(s, to_h)), s.n * to_h,
               [=, passes = std::move(passes)](const Args& args, const Task& task, Range range) {
                 auto* taps = reinterpret_cast<DepthwiseTap*>(task.scratch);
                 const DepthwiseTail sums{tail.bias ? args.in(Conv2dOp::In::b) : nullptr,
                                          tail.activation == Activation::relu};
                 for (std::int64_t r = range.begin; r < range.end; ++r) {
                   const AxisTaps& rows = passes->rows[static_cast<std::size_t>(r % to_h)];
                   const float* image = args.in(kFirst) + r / to_h * from_h * from_w * s.c;
                   float* row = args.out(kFirst) + r * to_w * s.c;
                   for (const Run& run : passes->runs) {
                     std::int64_t count = 0;
                     for (std::int64_t k = 0; k < rows.count; ++k) {
                       const std::int64_t from =
                           (rows.from + k * rows.from_step) * from_w + run.taps.from;
                       const std::int64_t tap =
                           (rows.tap + k * rows.tap_step) * s.kw + run.taps.tap;
                       for (std::int64_t l = 0; l < run.taps.count; ++l) {
                         taps[count++] = {(from + l * run.taps.from_step) * s.c,
                                          (tap + l * run.taps.tap_step) * s.c};
                       }
                     }
                     depthwise_sums({taps, count, image, passes->from_step * s.c, args.pack(), s.c,
                                     run.count, row + run.to * s.c, passes->to_step * s.c},
                                    sums);
                   }
                   if (!in_registers) {
                     add_bias_and_activate(row, to_w, s.c, nullptr, tail.activation);
                   }
                 }
               }));
  return kernel;
}

std::optional<Kernel> forward(const ConvShape& s, const ConvTail& tail) {
  if (!takes(s)) return std::nullopt;
  return by_rows(s, forward_passes(s), s.ow, s.h, s.w, {tail.bias, tail.activation});
}

std::optional<Kernel> grad_input(const ConvShape& s) {
  if (!takes(s)) return std::nullopt;
  return by_rows(s, backward_passes(s), s.w, s.oh, s.ow, {});
}

std::optional<Kernel> grad_weight(const ConvShape& s) {
  using In = Conv2dGradWeightOp::In;
  if (!takes(s)) return std::nullopt;
  const std::int64_t rows = s.n * s.oh;
  const int tasks = partial_gradients(s, rows, row_cost(s, s.oh));
  const std::int64_t taps = s.kh * s.kw;
  Kernel kernel;
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(tasks * s.weights());
  kernel.scratch_bytes = sizeof(float) * static_cast<std::size_t>(s.weights());
  kernel.stages.push_back(
      parallel(tasks, rows,
               [=, passes = forward_passes(s)](const Args& args, const Task& task, Range range) {
                 float* sums = reinterpret_cast<float*>(task.scratch);  // (taps, C)
                 std::fill_n(sums, s.weights(), 0.0F);
                 for (std::int64_t r = range.begin; r < range.end; ++r) {
                   const AxisTaps& of_row = passes->rows[static_cast<std::size_t>(r % s.oh)];
                   const float* x = args.in(In::x) + r / s.oh * s.in_pixels() * s.c;
                   const float* dz = args.in(In::dz) + r * s.ow * s.c;
                   for (std::int64_t k = 0; k < of_row.count; ++k) {
                     const float* line = x + (of_row.from + k * of_row.from_step) * s.w * s.c;
                     float* of_line = sums + (of_row.tap + k * of_row.tap_step) * s.kw * s.c;
                     for (const Run& run : passes->runs) {
                       depthwise_weight_sums(line + run.taps.from * s.c, passes->from_step * s.c,
                                             run.taps.from_step * s.c, run.taps.count,
                                             dz + run.to * s.c, s.c, run.count,
                                             of_line + run.taps.tap * s.c);
                     }
                   }
                 }
                 float* dw = args.work() + task.index * s.weights();  // (C, taps)
                 for (std::int64_t c = 0; c < s.c; ++c) {
                   for (std::int64_t t = 0; t < taps; ++t) dw[c * taps + t] = sums[t * s.c + c];
                 }
               }));
  kernel.stages.push_back(add_partials_stage(tasks, s.weights(), Conv2dGradWeightOp::Out::dw));
  return kernel;
}

}  // namespace

const ConvEngine& depthwise_engine() {
  static const ConvEngine engine{"depthwise", forward, grad_input, grad_weight};
  return engine;
}

}  // namespace linnet::cpu
