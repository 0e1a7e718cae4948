// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "backend/cuda/image_place.h"
#include "ops/bin_mean2d/bins.h"

namespace linnet::cuda {
namespace {

__device__ inline float part_of(const BinRange& rows, const BinRange& columns) {
  return 1.0F / static_cast<float>(rows.size() * columns.size());
}

std::optional<Kernel> prepare_bin_mean2d(const NodeView& node, const Context& /*context*/) {
  const BinShape s = bin_shape(node.attrs<BinMean2dOp>(), node.in(BinMean2dOp::In::x));
  const auto f = [=] __device__(std::int64_t out, float* y, const float* x) {
    const auto e = image_place(out, s.rows.count, s.columns.count, s.c);
    const BinRange rows = s.rows.pixels(e.row);
    const BinRange columns = s.columns.pixels(e.column);
    float sum = 0;
    for (std::int64_t h = rows.begin; h < rows.end; ++h) {
      for (std::int64_t w = columns.begin; w < columns.end; ++w) {
        sum += x[((e.n * s.rows.dim + h) * s.columns.dim + w) * s.c + e.c];
      }
    }
    y[out] = sum * part_of(rows, columns);
  };
  return each_item<float, float>("bin_mean2d", s.outputs(), f);
}

std::optional<Kernel> prepare_bin_mean2d_grad(const NodeView& node, const Context& /*context*/) {
  const BinShape s = bin_shape(node.attrs<BinMean2dGradOp>(), node.in(BinMean2dGradOp::In::dy));
  const auto f = [=] __device__(std::int64_t in, float* dx, const float* dy) {
    const auto e = image_place(in, s.rows.dim, s.columns.dim, s.c);
    const BinRange rows = s.rows.over(e.row);
    const BinRange columns = s.columns.over(e.column);
    float sum = 0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      for (std::int64_t j = columns.begin; j < columns.end; ++j) {
        sum += dy[((e.n * s.rows.count + i) * s.columns.count + j) * s.c + e.c] *
               part_of(s.rows.pixels(i), s.columns.pixels(j));
      }
    }
    dx[in] = sum;
  };
  return each_item<float, float>("bin_mean2d_grad", s.inputs(), f);
}

}  // namespace

void register_bin_mean2d(Registry& registry) {
  registry.add(BinMean2dOp::kName, prepare_bin_mean2d);
  registry.add(BinMean2dGradOp::kName, prepare_bin_mean2d_grad);
}

}  // namespace linnet::cuda
