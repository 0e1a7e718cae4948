// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/partial_sums.h"
#include "backend/cpu/products/gemm.h"
#include "core/align.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/conv2d/engine_cpu.h"
#include "ops/conv2d/patches_cpu.h"

namespace linnet::cpu {
namespace {

/// Patches of one block: they should stay in a core's L2 cache between gathering and multiplying.
constexpr std::int64_t kBlockFloats = std::int64_t{48} << 10;
/// Patches of the whole batch, where they replace partial sums of large weights.
constexpr std::int64_t kWholeFloats = std::int64_t{4} << 20;

std::int64_t line_floats(const ConvShape& s) { return s.ow * s.taps(); }
std::int64_t lines(const ConvShape& s) { return s.n * s.oh; }
double line_cost(const ConvShape& s) {
  return conv_cost(s.flops_per_sample()) / static_cast<double>(s.oh);
}

/// Lines of a block, at most `limit`.
std::int64_t block_lines(const ConvShape& s, std::int64_t limit) {
  return std::clamp<std::int64_t>(kBlockFloats / std::max<std::int64_t>(line_floats(s), 1), 1,
                                  std::max<std::int64_t>(limit, 1));
}

std::size_t block_bytes(const ConvShape& s, std::int64_t lines_of_block) {
  return align_up(sizeof(float) * static_cast<std::size_t>(lines_of_block * line_floats(s)));
}

/// Scratch of a block: its patches, and after them what its product (m, n, k) packs.
std::size_t scratch_bytes(const ConvShape& s, std::int64_t size, const GemmShape& product) {
  return block_bytes(s, size) + gemm_scratch_bytes(product);
}

/// Calls f(begin, end) for the blocks of a range of lines.
template <class F>
void for_each_block(Range range, std::int64_t size, F f) {
  for (std::int64_t begin = range.begin; begin < range.end; begin += size) {
    f(begin, std::min(begin + size, range.end));
  }
}

std::optional<Kernel> forward(const ConvShape& s, const ConvTail& tail) {
  using In = Conv2dOp::In;
  using Out = Conv2dOp::Out;
  const int tasks = tasks_for(lines(s), line_cost(s));
  const std::int64_t size = block_lines(s, lines(s));
  const std::int64_t k = s.taps();
  const std::int64_t co = s.group_out();
  Kernel kernel;
  kernel.scratch_bytes = scratch_bytes(s, size, {size * s.ow, co, k});
  kernel.stages.push_back(
      parallel(tasks, lines(s), [=](const Args& args, const Task& task, Range range) {
        float* patches = reinterpret_cast<float*>(task.scratch);
        std::byte* packed = task.scratch + block_bytes(s, size);
        for_each_block(range, size, [&](std::int64_t l0, std::int64_t l1) {
          const std::int64_t rows = (l1 - l0) * s.ow;
          float* y = args.out(Out::y) + l0 * s.ow * s.co;
          for (std::int64_t g = 0; g < s.attrs.groups; ++g) {
            gather_patches(s, g, l0, l1, args.in(In::x), patches);
            gemm({rows, co, k}, {patches, k}, {args.in(In::w) + g * co * k, k, true}, y + g * co,
                 s.co, packed);
          }
          add_bias_and_activate(y, rows, s.co, tail.bias ? args.in(In::b) : nullptr,
                                tail.activation);
        });
      }));
  return kernel;
}

/// Samples are the tasks' own: patches of one overlap.
std::optional<Kernel> grad_input(const ConvShape& s) {
  using In = Conv2dGradInputOp::In;
  using Out = Conv2dGradInputOp::Out;
  const int tasks = tasks_for(s.n, conv_cost(s.flops_per_sample()));
  const std::int64_t size = block_lines(s, s.oh);
  const std::int64_t k = s.taps();
  const std::int64_t co = s.group_out();
  Kernel kernel;
  kernel.scratch_bytes = scratch_bytes(s, size, {size * s.ow, k, co});
  kernel.stages.push_back(
      parallel(tasks, s.n, [=](const Args& args, const Task& task, Range samples) {
        float* patches = reinterpret_cast<float*>(task.scratch);
        std::byte* packed = task.scratch + block_bytes(s, size);
        const std::int64_t sample = s.in_pixels() * s.c;
        for (std::int64_t n = samples.begin; n < samples.end; ++n) {
          std::fill_n(args.out(Out::dx) + n * sample, sample, 0.0F);
          for_each_block({n * s.oh, (n + 1) * s.oh}, size, [&](std::int64_t l0, std::int64_t l1) {
            for (std::int64_t g = 0; g < s.attrs.groups; ++g) {
              gemm({(l1 - l0) * s.ow, k, co}, {args.in(In::dz) + l0 * s.ow * s.co + g * co, s.co},
                   {args.in(In::w) + g * co * k, k}, patches, k, packed);
              scatter_patches(s, g, l0, l1, patches, args.out(Out::dx));
            }
          });
        }
      }));
  return kernel;
}

/// Each task sums over its own lines, then the partial sums are added.
Kernel grad_weight_by_lines(const ConvShape& s) {
  using In = Conv2dGradWeightOp::In;
  const int tasks = partial_gradients(s, lines(s), line_cost(s));
  const std::int64_t size = block_lines(s, lines(s));
  const std::int64_t k = s.taps();
  const std::int64_t co = s.group_out();
  Kernel kernel;
  kernel.scratch_bytes = scratch_bytes(s, size, {co, k, size * s.ow});
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(tasks * s.weights());
  kernel.stages.push_back(
      parallel(tasks, lines(s), [=](const Args& args, const Task& task, Range range) {
        float* patches = reinterpret_cast<float*>(task.scratch);
        std::byte* packed = task.scratch + block_bytes(s, size);
        float* dw = args.work() + task.index * s.weights();
        std::fill_n(dw, s.weights(), 0.0F);
        for_each_block(range, size, [&](std::int64_t l0, std::int64_t l1) {
          for (std::int64_t g = 0; g < s.attrs.groups; ++g) {
            gather_patches(s, g, l0, l1, args.in(In::x), patches);
            gemm({co, k, (l1 - l0) * s.ow},
                 {args.in(In::dz) + l0 * s.ow * s.co + g * co, s.co, true}, {patches, k},
                 dw + g * co * k, k, packed, true);
          }
        });
      }));
  kernel.stages.push_back(add_partials_stage(tasks, s.weights(), Conv2dGradWeightOp::Out::dw));
  return kernel;
}

/// Small images: the patches of the whole batch are few, so one product a block of dw's columns.
Kernel grad_weight_whole(const ConvShape& s) {
  using In = Conv2dGradWeightOp::In;
  using Out = Conv2dGradWeightOp::Out;
  const std::int64_t k = s.taps();
  const std::int64_t rows = lines(s) * s.ow;
  const int gatherers = tasks_for(lines(s), 0.3 * static_cast<double>(line_floats(s)));
  const ProductTasks tasks({s.co, k, rows}, PackedSides::both);
  Kernel kernel;
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(rows * k);
  kernel.scratch_bytes = tasks.scratch_bytes();
  kernel.stages.push_back(parallel(gatherers, lines(s), [=](const Args& args, Range range) {
    gather_patches(s, 0, range.begin, range.end, args.in(In::x),
                   args.work() + range.begin * line_floats(s));
  }));
  kernel.stages.push_back(parallel(tasks.count(), [=](const Args& args, const Task& task) {
    const auto [part, columns] = tasks.block(task.index);
    gemm({part.size(), columns.size(), rows}, {args.in(In::dz) + part.begin, s.co, true},
         {args.work() + columns.begin, k}, args.out(Out::dw) + part.begin * k + columns.begin, k,
         task.scratch);
  }));
  return kernel;
}

std::optional<Kernel> grad_weight(const ConvShape& s) {
  const std::int64_t rows = lines(s) * s.ow;
  const bool whole =
      s.attrs.groups == 1 && rows > 0 && rows <= 4 * s.taps() && rows * s.taps() <= kWholeFloats;
  return whole ? grad_weight_whole(s) : grad_weight_by_lines(s);
}

}  // namespace

const ConvEngine& im2col_engine() {
  static const ConvEngine engine{"im2col", forward, grad_input, grad_weight};
  return engine;
}

}  // namespace linnet::cpu
