// SPDX-License-Identifier: Apache-2.0
// A task takes the queries of a matrix some at a time, so that their weights stay in the cache.
#include "fusions/attention/attention_cpu.h"

#include <algorithm>
#include <cmath>

#include "backend/cpu/kernel.h"
#include "backend/cpu/products/panel_product.h"
#include "ops/softmax/row_softmax_cpu.h"

namespace linnet::cpu {
namespace {

/// Returns how many queries are taken at once: the fewer, the more keys there are.
std::int64_t queries_at_once(const AttentionDims& e) {
  const std::int64_t fitting = kAttentionFloats / e.keys / kAttentionTile * kAttentionTile;
  return std::clamp(std::min(fitting, e.queries), 2 * kAttentionTile, 8 * kAttentionTile);
}

/// Memory of a task.
struct Scratch {
  Scratch(const AttentionDims& e, Pieces& pieces)
      : rows(queries_at_once(e)),
        stride(ColumnBlocks::whole(e.keys)),
        keys(e.size, e.keys, pieces),
        values(pieces.take(static_cast<std::int64_t>(panel_floats(e.keys, e.width)))),
        queries(pieces.take(rows * e.size)),
        weights(pieces.take(rows * stride)),
        factors(pieces.take(rows)),
        from(pieces.take<const float*>(rows)),
        to(pieces.take<float*>(rows)) {}

  std::int64_t rows;    ///< queries that are taken at once
  std::int64_t stride;  ///< floats from one row of weights to the next
  ColumnBlocks keys;
  float* values;
  float* queries;  ///< scaled
  float* weights;
  float* factors;  ///< what a row's weights add up to, inverse
  const float** from;
  float** to;
};

/// The operands and results of one matrix.
struct Operands {
  const float *q, *k, *v;
  float* y;
  float* sums;  ///< null where no operator reads them
};

/// One matrix of keys and values, packed, and its queries.
class Matrix {
 public:
  Matrix(const AttentionDims& e, const AttentionAttrs& attrs, const Scratch& memory,
         const Operands& at, const WeightsDropout& dropout)
      : e_(e),
        scale_(static_cast<float>(attrs.scale)),
        memory_(memory),
        at_(at),
        dropout_(dropout) {
    memory.keys.pack(at.k, e.k.row);
    pack_panels({at.v, e.v.row, 1}, 0, e.keys, e.keys, e.width, memory.values);
  }

  /// Queries [begin, end), at most Scratch::rows.
  void run(std::int64_t begin, std::int64_t end) const {
    const std::int64_t rows = end - begin;
    const std::int64_t seen = e_.seen(end - 1);
    const std::int64_t stride = memory_.stride;
    scale_rows(at_.q + begin * e_.q.row, e_.q.row, rows, e_.size, scale_, memory_.queries);
    for (std::int64_t i = 0; i < rows; ++i) memory_.from[i] = memory_.queries + i * e_.size;
    memory_.keys.multiply(memory_.from, rows, 0, seen, memory_.weights, stride, memory_.to);
    for (std::int64_t i = 0; i < rows; ++i) {
      float* weights = memory_.weights + i * stride;
      const std::int64_t own = e_.seen(begin + i);
      const RowPowers powers = power_row(weights, own, weights);
      if (dropout_.drops()) dropout_.drop(begin + i, own, weights);
      std::fill(weights + own, weights + seen, 0.0F);
      memory_.factors[i] = 1 / powers.sum;
      if (at_.sums != nullptr) at_.sums[begin + i] = powers.top + std::log(powers.sum);
      memory_.from[i] = weights;
      memory_.to[i] = at_.y + (begin + i) * e_.y.row;
    }
    panel_product({memory_.from, 1, seen, 0}, rows, Panels{memory_.values, e_.keys, 0, 0}, e_.width,
                  nullptr, memory_.to);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t t = 0; t < e_.width; ++t) memory_.to[i][t] *= memory_.factors[i];
    }
  }

 private:
  const AttentionDims& e_;
  float scale_;
  const Scratch& memory_;
  const Operands& at_;
  const WeightsDropout& dropout_;
};

std::optional<Kernel> prepare(const NodeView& node) {
  using In = AttentionOp::In;
  using Out = AttentionOp::Out;
  const AttentionAttrs attrs = node.attrs<AttentionOp>();
  const AttentionDims e(attrs, node.inputs);
  const std::int64_t at_once = queries_at_once(e);
  const std::int64_t blocks = (e.queries + at_once - 1) / at_once;
  const std::int64_t parts = attention_parts(e, e.queries, at_once);
  const std::int64_t items = e.matrices() * parts;
  const double cost = e.flops(1) / static_cast<double>(std::max<std::int64_t>(items, 1)) / 40;
  const bool sums_read = node.output_read.empty() || node.output_read[Out::sums];
  Kernel kernel;
  Pieces counted;
  Scratch(e, counted);
  kernel.scratch_bytes = counted.bytes();
  kernel.stages.push_back(parallel(
      tasks_for(items, 500 + cost), items, [=](const Args& args, const Task& task, Range range) {
        Pieces pieces(task.scratch);
        const Scratch memory(e, pieces);
        for (std::int64_t item = range.begin; item < range.end; ++item) {
          const std::int64_t m = item / parts;
          const Operands at{
              args.in(In::q) + e.begin(e.q, m),
              args.in(attrs.together ? In::q : In::k) + e.begin(e.k, m),
              args.in(attrs.together ? In::q : In::v) + e.begin(e.v, m),
              args.out(Out::y) + e.begin(e.y, m),
              sums_read ? args.out(Out::sums) + m * e.queries : nullptr,
          };
          const WeightsDropout dropout(e, attrs, *task.step, m);
          const Matrix matrix(e, attrs, memory, at, dropout);
          const Range mine = split(blocks, static_cast<int>(parts), static_cast<int>(item % parts));
          for (std::int64_t block = mine.begin; block < mine.end; ++block) {
            matrix.run(block * at_once, std::min((block + 1) * at_once, e.queries));
          }
        }
      }));
  return kernel;
}

}  // namespace

void register_attention(Registry& registry) { registry.add(AttentionOp::kName, prepare); }

}  // namespace linnet::cpu
