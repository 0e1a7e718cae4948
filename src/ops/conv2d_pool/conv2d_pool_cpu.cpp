// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d_pool/conv2d_pool_cpu.h"

#include "backend/cpu/kernel.h"
#include "core/align.h"
#include "ops/conv2d_pool/conv2d_pool.h"

namespace linnet::cpu {
namespace {

/// Returns what of a convolution the loops take, and the shape of a sample with its padding.
bool takes(const Conv2dPoolAttrs& attrs, const ConvShape& s) {
  const Conv2dAttrs& c = attrs.conv;
  return c.stride_h == 1 && c.stride_w == 1 && c.dilation_h == 1 && c.dilation_w == 1 &&
         c.groups == 1 && attrs.pool == Pool2dAttrs{} && s.co % 8 == 0 &&
         (c.activation == Activation::none || c.activation == Activation::relu) &&
         conv_pool_has(s.kh, s.kw * s.c);
}

struct Images {
  ConvPoolSample sample;
  std::int64_t floats = 0;  ///< of a padded image
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
          (s.h + c.pad_top + c.pad_bottom) * row};
}

/// Puts an image into `to`, whose border is left as it is.
void put_image(const Conv2dPoolAttrs& attrs, const ConvShape& s, const Images& images,
               const float* x, float* to) {
  const Conv2dAttrs& c = attrs.conv;
  put_inside(x, s.h, s.w * s.c, to + c.pad_top * images.sample.row + c.pad_left * s.c,
             images.sample.row);
}

double sample_cost(const ConvShape& s) { return s.flops_per_sample() / 60.0; }

std::optional<Kernel> prepare_forward(const NodeView& node) {
  using In = Conv2dPoolOp::In;
  using Out = Conv2dPoolOp::Out;
  const Conv2dPoolAttrs attrs = node.attrs<Conv2dPoolOp>();
  const ConvShape s = conv_shape(attrs.conv, node.in(In::x), node.in(In::w), "");
  if (!takes(attrs, s)) return std::nullopt;
  const Images images = padded_images(attrs, s);
  const std::int64_t taps = images.sample.taps();
  const std::int64_t outputs = images.sample.pooled_h * images.sample.pooled_w * s.co;
  const bool padded = images.floats > s.in_pixels() * s.c;
  Kernel kernel;
  // Weights as (taps, C_out), then the bias.
  kernel.packed_bytes = sizeof(float) * static_cast<std::size_t>((taps + 1) * s.co);
  kernel.packed_operands = {Conv2dPoolOp::In::w};
  if (attrs.conv.bias) kernel.packed_operands.push_back(Conv2dPoolOp::In::b);
  kernel.scratch_bytes = sizeof(float) * static_cast<std::size_t>(images.floats);
  kernel.packing.push_back(parallel(1, [=](const Args& args) {
    for (std::int64_t o = 0; o < s.co; ++o) {
      for (std::int64_t t = 0; t < taps; ++t)
        args.pack()[t * s.co + o] = args.in(In::w)[o * taps + t];
      args.pack()[taps * s.co + o] = attrs.conv.bias ? args.in(In::b)[o] : 0.0F;
    }
  }));
  kernel.stages.push_back(
      over_samples(s.n, sample_cost(s), {In::x}, {Out::y, Out::winner},
                   [=](const Args& args, const Task& task, Range samples) {
                     auto* image = reinterpret_cast<float*>(task.scratch);
                     if (padded) std::fill_n(image, images.floats, 0.0F);
                     for (std::int64_t n = samples.begin; n < samples.end; ++n) {
                       const float* x = args.in(In::x) + n * s.in_pixels() * s.c;
                       if (padded) put_image(attrs, s, images, x, image);
                       conv_pool_forward(images.sample, padded ? image : x, args.pack(),
                                         args.pack() + taps * s.co, args.out(Out::y) + n * outputs,
                                         args.out<std::uint8_t>(Out::winner) + n * outputs);
                     }
                   }));
  return kernel;
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  using In = Conv2dPoolGradOp::In;
  using Out = Conv2dPoolGradOp::Out;
  const auto& op = static_cast<const Conv2dPoolGradOp&>(node.op);
  const Conv2dPoolAttrs attrs = op.attrs().forward;
  const ConvShape s = op.shape(node.in(In::x), node.in(In::dy));
  if (!takes(attrs, s)) return std::nullopt;
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
                    {In::x, In::dy, In::y, In::winner},
                    {},
                    [=](const Args& args, const Task& task, const SampleBlock& block) {
                      auto* image = reinterpret_cast<float*>(task.scratch);
                      float* dw = args.work() + block.part * sums;
                      if (block.begins) std::fill_n(dw, sums, 0.0F);
                      std::fill_n(image, images.floats, 0.0F);
                      for (std::int64_t n = block.samples.begin; n < block.samples.end; ++n) {
                        put_image(attrs, s, images, args.in(In::x) + n * s.in_pixels() * s.c,
                                  image);
                        conv_pool_backward(images.sample, image, args.in(In::dy) + n * outputs,
                                           args.in(In::y) + n * outputs,
                                           args.in<std::uint8_t>(In::winner) + n * outputs, dw,
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
        (t < taps ? args.out(Out::dw)[o * taps + t] : args.out(Out::db)[o]) = total[t * s.co + o];
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
}

}  // namespace linnet::cpu
