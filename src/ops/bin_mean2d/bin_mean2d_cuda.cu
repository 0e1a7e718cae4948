// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/bin_mean2d/bins.h"

namespace linnet::cuda {
namespace {

/// An element of an array (n, rows, columns, channels).
struct Element {
  std::int64_t n;
  std::int64_t row;
  std::int64_t column;
  std::int64_t c;
};

__device__ inline Element element(std::int64_t index, std::int64_t rows, std::int64_t columns,
                                  std::int64_t channels) {
  const std::int64_t pixel = index / channels;
  const std::int64_t line = pixel / columns;
  return {line / rows, line % rows, pixel - line * columns, index - pixel * channels};
}

__device__ inline float part_of(const BinRange& rows, const BinRange& columns) {
  return 1.0F / static_cast<float>(rows.size() * columns.size());
}

__global__ void mean_kernel(BinShape s, const float* x, float* y) {
  for (std::int64_t out = first_item(); out < s.outputs(); out += grid_stride()) {
    const Element e = element(out, s.rows.count, s.columns.count, s.c);
    const BinRange rows = s.rows.pixels(e.row);
    const BinRange columns = s.columns.pixels(e.column);
    float sum = 0;
    for (std::int64_t h = rows.begin; h < rows.end; ++h) {
      for (std::int64_t w = columns.begin; w < columns.end; ++w) {
        sum += x[((e.n * s.rows.dim + h) * s.columns.dim + w) * s.c + e.c];
      }
    }
    y[out] = sum * part_of(rows, columns);
  }
}

__global__ void gradient_kernel(BinShape s, const float* dy, float* dx) {
  for (std::int64_t in = first_item(); in < s.inputs(); in += grid_stride()) {
    const Element e = element(in, s.rows.dim, s.columns.dim, s.c);
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
  }
}

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& /*context*/) {
  using In = BinMean2dOp::In;
  using Out = BinMean2dOp::Out;
  const BinShape s = bin_shape(node.attrs<BinMean2dOp>(), node.in(In::x));
  return Kernel{.enqueue = [s](const Args& args) {
    if (s.outputs() == 0) return;
    launch(args.stream, "bin_mean2d", for_items(s.outputs()), mean_kernel, s, args.in(In::x),
           args.out(Out::y));
  }};
}

std::optional<Kernel> prepare_gradient(const NodeView& node, const Context& /*context*/) {
  using In = BinMean2dGradOp::In;
  using Out = BinMean2dGradOp::Out;
  const BinShape s = bin_shape(node.attrs<BinMean2dGradOp>(), node.in(In::dy));
  return Kernel{.enqueue = [s](const Args& args) {
    if (s.inputs() == 0) return;
    launch(args.stream, "bin_mean2d_grad", for_items(s.inputs()), gradient_kernel, s,
           args.in(In::dy), args.out(Out::dx));
  }};
}

}  // namespace

void register_bin_mean2d(Registry& registry) {
  registry.add(BinMean2dOp::kName, prepare_forward);
  registry.add(BinMean2dGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cuda
