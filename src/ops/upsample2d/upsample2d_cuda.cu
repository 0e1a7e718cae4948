// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/upsample2d/resampled_axis.h"

namespace linnet::cuda {
namespace {

struct Images {
  std::int64_t elements = 0;  ///< of what is written
  std::int64_t channels = 1;
  ResampledAxis rows = {};
  ResampledAxis columns = {};
};

__global__ void upsample2d_kernel(const float* x, Images s, float* y) {
  for (std::int64_t at = first_item(); at < s.elements; at += grid_stride()) {
    const std::int64_t c = at % s.channels;
    const std::int64_t j = at / s.channels % s.columns.out;
    const std::int64_t i = at / s.channels / s.columns.out % s.rows.out;
    const std::int64_t n = at / s.channels / s.columns.out / s.rows.out;
    const auto row = s.rows.taps<float>(i);
    const auto column = s.columns.taps<float>(j);
    const auto pixel = [&](std::int64_t h, std::int64_t w) {
      return x[((n * s.rows.in + h) * s.columns.in + w) * s.channels + c];
    };
    if (!s.rows.bilinear) {
      y[at] = pixel(row.first, column.first);
      continue;
    }
    const float above = (1 - column.weight) * pixel(row.first, column.first) +
                        column.weight * pixel(row.first, column.second);
    const float below = (1 - column.weight) * pixel(row.second, column.first) +
                        column.weight * pixel(row.second, column.second);
    y[at] = (1 - row.weight) * above + row.weight * below;
  }
}

/// A thread adds up what a pixel of x gets, row by row of y.
__global__ void upsample2d_grad_kernel(const float* dy, Images s, float* dx) {
  for (std::int64_t at = first_item(); at < s.elements; at += grid_stride()) {
    const std::int64_t c = at % s.channels;
    const std::int64_t w = at / s.channels % s.columns.in;
    const std::int64_t h = at / s.channels / s.columns.in % s.rows.in;
    const std::int64_t n = at / s.channels / s.columns.in / s.rows.in;
    float sum = 0;
    for (std::int64_t i = s.rows.first_reader(h); i < s.rows.end_of_readers(h); ++i) {
      const float of_row = s.rows.taps<float>(i).of(h);
      if (of_row == 0) continue;
      for (std::int64_t j = s.columns.first_reader(w); j < s.columns.end_of_readers(w); ++j) {
        const float of_column = s.columns.taps<float>(j).of(w);
        if (of_column == 0) continue;
        sum += of_row * of_column * dy[((n * s.rows.out + i) * s.columns.out + j) * s.channels + c];
      }
    }
    dx[at] = sum;
  }
}

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& /*context*/) {
  const Upsample2dAttrs attrs = node.attrs<Upsample2dOp>();
  const bool bilinear = attrs.mode == Upsampling::bilinear;
  const Images s{.elements = node.out(Upsample2dOp::Out::y).elements(),
                 .channels = node.in(Upsample2dOp::In::x)[3],
                 .rows = {node.in(Upsample2dOp::In::x)[1], attrs.out_h, bilinear},
                 .columns = {node.in(Upsample2dOp::In::x)[2], attrs.out_w, bilinear}};
  return Kernel{.enqueue = [=](const Args& args) {
    if (s.elements == 0) return;
    launch(args.stream, "upsample2d", for_items(s.elements), upsample2d_kernel,
           args.in(Upsample2dOp::In::x), s, args.out(Upsample2dOp::Out::y));
  }};
}

std::optional<Kernel> prepare_gradient(const NodeView& node, const Context& /*context*/) {
  const Upsample2dGradAttrs attrs = node.attrs<Upsample2dGradOp>();
  const bool bilinear = attrs.mode == Upsampling::bilinear;
  const Images s{.elements = node.out(Upsample2dGradOp::Out::dx).elements(),
                 .channels = node.in(Upsample2dGradOp::In::dy)[3],
                 .rows = {attrs.in_h, node.in(Upsample2dGradOp::In::dy)[1], bilinear},
                 .columns = {attrs.in_w, node.in(Upsample2dGradOp::In::dy)[2], bilinear}};
  return Kernel{.enqueue = [=](const Args& args) {
    if (s.elements == 0) return;
    launch(args.stream, "upsample2d_grad", for_items(s.elements), upsample2d_grad_kernel,
           args.in(Upsample2dGradOp::In::dy), s, args.out(Upsample2dGradOp::Out::dx));
  }};
}

}  // namespace

void register_upsample2d(Registry& registry) {
  registry.add(Upsample2dOp::kName, prepare_forward);
  registry.add(Upsample2dGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cuda
