// SPDX-License-Identifier: Apache-2.0
#include "ops/global_pool/global_pool.h"

#include "backend/cpu/kernel.h"
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
  return one_stage(s.n, 0.2 * pixels_of(s), [=](const Args& args, Range samples) {
    for (std::int64_t n = samples.begin; n < samples.end; ++n) {
      const float* x = args.in(In::x) + n * s.in_pixels() * s.c;
      float* y = args.out(Out::y) + n * s.c;
      std::copy_n(x, s.c, y);
      for (std::int64_t p = 1; p < s.in_pixels(); ++p) {
        for (std::int64_t c = 0; c < s.c; ++c) y[c] += x[p * s.c + c];
      }
      for (std::int64_t c = 0; c < s.c; ++c) y[c] *= factor;
    }
  });
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
  return one_stage(s.n, 0.2 * pixels_of(s), [=](const Args& args, Range samples) {
    average_pool_grad(s, {samples.begin * s.h, samples.end * s.h}, factor, args.in(In::dy),
                      args.out(Out::dx));
  });
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
  registry.add(GlobalAvgPoolOp::kName, prepare_average);
  registry.add(GlobalMaxPoolOp::kName, prepare_max);
  registry.add(GlobalAvgPoolGradOp::kName, prepare_average_grad);
  registry.add(GlobalMaxPoolGradOp::kName, prepare_max_grad);
}

}  // namespace linnet::cpu
