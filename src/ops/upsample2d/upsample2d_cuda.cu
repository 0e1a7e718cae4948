// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/upsample2d/resampled_axis.h"

namespace linnet::cuda {
namespace {

struct Images {
  std::int64_t channels = 1;
  ResampledAxis rows = {};
  ResampledAxis columns = {};
};

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& /*context*/) {
  const Upsample2dAttrs attrs = node.attrs<Upsample2dOp>();
  const bool bilinear = attrs.mode == Upsampling::bilinear;
  const Shape& image = node.in(Upsample2dOp::In::x);
  const Images s{.channels = image[3],
                 .rows = {image[1], attrs.out_h, bilinear},
                 .columns = {image[2], attrs.out_w, bilinear}};
  const auto f = [=] __device__(std::int64_t at, float* y, const float* x) {
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
      return;
    }
    const float above = (1 - column.weight) * pixel(row.first, column.first) +
                        column.weight * pixel(row.first, column.second);
    const float below = (1 - column.weight) * pixel(row.second, column.first) +
                        column.weight * pixel(row.second, column.second);
    y[at] = (1 - row.weight) * above + row.weight * below;
  };
  return each_item<float, float>("upsample2d", node.out(kFirst).elements(), f);
}

/// A thread adds up what a pixel of x gets, row by row of y.
std::optional<Kernel> prepare_gradient(const NodeView& node, const Context& /*context*/) {
  const Upsample2dGradAttrs attrs = node.attrs<Upsample2dGradOp>();
  const bool bilinear = attrs.mode == Upsampling::bilinear;
  const Shape& image = node.in(Upsample2dGradOp::In::dy);
  const Images s{.channels = image[3],
                 .rows = {attrs.in_h, image[1], bilinear},
                 .columns = {attrs.in_w, image[2], bilinear}};
  const auto f = [=] __device__(std::int64_t at, float* dx, const float* dy) {
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
  };
  return each_item<float, float>("upsample2d_grad", node.out(kFirst).elements(), f);
}

}  // namespace

void register_upsample2d(Registry& registry) {
  registry.add(Upsample2dOp::kName, prepare_forward);
  registry.add(Upsample2dGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cuda
