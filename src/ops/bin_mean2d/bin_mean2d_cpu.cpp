// SPDX-License-Identifier: Apache-2.0
#include "ops/bin_mean2d/bin_mean2d.h"

#include "backend/cpu/kernel.h"
#include "ops/bin_mean2d/bins.h"

namespace linnet::cpu {
namespace {

float part_of(const BinRange& rows, const BinRange& columns) {
  return 1.0F / static_cast<float>(rows.size() * columns.size());
}

/// Returns one stage over the rows (n, i) of images of `rows` rows each.
template <class F>
Kernel over_rows(const BinShape& s, std::int64_t rows, F f) {
  const double row_cost = 0.5 * static_cast<double>(std::max(s.inputs(), s.outputs())) /
                          static_cast<double>(std::max<std::int64_t>(s.n * rows, 1));
  return one_stage(s.n * rows, row_cost, [=](const Args& args, Range range) {
    for (std::int64_t r = range.begin; r < range.end; ++r) f(args, r / rows, r % rows);
  });
}

std::optional<Kernel> prepare_forward(const NodeView& node) {
  using In = BinMean2dOp::In;
  using Out = BinMean2dOp::Out;
  const BinShape s = bin_shape(node.attrs<BinMean2dOp>(), node.in(In::x));
  return over_rows(s, s.rows.count, [s](const Args& args, std::int64_t n, std::int64_t i) {
    const BinRange rows = s.rows.pixels(i);
    float* y = args.out(Out::y) + (n * s.rows.count + i) * s.columns.count * s.c;
    for (std::int64_t j = 0; j < s.columns.count; ++j, y += s.c) {
      const BinRange columns = s.columns.pixels(j);
      std::fill_n(y, s.c, 0.0F);
      for (std::int64_t h = rows.begin; h < rows.end; ++h) {
        for (std::int64_t w = columns.begin; w < columns.end; ++w) {
          const float* x = args.in(In::x) + ((n * s.rows.dim + h) * s.columns.dim + w) * s.c;
          for (std::int64_t c = 0; c < s.c; ++c) y[c] += x[c];
        }
      }
      const float part = part_of(rows, columns);
      for (std::int64_t c = 0; c < s.c; ++c) y[c] *= part;
    }
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  using In = BinMean2dGradOp::In;
  using Out = BinMean2dGradOp::Out;
  const BinShape s = bin_shape(node.attrs<BinMean2dGradOp>(), node.in(In::dy));
  return over_rows(s, s.rows.dim, [s](const Args& args, std::int64_t n, std::int64_t h) {
    const BinRange rows = s.rows.over(h);
    float* dx = args.out(Out::dx) + (n * s.rows.dim + h) * s.columns.dim * s.c;
    for (std::int64_t w = 0; w < s.columns.dim; ++w, dx += s.c) {
      const BinRange columns = s.columns.over(w);
      std::fill_n(dx, s.c, 0.0F);
      for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        for (std::int64_t j = columns.begin; j < columns.end; ++j) {
          const float* dy = args.in(In::dy) + ((n * s.rows.count + i) * s.columns.count + j) * s.c;
          const float part = part_of(s.rows.pixels(i), s.columns.pixels(j));
          for (std::int64_t c = 0; c < s.c; ++c) dx[c] += dy[c] * part;
        }
      }
    }
  });
}

}  // namespace

void register_bin_mean2d(Registry& registry) {
  registry.add(BinMean2dOp::kName, prepare_forward);
  registry.add(BinMean2dGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
