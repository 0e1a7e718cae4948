// SPDX-License-Identifier: Apache-2.0
// A task takes the queries of a matrix some at a time, so that their weights stay in the cache.
#include "fusions/attention/attention.h"

#include "backend/cpu/kernel.h"
#include "backend/cpu/pieces.h"
#include "backend/cpu/products/panel_product.h"
#include "core/align.h"
#include "ops/softmax/row_softmax_cpu.h"

namespace linnet::cpu {
namespace {

/// Keys whose panels stand together: a causal attention leaves out what comes after its queries.
constexpr std::int64_t kBlockKeys = 64;

/// Returns queries that are taken at once: their weights are at most 128 KiB where that leaves
/// enough rows for a product.
std::int64_t block_queries(const AttentionDims& e) {
  constexpr std::int64_t kFloats = 32768;
  constexpr std::int64_t kTile = 12;  // rows of a tile of the products
  const std::int64_t rows = kFloats / e.keys / kTile * kTile;
  return std::clamp<std::int64_t>(std::min(rows, 8 * kTile), 2 * kTile,
                                  std::max<std::int64_t>(e.queries, 2 * kTile));
}

/// Memory of a task.
struct Scratch {
  Scratch(const AttentionDims& e, Pieces& pieces) {
    const std::int64_t rows = block_queries(e);
    const std::int64_t blocks = (e.keys + kBlockKeys - 1) / kBlockKeys;
    key_panels = static_cast<std::int64_t>(align_up(panel_floats(e.size, kBlockKeys)));
    keys = pieces.take(blocks * key_panels);
    values = pieces.take(static_cast<std::int64_t>(panel_floats(e.keys, e.width)));
    queries = pieces.take(rows * e.size);
    weights = pieces.take(rows * blocks * kBlockKeys);
    factors = pieces.take(rows);
    from = pieces.take<const float*>(rows);
    to = pieces.take<float*>(rows);
  }

  std::int64_t key_panels;  ///< floats of a block of keys
  float* keys;
  float* values;
  float* queries;  ///< scaled
  float* weights;  ///< rows of whole blocks of keys
  float* factors;  ///< what a row's weights add up to, inverse
  const float** from;
  float** to;
};

/// One matrix of keys and values, packed, and its queries.
class Matrix {
 public:
  Matrix(const AttentionDims& e, const AttentionAttrs& attrs, const Scratch& memory, const float* q,
         const float* k, const float* v, float* y)
      : e_(e), attrs_(attrs), memory_(memory), q_(q), y_(y) {
    for (std::int64_t first = 0; first < e.keys; first += kBlockKeys) {
      pack_panels({k + first * e.k.row, 1, e.k.row}, 0, e.size, e.size, keys_of_block(first),
                  panels_of_block(first));
    }
    pack_panels({v, e.v.row, 1}, 0, e.keys, e.keys, e.width, memory.values);
  }

  /// Queries [begin, end), at most block_queries().
  void run(std::int64_t begin, std::int64_t end) const {
    const std::int64_t rows = end - begin;
    const std::int64_t seen = attrs_.causal ? std::min(end, e_.keys) : e_.keys;
    const std::int64_t stride = (e_.keys + kBlockKeys - 1) / kBlockKeys * kBlockKeys;
    for (std::int64_t i = 0; i < rows; ++i) {
      const float* query = q_ + (begin + i) * e_.q.row;
      float* scaled = memory_.queries + i * e_.size;
      for (std::int64_t t = 0; t < e_.size; ++t) {
        scaled[t] = static_cast<float>(attrs_.scale) * query[t];
      }
      memory_.from[i] = scaled;
    }
    for (std::int64_t first = 0; first < seen; first += kBlockKeys) {
      for (std::int64_t i = 0; i < rows; ++i) memory_.to[i] = memory_.weights + i * stride + first;
      panel_product({memory_.from, 1, e_.size, 0}, rows, panels_of_block(first),
                    keys_of_block(first), nullptr, memory_.to);
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      float* weights = memory_.weights + i * stride;
      const std::int64_t own = attrs_.causal ? std::min(begin + i + 1, e_.keys) : e_.keys;
      memory_.factors[i] = 1 / power_row(weights, own, weights);
      std::fill(weights + own, weights + seen, 0.0F);
      memory_.from[i] = weights;
      memory_.to[i] = y_ + (begin + i) * e_.y.row;
    }
    panel_product({memory_.from, 1, seen, 0}, rows, Panels{memory_.values, e_.keys, 0, 0}, e_.width,
                  nullptr, memory_.to);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t t = 0; t < e_.width; ++t) memory_.to[i][t] *= memory_.factors[i];
    }
  }

 private:
  std::int64_t keys_of_block(std::int64_t first) const {
    return std::min(kBlockKeys, e_.keys - first);
  }
  float* panels_of_block(std::int64_t first) const {
    return memory_.keys + first / kBlockKeys * memory_.key_panels;
  }

  const AttentionDims& e_;
  const AttentionAttrs& attrs_;
  const Scratch& memory_;
  const float* q_;
  float* y_;
};

std::optional<Kernel> prepare(const NodeView& node) {
  using In = AttentionOp::In;
  using Out = AttentionOp::Out;
  const AttentionAttrs attrs = node.attrs<AttentionOp>();
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) shapes.push_back(node.in(i));
  const AttentionDims e(attrs, shapes);
  // Few matrices are cut, so that no processor is left without one; each part packs the keys again.
  constexpr std::int64_t kManyMatrices = 16;
  const std::int64_t matrices = std::max<std::int64_t>(e.matrices(), 1);
  const std::int64_t blocks = (e.queries + block_queries(e) - 1) / block_queries(e);
  const std::int64_t parts = std::clamp<std::int64_t>((kManyMatrices + matrices - 1) / matrices, 1,
                                                      std::max<std::int64_t>(blocks, 1));
  const double flops = 2.0 * static_cast<double>(e.queries * e.keys) *
                       static_cast<double>(e.size + e.width) / static_cast<double>(parts);
  const std::int64_t items = e.matrices() * parts;
  const int tasks = tasks_for(items, 500 + flops / 40);
  Kernel kernel;
  Pieces counted;
  Scratch(e, counted);
  kernel.scratch_bytes = counted.bytes();
  kernel.stages.push_back(
      parallel(tasks, items, [=](const Args& args, const Task& task, Range range) {
        Pieces pieces(task.scratch);
        const Scratch memory(e, pieces);
        for (std::int64_t item = range.begin; item < range.end; ++item) {
          const std::int64_t m = item / parts;
          const float* k = args.in(attrs.together ? In::q : In::k);
          const float* v = args.in(attrs.together ? In::q : In::v);
          const Matrix matrix(e, attrs, memory, args.in(In::q) + e.begin(e.q, m),
                              k + e.begin(e.k, m), v + e.begin(e.v, m),
                              args.out(Out::y) + e.begin(e.y, m));
          const Range mine = split(blocks, static_cast<int>(parts), static_cast<int>(item % parts));
          for (std::int64_t block = mine.begin; block < mine.end; ++block) {
            const std::int64_t begin = block * block_queries(e);
            matrix.run(begin, std::min(begin + block_queries(e), e.queries));
          }
        }
      }));
  return kernel;
}

}  // namespace

void register_attention(Registry& registry) { registry.add(AttentionOp::kName, prepare); }

}  // namespace linnet::cpu
