// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/partial_sums.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/conv2d/engine_cpu.h"

namespace linnet::cpu {
namespace {

bool takes(const ConvShape& s) { return s.attrs.groups == s.c && s.co == s.c; }

double sample_cost(const ConvShape& s) { return 4 * conv_cost(s.flops_per_sample()); }

/// Calls f(input pixel, tap, output pixel) for every tap inside the image of one sample.
template <class F>
void for_each_tap(const ConvShape& s, F f) {
  const Conv2dAttrs& a = s.attrs;
  for (std::int64_t i = 0; i < s.oh; ++i) {
    for (std::int64_t j = 0; j < s.ow; ++j) {
      for (std::int64_t k = 0; k < s.kh; ++k) {
        const std::int64_t row = i * a.stride_h - a.pad_top + k * a.dilation_h;
        if (row < 0 || row >= s.h) continue;
        for (std::int64_t l = 0; l < s.kw; ++l) {
          const std::int64_t column = j * a.stride_w - a.pad_left + l * a.dilation_w;
          if (column < 0 || column >= s.w) continue;
          f(row * s.w + column, k * s.kw + l, i * s.ow + j);
        }
      }
    }
  }
}

/// sums[i] += a[i] * b[i], one vector of channels.
inline void multiply_add(const float* a, const float* b, float* sums, std::int64_t channels) {
  for (std::int64_t c = 0; c < channels; ++c) sums[c] += a[c] * b[c];
}

/// Returns a stage that puts w (C, taps) as (taps, C) into the workspace, where channels are
/// vectors.
Stage transpose_weights(const ConvShape& s) {
  const std::int64_t taps = s.kh * s.kw;
  return parallel(1, [=](const Args& args) {
    const float* w = args.in(Conv2dOp::In::w);
    for (std::int64_t c = 0; c < s.c; ++c) {
      for (std::int64_t t = 0; t < taps; ++t) args.work()[t * s.c + c] = w[c * taps + t];
    }
  });
}

/// Per sample, operand 0 (`from` pixels) into output 0 (`to` pixels), which starts at zero:
/// `add(from, weights, to)` adds all taps, then `finish(args, to)`.
template <class Add, class Finish>
Kernel by_samples(const ConvShape& s, std::int64_t from_pixels, std::int64_t to_pixels, Add add,
                  Finish finish) {
  const int tasks = tasks_for(s.n, sample_cost(s));
  Kernel kernel;
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(s.weights());
  kernel.stages.push_back(transpose_weights(s));
  kernel.stages.push_back(parallel(tasks, s.n, [=](const Args& args, Range samples) {
    for (std::int64_t n = samples.begin; n < samples.end; ++n) {
      float* to = args.out(kFirst) + n * to_pixels * s.c;
      std::fill_n(to, to_pixels * s.c, 0.0F);
      add(args.in(kFirst) + n * from_pixels * s.c, args.work(), to);
      finish(args, to);
    }
  }));
  return kernel;
}

std::optional<Kernel> forward(const ConvShape& s, const ConvTail& tail) {
  if (!takes(s)) return std::nullopt;
  return by_samples(
      s, s.in_pixels(), s.out_pixels(),
      [=](const float* x, const float* w, float* y) {
        for_each_tap(s, [&](std::int64_t in, std::int64_t tap, std::int64_t out) {
          multiply_add(x + in * s.c, w + tap * s.c, y + out * s.c, s.c);
        });
      },
      [=](const Args& args, float* y) {
        add_bias_and_activate(y, s.out_pixels(), s.c,
                              tail.bias ? args.in(Conv2dOp::In::b) : nullptr, tail.activation);
      });
}

std::optional<Kernel> grad_input(const ConvShape& s) {
  if (!takes(s)) return std::nullopt;
  return by_samples(
      s, s.out_pixels(), s.in_pixels(),
      [=](const float* dz, const float* w, float* dx) {
        for_each_tap(s, [&](std::int64_t in, std::int64_t tap, std::int64_t out) {
          multiply_add(dz + out * s.c, w + tap * s.c, dx + in * s.c, s.c);
        });
      },
      [](const Args&, float*) {});
}

std::optional<Kernel> grad_weight(const ConvShape& s) {
  using In = Conv2dGradWeightOp::In;
  if (!takes(s)) return std::nullopt;
  const int tasks = partial_gradients(s, s.n, sample_cost(s));
  const std::int64_t taps = s.kh * s.kw;
  Kernel kernel;
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(tasks * s.weights());
  kernel.scratch_bytes = sizeof(float) * static_cast<std::size_t>(s.weights());
  kernel.stages.push_back(
      parallel(tasks, s.n, [=](const Args& args, const Task& task, Range samples) {
        float* sums = reinterpret_cast<float*>(task.scratch);  // (taps, C)
        std::fill_n(sums, s.weights(), 0.0F);
        for (std::int64_t n = samples.begin; n < samples.end; ++n) {
          const float* x = args.in(In::x) + n * s.in_pixels() * s.c;
          const float* dz = args.in(In::dz) + n * s.out_pixels() * s.c;
          for_each_tap(s, [&](std::int64_t in, std::int64_t tap, std::int64_t out) {
            multiply_add(x + in * s.c, dz + out * s.c, sums + tap * s.c, s.c);
          });
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
