// SPDX-License-Identifier: Apache-2.0
// A task takes the keys of a matrix some at a time, and the queries that see them some at a time,
// so that weights and slopes stay in the cache. Their rows are the keys: products with rows of all
// queries are the gradients of keys and values; those of the queries are added up over the keys.
#include <algorithm>

#include "backend/cpu/kernel.h"
#include "backend/cpu/products/panel_product.h"
#include "fusions/attention/attention_cpu.h"

namespace linnet::cpu {
namespace {

using In = AttentionGradOp::In;
using Out = AttentionGradOp::Out;

std::int64_t keys_at_once(const AttentionDims& e) {
  return std::clamp(e.keys, 2 * kAttentionTile, 8 * kAttentionTile);
}

/// Memory of a task.
struct GradScratch {
  GradScratch(const AttentionDims& e, bool drops, Pieces& pieces)
      : rows(keys_at_once(e)),
        columns(
            std::min(ColumnBlocks::whole(kAttentionFloats / rows), ColumnBlocks::whole(e.queries))),
        scores(e.size, e.queries, pieces),
        reached(e.width, e.queries, pieces),
        queries(pieces.take(e.queries * e.size)),
        query_panels(pieces.take(static_cast<std::int64_t>(panel_floats(e.queries, e.size)))),
        dy_panels(pieces.take(static_cast<std::int64_t>(panel_floats(e.queries, e.width)))),
        dots(pieces.take(e.queries)),
        dq(pieces.take(e.queries * e.size)),
        weights(pieces.take(rows * columns)),
        slopes(pieces.take(rows * columns)),
        factors(pieces.take(drops ? rows * columns : 0)),
        factor_rows(pieces.take(drops ? (WeightsDropout::kAtOnce + 1) * rows : 0)),
        key_panels(pieces.take(static_cast<std::int64_t>(panel_floats(rows, e.size)))),
        tiles(pieces.take(static_cast<std::int64_t>(tile_floats(rows, columns)))),
        keys(pieces.take<const float*>(rows)),
        from(pieces.take<const float*>(rows)),
        to(pieces.take<float*>(rows)) {}

  std::int64_t rows;     ///< keys that are taken at once
  std::int64_t columns;  ///< queries, whole blocks
  ColumnBlocks scores;   ///< of the scaled queries
  ColumnBlocks reached;  ///< of dy
  float* queries;        ///< scaled
  float* query_panels;   ///< of these
  float* dy_panels;
  float* dots;  ///< the sum of dy y of each query
  float* dq;    ///< before the scale
  float* weights;
  float* slopes;
  float* factors;  ///< of the dropout
  float* factor_rows;
  float* key_panels;
  float* tiles;  ///< the slopes, packed
  const float** keys;
  const float** from;
  float** to;
};

/// The operands of one matrix, and where its gradients go.
struct GradOperands {
  const float *dy, *y, *sums, *q, *k, *v;
  float *dk, *dv;
};

/// One matrix: its queries, packed, whose gradients are added up in GradScratch::dq.
class GradMatrix {
 public:
  GradMatrix(const AttentionDims& e, float scale, const GradScratch& memory, const GradOperands& at,
             const WeightsDropout& dropout)
      : e_(e), memory_(memory), at_(at), dropout_(dropout) {
    scale_rows(at.q, e.q.row, e.queries, e.size, scale, memory.queries);
    for (std::int64_t i = 0; i < e.queries; ++i) {
      memory.dots[i] = attention_dot(at.dy + i * e.y.row, at.y + i * e.y.row, e.width);
    }
    memory.scores.pack(memory.queries, e.size);
    memory.reached.pack(at.dy, e.y.row);
    pack_panels({memory.queries, e.size, 1}, 0, e.queries, e.queries, e.size, memory.query_panels);
    pack_panels({at.dy, e.y.row, 1}, 0, e.queries, e.queries, e.width, memory.dy_panels);
    std::fill_n(memory.dq, e.queries * e.size, 0.0F);
  }

