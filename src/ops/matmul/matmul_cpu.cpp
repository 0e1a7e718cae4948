// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/matmul.h"

#include "backend/cpu/kernel.h"
#include "backend/cpu/products/gemm.h"

namespace linnet::cpu {
namespace {

/// Few products are cut into bands of rows as well, so that no processor is left without one.
constexpr std::int64_t kBandRows = 64;
constexpr std::int64_t kManyProducts = 16;

std::optional<Kernel> prepare_matmul(const NodeView& node) {
  using In = MatmulOp::In;
  using Out = MatmulOp::Out;
  const MatmulAttrs attrs = node.attrs<MatmulOp>();
  const MatmulDims e(attrs, node.in(In::a), node.in(In::b));
  const std::int64_t band = e.products < kManyProducts ? kBandRows : std::max<std::int64_t>(e.m, 1);
  const std::int64_t bands = (e.m + band - 1) / band;
  const std::int64_t items = e.products * bands;
  // Nanoseconds of one core at a cautious 20 GFLOP/s, and what a call costs.
  const double cost = 500 + 2.0 * static_cast<double>(std::min(band, e.m)) *
                                static_cast<double>(e.n) * static_cast<double>(e.k) / 20.0;
  const int tasks = tasks_for(items, cost);
  Kernel kernel;
  kernel.scratch_bytes = gemm_scratch_bytes({std::min(band, e.m), e.n, e.k});
  kernel.stages.push_back(
      parallel(tasks, items, [=](const Args& args, const Task& task, Range range) {
        for (std::int64_t i = range.begin; i < range.end; ++i) {
          const std::int64_t product = i / bands;
          const std::int64_t row = i % bands * band;
          const std::int64_t rows = std::min(band, e.m - row);
          const float* a = args.in(In::a) + product * e.m * e.k;
          const float* b = args.in(In::b) + product * e.k * e.n;
          float* y = args.out(Out::y) + (product * e.m + row) * e.n;
          const Matrix left =
              attrs.transpose_a ? Matrix{a + row, e.m, true} : Matrix{a + row * e.k, e.k, false};
          const Matrix right{b, attrs.transpose_b ? e.k : e.n, attrs.transpose_b};
          gemm({rows, e.n, e.k}, left, right, y, e.n, task.scratch);
        }
      }));
  return kernel;
}

}  // namespace

void register_matmul(Registry& registry) { registry.add_product(MatmulOp::kName, prepare_matmul); }

}  // namespace linnet::cpu
