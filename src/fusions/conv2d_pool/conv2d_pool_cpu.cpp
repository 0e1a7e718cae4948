// SPDX-License-Identifier: Apache-2.0
#include "fusions/conv2d_pool/conv2d_pool_cpu.h"

#include "backend/cpu/kernel.h"
#include "core/align.h"
#include "fusions/conv2d_pool/conv2d_pool.h"

namespace linnet::cpu {
namespace {

/// Weights that a part of a batch may have sums of.
constexpr std::int64_t kWideWeights = 16 << 10;

/// Returns whether any loops take the convolution and pooling.
bool takes(const Conv2dPoolAttrs& attrs, const ConvShape& s) {
  return attrs.is_plain() && s.co % 8 == 0;
}
/// Returns whether loops for few channels do.
bool takes_narrow(const Conv2dPoolAttrs& attrs, const ConvShape& s) {
  return takes(attrs, s) && conv_pool_has(s.kh, s.kw * s.c);
}
/// Returns whether loops for many channels do.
bool takes_wide(const Conv2dPoolAttrs& attrs, const ConvShape& s) {
  return takes(attrs, s) && s.weights() <= kWideWeights && wide_conv_pool_has(s.kh, s.kw, s.c);
}

struct Images {
  ConvPoolSample sample;
  std::int64_t floats = 0;  ///< of a padded image
  bool padded = false;      ///< whether it is another one than the image
};

Images padded_images(const Conv2dPoolAttrs& attrs, const ConvShape& s) {
  const Conv2dAttrs& c = attrs.conv;
  const std::int64_t row = (s.w + c.pad_left + c.pad_right) * s.c;
  return {{.pooled_h = s.oh / 2,
           .pooled_w = s.ow / 2,
           .row = row,
           .channels = s.c,
           .out_channels = s.co,
           .kernel_h = s.kh,
           .kernel_row = s.kw * s.c,
           .relu = c.activation == Activation::relu},
          (s.h + c.pad_top + c.pad_bottom) * row,
          (c.pad_top | c.pad_bottom | c.pad_left | c.pad_right) != 0};
}

/// Puts an image into `to`, whose border is left as it is.
void put_image(const Conv2dPoolAttrs& attrs, const ConvShape& s, const Images& images,
               const float* x, float* to) {
  const Conv2dAttrs& c = attrs.conv;
  put_inside(x, s.h, s.w * s.c, to + c.pad_top * images.sample.row + c.pad_left * s.c,
             images.sample.row);
}

/// Returns an image that has its padding: x itself, or a copy in `to`, whose border is 0.
const float* with_padding(const Conv2dPoolAttrs& attrs, const ConvShape& s, const Images& images,
                          const float* x, float* to) {
  if (!images.padded) return x;
  put_image(attrs, s, images, x, to);
  return to;
}

double sample_cost(const ConvShape& s) { return s.flops_per_sample() / 60.0; }
/// One of a window's four results has a gradient.
double wide_gradient_cost(const ConvShape& s) { return sample_cost(s) / 4; }

using In = Conv2dPoolOp::In;
using Out = Conv2dPoolOp::Out;

/// Returns the stage that computes y and the winners by `run`, one sample at a time.
Stage forward_stage(const Conv2dPoolAttrs& attrs, const ConvShape& s, const Images& images,
                    std::int64_t bias_at, decltype(&conv_pool_forward) run) {
  const std::int64_t outputs = images.sample.pooled_h * images.sample.pooled_w * s.co;
  return over_samples(s.n, sample_cost(s), {In::x}, {Out::y, Out::winner},
                      [=](const Args& args, const Task& task, Range samples) {
                        auto* image = reinterpret_cast<float*>(task.scratch);
                        if (images.padded) std::fill_n(image, images.floats, 0.0F);
                        for (std::int64_t n = samples.begin; n < samples.end; ++n) {
                          const float* x = args.in(In::x) + n * s.in_pixels() * s.c;
                          run(images.sample, with_padding(attrs, s, images, x, image), args.pack(),
                              args.pack() + bias_at, args.out(Out::y) + n * outputs,
                              args.out<std::uint8_t>(Out::winner) + n * outputs);
                        }
                      });
}

std::optional<Kernel> prepare_forward(const NodeView& node) {
  const Conv2dPoolAttrs attrs = node.attrs<Conv2dPoolOp>();
  const ConvShape s = conv_shape(attrs.conv, node.in(In::x), node.in(In::w), "");
  const bool wide = takes_wide(attrs, s);
  if (!wide && !takes_narrow(attrs, s)) return std::nullopt;
  const Images images = padded_images(attrs, s);
  const std::int64_t taps = s.taps();
  Kernel kernel;
  kernel.packed_bytes = sizeof(float) * static_cast<std::size_t>((taps + 2) * s.co);
  kernel.packed_operands = {In::w};
  if (attrs.conv.bias) kernel.packed_operands.push_back(In::b);
  kernel.scratch_bytes = sizeof(float) * static_cast<std::size_t>(images.floats);
  // Weights as (taps, C_out), then the bias; or as wide_conv_pool_forward() takes both.
  kernel.packing.push_back(parallel(1, [=](const Args& args) {
    float* bias = args.pack() + taps * s.co;
    for (std::int64_t o = 0; o < s.co; ++o) {
      const float* w = args.in(In::w) + o * taps;
      const float b = attrs.conv.bias ? args.in(In::b)[o] : 0.0F;
      if (wide) {
        float* to = args.pack() + o / 8 * 8 * taps + o % 8 * 2;
        for (std::int64_t t = 0; t < taps; ++t) to[t / 2 * 16 + t % 2] = w[t];
        bias[2 * o] = b;
        bias[2 * o + 1] = 0;
      } else {
        for (std::int64_t t = 0; t < taps; ++t) args.pack()[t * s.co + o] = w[t];
        bias[o] = b;
      }
    }
  }));
  kernel.stages.push_back(forward_stage(attrs, s, images, taps * s.co,
                                        wide ? wide_conv_pool_forward : conv_pool_forward));
  return kernel;
}

/// Gradients of images of many channels by the weights.
Kernel wide_gradient(const Conv2dPoolAttrs& attrs, const ConvShape& s) {
  using GradIn = Conv2dPoolGradOp::In;
  using GradOut = Conv2dPoolGradOp::Out;
  const Images images = padded_images(attrs, s);
  const std::int64_t outputs = images.sample.pooled_h * images.sample.pooled_w * s.co;
  const std::int64_t sums = s.weights() + s.co;  // dw, then db
  const int parts = sample_parts(s.n);
  Kernel kernel;
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(parts * sums);
  kernel.scratch_bytes = sizeof(float) * static_cast<std::size_t>(images.floats);
  kernel.stages.push_back(
      over_samples(wide_gradient_cost(s),
                   {s.n,
                    {GradIn::x, GradIn::dy, GradIn::y, GradIn::winner},
                    {},
                    [=](const Args& args, const Task& task, const SampleBlock& block) {
                      auto* image = reinterpret_cast<float*>(task.scratch);
                      float* dw = args.work() + block.part * sums;
                      if (block.begins) std::fill_n(dw, sums, 0.0F);
                      if (images.padded) std::fill_n(image, images.floats, 0.0F);
                      for (std::int64_t n = block.samples.begin; n < block.samples.end; ++n) {
                        const float* x = args.in(GradIn::x) + n * s.in_pixels() * s.c;
                        wide_conv_pool_backward(images.sample,
                                                with_padding(attrs, s, images, x, image),
                                                args.in(GradIn::dy) + n * outputs,
                                                args.in(GradIn::y) + n * outputs,
                                                args.in<std::uint8_t>(GradIn::winner) + n * outputs,
                                                dw, dw + s.weights());
                      }
                    }}));
  const int adders = tasks_for(sums, 0.3 * static_cast<double>(parts));
  kernel.stages.push_back(parallel(adders, sums, [=](const Args& args, Range range) {
    float* total = args.work();
    for (int t = 1; t < parts; ++t) {
      const float* part = total + t * sums;
      for (std::int64_t i = range.begin; i < range.end; ++i) total[i] += part[i];
    }
    const std::int64_t weights = std::clamp(s.weights(), range.begin, range.end);
    std::copy(total + range.begin, total + weights, args.out(GradOut::dw) + range.begin);
    std::copy(total + weights, total + range.end, args.out(GradOut::db) + (weights - s.weights()));
  }));
  return kernel;
}

std::optional<Kernel> prepare_grad_input(const NodeView& node) {
  using GradIn = Conv2dPoolGradInputOp::In;
  const auto& op = static_cast<const Conv2dPoolGradInputOp&>(node.op);
  const Conv2dPoolAttrs attrs = op.attrs().forward;
  const ConvShape s = op.shape(node.in(GradIn::dy), node.in(GradIn::w));
  if (!takes_wide(attrs, s)) return std::nullopt;
  const Images images = padded_images(attrs, s);
  const std::int64_t floats = s.in_pixels() * s.c;
  const std::int64_t outputs = images.sample.pooled_h * images.sample.pooled_w * s.co;
  Kernel kernel = sample_stage(
      s.n, wide_gradient_cost(s), {GradIn::dy, GradIn::y, GradIn::winner},
      {Conv2dPoolGradInputOp::Out::dx}, [=](const Args& args, const Task& task, Range samples) {
        auto* image = reinterpret_cast<float*>(task.scratch);
        for (std::int64_t n = samples.begin; n < samples.end; ++n) {
          float* dx = args.out(Conv2dPoolGradInputOp::Out::dx) + n * floats;
          float* to = images.padded ? image : dx;
          std::fill_n(to, images.floats, 0.0F);
          wide_conv_pool_input(images.sample, args.in(GradIn::w), args.in(GradIn::dy) + n * outputs,
                               args.in(GradIn::y) + n * outputs,
                               args.in<std::uint8_t>(GradIn::winner) + n * outputs, to);
          if (!images.padded) continue;
          const float* from =
              to + attrs.conv.pad_top * images.sample.row + attrs.conv.pad_left * s.c;
          for (std::int64_t i = 0; i < s.h; ++i) {
            std::copy_n(from + i * images.sample.row, s.w * s.c, dx + i * s.w * s.c);
          }
        }
      });
  if (images.padded) kernel.scratch_bytes = sizeof(float) * static_cast<std::size_t>(images.floats);
  return kernel;
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  using GradIn = Conv2dPoolGradOp::In;
  using GradOut = Conv2dPoolGradOp::Out;
  const auto& op = static_cast<const Conv2dPoolGradOp&>(node.op);
  const Conv2dPoolAttrs attrs = op.attrs().forward;
  const ConvShape s = op.shape(node.in(GradIn::x), node.in(GradIn::dy));
  if (takes_wide(attrs, s)) return wide_gradient(attrs, s);
  if (!takes_narrow(attrs, s)) return std::nullopt;
  const Images images = padded_images(attrs, s);
  const std::int64_t taps = images.sample.taps();
  const std::int64_t outputs = images.sample.pooled_h * images.sample.pooled_w * s.co;
  const std::int64_t sums = (taps + 1) * s.co;  // dw as (taps, C_out), then db
  const int parts = sample_parts(s.n);
  Kernel kernel;
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(parts * sums);
  const std::int64_t image_floats = images.floats + kConvPoolSlack;
  kernel.scratch_bytes = 2 * sizeof(float) * static_cast<std::size_t>(image_floats);
  kernel.stages.push_back(
      over_samples(sample_cost(s),
                   {s.n,
                    {GradIn::x, GradIn::dy, GradIn::y, GradIn::winner},
                    {},
                    [=](const Args& args, const Task& task, const SampleBlock& block) {
                      auto* image = reinterpret_cast<float*>(task.scratch);
                      float* dw = args.work() + block.part * sums;
                      if (block.begins) std::fill_n(dw, sums, 0.0F);
                      std::fill_n(image, images.floats, 0.0F);
                      for (std::int64_t n = block.samples.begin; n < block.samples.end; ++n) {
                        put_image(attrs, s, images, args.in(GradIn::x) + n * s.in_pixels() * s.c,
                                  image);
                        conv_pool_backward(images.sample, image, args.in(GradIn::dy) + n * outputs,
                                           args.in(GradIn::y) + n * outputs,
                                           args.in<std::uint8_t>(GradIn::winner) + n * outputs, dw,
                                           dw + taps * s.co, image + image_floats);
                      }
                    }}));
  const int adders = tasks_for(taps + 1, 0.3 * static_cast<double>(parts * s.co));
  kernel.stages.push_back(parallel(adders, taps + 1, [=](const Args& args, Range rows) {
    float* total = args.work();
    for (int t = 1; t < parts; ++t) {
      const float* part = total + t * sums;
      for (std::int64_t i = rows.begin * s.co; i < rows.end * s.co; ++i) total[i] += part[i];
    }
    for (std::int64_t t = rows.begin; t < rows.end; ++t) {
      for (std::int64_t o = 0; o < s.co; ++o) {
        (t < taps ? args.out(GradOut::dw)[o * taps + t] : args.out(GradOut::db)[o]) =
            total[t * s.co + o];
      }
    }
  }));
  return kernel;
}

}  // namespace

void register_conv2d_pool(Registry& registry) {
  // At every precision in fp32, as recurrent layers: rounding costs more than its products gain.
  registry.add(Conv2dPoolOp::kName, prepare_forward);
  registry.add(Conv2dPoolGradOp::kName, prepare_gradient);
  registry.add(Conv2dPoolGradInputOp::kName, prepare_grad_input);
}

}  // namespace linnet::cpu
