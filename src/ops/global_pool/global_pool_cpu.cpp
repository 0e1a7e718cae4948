// SPDX-License-Identifier: Apache-2.0
#include "ops/global_pool/global_pool.h"

#include "backend/cpu/element_wise.h"
#include "ops/pool2d/winner_cpu.h"

namespace linnet::cpu {
namespace {

/// f(args, n, pixels, channels) for every sample of images (N, H, W, C).
template <class F>
Kernel by_samples(const Shape& images, F f) {
  const std::int64_t pixels = images[1] * images[2];
  const std::int64_t channels = images[3];
  return element_wise(images[0], 0.4 * static_cast<double>(pixels * channels),
                      [=](const Args& args, Range range) {
                        for (std::int64_t n = range.begin; n < range.end; ++n) {
                          f(args, n, pixels, channels);
                        }
                      });
}

std::optional<Kernel> prepare_average(const NodeView& node) {
  return by_samples(node.in(0), [](const Args& args, std::int64_t n, std::int64_t pixels,
                                   std::int64_t channels) {
    const float* x = args.in(0) + n * pixels * channels;
    float* y = args.out(0) + n * channels;
    std::copy_n(x, channels, y);
    for (std::int64_t p = 1; p < pixels; ++p) {
      for (std::int64_t c = 0; c < channels; ++c) y[c] += x[p * channels + c];
    }
    const float factor = 1.0F / static_cast<float>(pixels);
    for (std::int64_t c = 0; c < channels; ++c) y[c] *= factor;
  });
}

std::optional<Kernel> prepare_max(const NodeView& node) {
  return by_samples(node.in(0), [](const Args& args, std::int64_t n, std::int64_t pixels,
                                   std::int64_t channels) {
    const float* x = args.in(0) + n * pixels * channels;
    float* y = args.out(0) + n * channels;
    auto* winner = args.out<std::int32_t>(1) + n * channels;
    std::copy_n(x, channels, y);
    std::fill_n(winner, channels, 0);
    for (std::int64_t p = 1; p < pixels; ++p) {
      compete(x + p * channels, channels, static_cast<std::int32_t>(p), y, winner);
    }
  });
}

std::optional<Kernel> prepare_average_grad(const NodeView& node) {
  return by_samples(node.out(0), [](const Args& args, std::int64_t n, std::int64_t pixels,
                                    std::int64_t channels) {
    const float* dy = args.in(0) + n * channels;
    float* dx = args.out(0) + n * pixels * channels;
    const float factor = 1.0F / static_cast<float>(pixels);
    for (std::int64_t p = 0; p < pixels; ++p) {
      for (std::int64_t c = 0; c < channels; ++c) dx[p * channels + c] = factor * dy[c];
    }
  });
}

std::optional<Kernel> prepare_max_grad(const NodeView& node) {
  return by_samples(node.out(0), [](const Args& args, std::int64_t n, std::int64_t pixels,
                                    std::int64_t channels) {
    const float* dy = args.in(0) + n * channels;
    const auto* winner = args.in<std::int32_t>(1) + n * channels;
    float* dx = args.out(0) + n * pixels * channels;
    std::fill_n(dx, pixels * channels, 0.0F);
    for (std::int64_t c = 0; c < channels; ++c) dx[winner[c] * channels + c] = dy[c];
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
