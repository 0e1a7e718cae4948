// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/gemm.h"
#include "backend/cpu/partial_sums.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/conv2d/engine_cpu.h"

namespace linnet::cpu {
namespace {

bool takes(const ConvShape& s) {
  const Conv2dAttrs& a = s.attrs;
  return s.kh == 1 && s.kw == 1 && a.stride_h == 1 && a.stride_w == 1 && a.groups == 1 &&
         a.pad_top == 0 && a.pad_bottom == 0 && a.pad_left == 0 && a.pad_right == 0;
}

/// Multiplies x (pixels, C) and w (C_out, C) to y (pixels, C_out).
double cost(std::int64_t a, std::int64_t b) {
  return conv_cost(2.0 * static_cast<double>(a) * static_cast<double>(b));
}

std::optional<Kernel> forward(const ConvShape& s, const ConvTail& tail) {
  using In = Conv2dOp::In;
  using Out = Conv2dOp::Out;
  if (!takes(s)) return std::nullopt;
  const std::int64_t c = s.c;
  const std::int64_t co = s.co;
  const ProductTasks tasks({s.n * s.in_pixels(), co, c});
  Kernel kernel;
  kernel.scratch_bytes = tasks.scratch_bytes();
  kernel.stages.push_back(parallel(tasks.count(), [=](const Args& args, const Task& task) {
    const auto [rows, columns] = tasks.block(task.index);
    const std::int64_t first = rows.begin * co + columns.begin;
    float* y = args.out(Out::y) + first;
    gemm({rows.size(), columns.size(), c}, {args.in(In::x) + rows.begin * c, c},
         {args.in(In::w) + columns.begin * c, c, true}, y, co, task.scratch);
    add_bias_and_activate(y, rows.size(), columns.size(),
                          tail.bias ? args.in(In::b) + columns.begin : nullptr, tail.activation, co,
                          tail.residual ? args.in(kResidual) + first : nullptr);
  }));
  return kernel;
}

std::optional<Kernel> grad_input(const ConvShape& s) {
  using In = Conv2dGradInputOp::In;
  using Out = Conv2dGradInputOp::Out;
  if (!takes(s)) return std::nullopt;
  const std::int64_t c = s.c;
  const std::int64_t co = s.co;
  const ProductTasks tasks({s.n * s.in_pixels(), c, co});
  Kernel kernel;
  kernel.scratch_bytes = tasks.scratch_bytes();
  kernel.stages.push_back(parallel(tasks.count(), [=](const Args& args, const Task& task) {
    const auto [rows, columns] = tasks.block(task.index);
    gemm({rows.size(), columns.size(), co}, {args.in(In::dz) + rows.begin * co, co},
         {args.in(In::w) + columns.begin, c}, args.out(Out::dx) + rows.begin * c + columns.begin, c,
         task.scratch);
  }));
  return kernel;
}

/// Long and thin: partial products of ranges of pixels, added up. Otherwise tasks take blocks of dw
/// and sum over all pixels themselves.
std::optional<Kernel> grad_weight(const ConvShape& s) {
  using In = Conv2dGradWeightOp::In;
  using Out = Conv2dGradWeightOp::Out;
  if (!takes(s)) return std::nullopt;
  const std::int64_t pixels = s.n * s.in_pixels();
  const std::int64_t c = s.c;
  const std::int64_t co = s.co;
  Kernel kernel;
  if (pixels > 4 * std::max(c, co)) {
    const int tasks = partial_gradients(s, pixels, cost(c, co));
    constexpr std::int64_t kChannelsAtLeast = 128;  // for which x is worth packing again
    const int shares = share_tasks(tasks, pixels, cost(c, co), co / kChannelsAtLeast);
    kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(tasks * co * c);
    kernel.scratch_bytes = gemm_scratch_bytes({co, c, pixels});
    kernel.stages.push_back(parallel(tasks * shares, [=](const Args& args, const Task& task) {
      const int partial = task.index / shares;
      const Range rows = split(pixels, tasks, partial);
      const Range channels = split(co, shares, task.index % shares);
      gemm({channels.size(), c, rows.size()},
           {args.in(In::dz) + rows.begin * co + channels.begin, co, true},
           {args.in(In::x) + rows.begin * c, c}, args.work() + (partial * co + channels.begin) * c,
           c, task.scratch);
    }));
    kernel.stages.push_back(add_partials_stage(tasks, co * c, Conv2dGradWeightOp::Out::dw));
    return kernel;
  }
  const ProductTasks tasks({co, c, pixels}, true);
  kernel.scratch_bytes = tasks.scratch_bytes();
  kernel.stages.push_back(parallel(tasks.count(), [=](const Args& args, const Task& task) {
    const auto [rows, columns] = tasks.block(task.index);
    gemm({rows.size(), columns.size(), pixels}, {args.in(In::dz) + rows.begin, co, true},
         {args.in(In::x) + columns.begin, c}, args.out(Out::dw) + rows.begin * c + columns.begin, c,
         task.scratch);
  }));
  return kernel;
}

}  // namespace

const ConvEngine& pointwise_engine() {
  static const ConvEngine engine{"pointwise", forward, grad_input, grad_weight, true};
  return engine;
}

}  // namespace linnet::cpu
