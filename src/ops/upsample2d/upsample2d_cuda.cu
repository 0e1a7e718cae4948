// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "backend/cuda/image_place.h"
#include "ops/upsample2d/resampled_axis.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_upsample2d(const NodeView& node, const Context& /*context*/) {
  const Upsample2dAttrs attrs = node.attrs<Upsample2dOp>();
  const bool bilinear = attrs.mode == Upsampling::bilinear;
  const Shape& image = node.in(Upsample2dOp::In::x);
  const ResampledAxis rows{image[1], attrs.out_h, bilinear};
  const ResampledAxis columns{image[2], attrs.out_w, bilinear};
  const std::int64_t channels = image[3];
  const auto f = [=] __device__(std::int64_t at, float* y, const float* x) {
    const auto e = image_place(at, rows.out, columns.out, channels);
    const auto row = rows.taps<float>(e.row);
    const auto column = columns.taps<float>(e.column);
    const auto pixel = [&](std::int64_t h, std::int64_t w) {
      return x[((e.n * rows.in + h) * columns.in + w) * channels + e.c];
    };
    if (!rows.bilinear) {
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
std::optional<Kernel> prepare_upsample2d_grad(const NodeView& node, const Context& /*context*/) {
  const Upsample2dGradAttrs attrs = node.attrs<Upsample2dGradOp>();
  const bool bilinear = attrs.mode == Upsampling::bilinear;
  const Shape& image = node.in(Upsample2dGradOp::In::dy);
  const ResampledAxis rows{attrs.in_h, image[1], bilinear};
  const ResampledAxis columns{attrs.in_w, image[2], bilinear};
  const std::int64_t channels = image[3];
  const auto f = [=] __device__(std::int64_t at, float* dx, const float* dy) {
    const auto [n, h, w, c] = image_place(at, rows.in, columns.in, channels);
    float sum = 0;
    for (std::int64_t i = rows.first_reader(h); i < rows.end_of_readers(h); ++i) {
      const float of_row = rows.taps<float>(i).of(h);
      if (of_row == 0) continue;
      for (std::int64_t j = columns.first_reader(w); j < columns.end_of_readers(w); ++j) {
        const float of_column = columns.taps<float>(j).of(w);
        if (of_column == 0) continue;
        sum += of_row * of_column * dy[((n * rows.out + i) * columns.out + j) * channels + c];
      }
    }
    dx[at] = sum;
  };
  return each_item<float, float>("upsample2d_grad", node.out(kFirst).elements(), f);
}

}  // namespace

void register_upsample2d(Registry& registry) {
  registry.add(Upsample2dOp::kName, prepare_upsample2d);
  registry.add(Upsample2dGradOp::kName, prepare_upsample2d_grad);
}

}  // namespace linnet::cuda