  /// Keys [begin, end), at most GradScratch::rows.
  void run(std::int64_t begin, std::int64_t end) const {
    const std::int64_t rows = end - begin;
    for (std::int64_t j = 0; j < rows; ++j) memory_.keys[j] = at_.k + (begin + j) * e_.k.row;
    pack_row_panels(memory_.keys, 0, rows, e_.size, memory_.key_panels);
    const std::int64_t first =
        e_.causal ? begin / ColumnBlocks::kColumns * ColumnBlocks::kColumns : 0;
    if (first >= e_.queries) {  // no query sees these keys
      for (std::int64_t j = begin; j < end; ++j) {
        std::fill_n(at_.dk + j * e_.k.row, e_.size, 0.0F);
        std::fill_n(at_.dv + j * e_.v.row, e_.width, 0.0F);
      }
    }
    for (std::int64_t i = first; i < e_.queries; i += memory_.columns) {
      const Range queries{i, std::min(i + memory_.columns, e_.queries)};
      find_slopes({begin, end}, queries);
      multiply(memory_.weights, rows, queries, i > first, memory_.dy_panels, e_.width,
               at_.dv + begin * e_.v.row, e_.v.row);
      multiply(memory_.slopes, rows, queries, i > first, memory_.query_panels, e_.size,
               at_.dk + begin * e_.k.row, e_.k.row);
      pack_tiles(memory_.from, rows, queries.size(), memory_.tiles);
      tile_product({rows, queries.size(), e_.size}, memory_.tiles, memory_.key_panels, true,
                   memory_.dq + i * e_.size, e_.size);
    }
  }

 private:
  void find_slopes(Range keys, Range queries) const {
    const std::int64_t stride = memory_.columns;
    for (std::int64_t j = 0; j < keys.size(); ++j) {
      memory_.from[j] = at_.v + (keys.begin + j) * e_.v.row;
    }
    memory_.scores.multiply(memory_.keys, keys.size(), queries.begin, queries.end, memory_.weights,
                            stride, memory_.to);
    memory_.reached.multiply(memory_.from, keys.size(), queries.begin, queries.end, memory_.slopes,
                             stride, memory_.to);
    const bool drops = dropout_.drops();
    if (drops) {
      dropout_.factors(keys.begin, keys.size(), queries.begin, queries.size(), memory_.factor_rows,
                       memory_.factors, stride);
    }
    for (std::int64_t j = 0; j < keys.size(); ++j) {
      float* weights = memory_.weights + j * stride;
      float* slopes = memory_.slopes + j * stride;
      const std::int64_t seeing =
          e_.causal ? std::clamp(keys.begin + j, queries.begin, queries.end) : queries.begin;
      const std::int64_t others = seeing - queries.begin;
      std::fill_n(weights, others, 0.0F);
      std::fill_n(slopes, others, 0.0F);
      const float* factors = drops ? memory_.factors + j * stride + others : nullptr;
      attention_slopes(at_.sums + seeing, memory_.dots + seeing, factors, queries.end - seeing,
                       weights + others, slopes + others);
    }
  }

  /// Multiplies rows of weights or slopes by the panels' rows of these queries; adds to what is
  /// there, if `adds`.
  void multiply(const float* rows_of, std::int64_t rows, Range queries, bool adds,
                const float* panels, std::int64_t columns, float* to, std::int64_t to_row) const {
    for (std::int64_t j = 0; j < rows; ++j) {
      memory_.from[j] = rows_of + j * memory_.columns;
      memory_.to[j] = to + j * to_row;
    }
    const PanelTail tail{.residual = adds ? to : nullptr, .of = to};
    panel_product({memory_.from, 1, queries.size(), 0}, rows,
                  Panels{panels, e_.queries, queries.begin, 0}, columns, nullptr, memory_.to, tail);
  }

  const AttentionDims& e_;
  const GradScratch& memory_;
  const GradOperands& at_;
  const WeightsDropout& dropout_;
};

/// The operands and results of an attention's gradient, matrix by matrix.
struct GradCall {
  AttentionDims e;
  bool together;
  float scale;

