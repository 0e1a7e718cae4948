// SPDX-License-Identifier: Apache-2.0
#include "ops/global_pool/global_pool.h"

#include "backend/cpu/kernel.h"
#include "backend/cpu/stored.h"
#include "ops/pool2d/pool2d_cpu.h"

namespace linnet::cpu {
namespace {

/// One window over each of the images (N, H, W, C).
PoolShape whole(const Shape& images) {
  const std::int64_t h = images[1];
  const std::int64_t w = images[2];
  return {.n = images[0],
          .h = h,
          .w = w,
          .c = images[3],
          .oh = 1,
          .ow = 1,
          .attrs = {.size_h = h, .size_w = w, .stride_h = h, .stride_w = w}};
}

double pixels_of(const PoolShape& s) { return static_cast<double>(s.in_pixels() * s.c); }

std::optional<Kernel> prepare_average(const NodeView& node) {
  using In = GlobalAvgPoolOp::In;
  using Out = GlobalAvgPoolOp::Out;
  const PoolShape s = whole(node.in(In::x));
  const float factor = 1.0F / static_cast<float>(s.in_pixels());
  const Stored from(node.inputs[In::x]);
  const Stored to(node.outputs[Out::y]);
  Kernel kernel =
      one_stage(s.n, 0.2 * pixels_of(s), [=](const Args& args, const Task& task, Range samples) {
        auto* block = reinterpret_cast<float*>(task.scratch);
        for (std::int64_t n = samples.begin; n < samples.end; ++n) {
          const auto pixel = [&](std::int64_t p) {
            return from.read(args.inputs[In::x], (n * s.in_pixels() + p) * s.c, s.c, block);
          };
          float* y = to.target(args.outputs[Out::y], n * s.c, block + s.c);
          std::copy_n(pixel(0), s.c, y);
          for (std::int64_t p = 1; p < s.in_pixels(); ++p) {
            const float* x = pixel(p);
            for (std::int64_t c = 0; c < s.c; ++c) y[c] += x[c];
          }
          for (std::int64_t c = 0; c < s.c; ++c) y[c] *= factor;
          to.write(y, s.c, args.outputs[Out::y], n * s.c);
        }
      });
  if (stores_bf16(node)) kernel.scratch_bytes = sizeof(float) * static_cast<std::size_t>(2 * s.c);
  return kernel;
}

std::optional<Kernel> prepare_max(const NodeView& node) {
  using In = GlobalMaxPoolOp::In;
  using Out = GlobalMaxPoolOp::Out;
  const PoolShape s = whole(node.in(In::x));
  return one_stage(s.n, 0.2 * pixels_of(s), [=](const Args& args, Range samples) {
    max_pool(s, samples, args.in(In::x), args.out(Out::y), args.out<std::int32_t>(Out::winner));
  });
}

std::optional<Kernel> prepare_average_grad(const NodeView& node) {
  using In = GlobalAvgPoolGradOp::In;
  using Out = GlobalAvgPoolGradOp::Out;
  const PoolShape s = whole(node.out(Out::dx));
  const float factor = 1.0F / static_cast<float>(s.in_pixels());
  const Stored from(node.inputs[In::dy]);
  const Stored to(node.outputs[Out::dx]);
  Kernel kernel =
      one_stage(s.n, 0.2 * pixels_of(s), [=](const Args& args, const Task& task, Range samples) {
        auto* block = reinterpret_cast<float*>(task.scratch);
        for (std::int64_t n = samples.begin; n < samples.end; ++n) {
          const float* dy = from.read(args.inputs[In::dy], n * s.c, s.c, block);
          for (std::int64_t p = n * s.in_pixels(); p < (n + 1) * s.in_pixels(); ++p) {
            float* dx = to.target(args.outputs[Out::dx], p * s.c, block + s.c);
            for (std::int64_t c = 0; c < s.c; ++c) dx[c] = dy[c] * factor;
            to.write(dx, s.c, args.outputs[Out::dx], p * s.c);
          }
        }
      });
  if (stores_bf16(node)) kernel.scratch_bytes = sizeof(float) * static_cast<std::size_t>(2 * s.c);
  return kernel;
}

std::optional<Kernel> prepare_max_grad(const NodeView& node) {
  using In = GlobalMaxPoolGradOp::In;
  using Out = GlobalMaxPoolGradOp::Out;
  const PoolShape s = whole(node.out(Out::dx));
  return one_stage(s.n, 0.2 * pixels_of(s), [=](const Args& args, Range samples) {
    max_pool_grad(s, {samples.begin * s.h, samples.end * s.h}, args.in(In::dy),
                  args.in<std::int32_t>(In::winner), args.out(Out::dx));
  });
}

}  // namespace

void register_global_pool(Registry& registry) {
  registry.add(GlobalAvgPoolOp::kName, prepare_average, Stores::bf16);
  registry.add(GlobalMaxPoolOp::kName, prepare_max);
  registry.add(GlobalAvgPoolGradOp::kName, prepare_average_grad, Stores::bf16);
  registry.add(GlobalMaxPoolGradOp::kName, prepare_max_grad);
}

}  // namespace linnet::cpu