  GradOperands matrix(const Args& args, std::int64_t m) const {
    return {.dy = args.in(In::dy) + e.begin(e.y, m),
            .y = args.in(In::y) + e.begin(e.y, m),
            .sums = args.in(In::sums) + m * e.queries,
            .q = args.in(In::q) + e.begin(e.q, m),
            .k = args.in(together ? In::q : In::k) + e.begin(e.k, m),
            .v = args.in(together ? In::q : In::v) + e.begin(e.v, m),
            .dk = args.out(together ? Out::dq : Out::dk) + e.begin(e.k, m),
            .dv = args.out(together ? Out::dq : Out::dv) + e.begin(e.v, m)};
  }

  /// Writes rows [begin, end) of a matrix's dq: what `count` sums, `stride` floats apart, add up
  /// to, in their order.
  void write_queries(const Args& args, std::int64_t m, Range rows, const float* sums,
                     std::int64_t count, std::int64_t stride) const {
    float* dq = args.out(Out::dq) + e.begin(e.q, m);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      for (std::int64_t t = 0; t < e.size; ++t) {
        float sum = 0;
        for (std::int64_t part = 0; part < count; ++part)
          sum += sums[part * stride + i * e.size + t];
        dq[i * e.q.row + t] = scale * sum;
      }
    }
  }
};

std::optional<Kernel> prepare(const NodeView& node) {
  const AttentionAttrs attrs = node.attrs<AttentionGradOp>();
  const GradCall call{AttentionDims(attrs, node.inputs.subspan(In::q)), attrs.together,
                      static_cast<float>(attrs.scale)};
  const AttentionDims& e = call.e;
  const std::int64_t at_once = keys_at_once(e);
  const std::int64_t blocks = (e.keys + at_once - 1) / at_once;
  const std::int64_t parts = attention_parts(e, e.keys, at_once);
  const std::int64_t items = e.matrices() * parts;
  const std::int64_t dq_floats = e.queries * e.size;
  const double cost = e.flops(2.5) / static_cast<double>(std::max<std::int64_t>(items, 1)) / 40;
  Kernel kernel;
  Pieces counted;
  GradScratch(e, attrs.dropout > 0, counted);
  kernel.scratch_bytes = counted.bytes();
  if (parts > 1)
    kernel.workspace_bytes = static_cast<std::size_t>(items * dq_floats) * sizeof(float);
  kernel.stages.push_back(parallel(
      tasks_for(items, 1000 + cost), items, [=](const Args& args, const Task& task, Range range) {
        Pieces pieces(task.scratch);
        const GradScratch memory(call.e, attrs.dropout > 0, pieces);
        for (std::int64_t item = range.begin; item < range.end; ++item) {
          const GradOperands operands = call.matrix(args, item / parts);
          const WeightsDropout dropout(call.e, attrs, *task.step, item / parts);
          const GradMatrix matrix(call.e, call.scale, memory, operands, dropout);
          const Range mine = split(blocks, static_cast<int>(parts), static_cast<int>(item % parts));
          for (std::int64_t block = mine.begin; block < mine.end; ++block) {
            matrix.run(block * at_once, std::min((block + 1) * at_once, call.e.keys));
          }
          if (parts == 1) {
            call.write_queries(args, item, {0, call.e.queries}, memory.dq, 1, 0);
          } else {
            std::copy_n(memory.dq, dq_floats, args.work() + item * dq_floats);
          }
        }
      }));
  if (parts > 1) {
    kernel.stages.push_back(
        parallel(tasks_for(e.matrices(), static_cast<double>(parts * dq_floats)), e.matrices(),
                 [=](const Args& args, Range range) {
                   for (std::int64_t m = range.begin; m < range.end; ++m) {
                     call.write_queries(args, m, {0, call.e.queries},
                                        args.work() + m * parts * dq_floats, parts, dq_floats);
                   }
                 }));
  }
  return kernel;
}

}  // namespace

void register_attention_grad(Registry& registry) { registry.add(AttentionGradOp::kName, prepare); }

}  // namespace linnet::cpu
