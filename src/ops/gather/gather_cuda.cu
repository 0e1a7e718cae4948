// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "backend/cuda/column_sum.cuh"
#include "ops/gather/gather.h"
#include "ops/gather/scatter_cuda.h"

namespace linnet::cuda {
namespace {

/// y[i, :] = table[indices[i], :], a vector of kVector floats a thread and iteration.
template <int kVector>
__global__ void gather_kernel(const float* table, std::int64_t rows, const std::int32_t* indices,
                              std::int64_t count, std::int64_t size, bool aligned, float* y) {
  const std::int64_t vectors = size / kVector;  // of a row
  for (std::int64_t i = first_item(); i < count * vectors; i += grid_stride()) {
    const std::int64_t item = i / vectors;
    const std::int64_t column = (i - item * vectors) * kVector;
    const std::int64_t row = indices[item];
    FloatVector<kVector> values;
    if (row >= 0 && row < rows) {
      values = load_vector<kVector>(table + row * size + column, aligned);
    } else {
      for (int v = 0; v < kVector; ++v) values[v] = std::numeric_limits<float>::quiet_NaN();
    }
    store_vector(y + item * size + column, values, aligned);
  }
}

std::optional<Kernel> prepare_gather(const NodeView& node, const Context& /*context*/) {
  using In = GatherOp::In;
  using Out = GatherOp::Out;
  const std::int64_t rows = node.in(In::table)[0];
  const std::int64_t size = node.in(In::table).sample().elements();
  const std::int64_t count = node.in(In::indices).elements();
  return Kernel{.enqueue = [=](const Args& args) {
    const bool wide = size % 4 == 0;
    launch(args.stream, "gather", for_items(count * size / (wide ? 4 : 1)),
           wide ? gather_kernel<4> : gather_kernel<1>, args.in(In::table), rows,
           args.in<std::int32_t>(In::indices), count, size,
           vector_aligned(args.in(In::table), args.out(Out::y)), args.out(Out::y));
  }};
}

// The gradient. A block owns `rows` rows of the table, a tile of their columns and a segment of the
// indices. Its warps walk equal parts of the segment; each adds dy that hit the block's rows, in
// order, to sums of its own in shared memory, which the block then adds in the order of the warps.
// So a word that is everywhere costs no more than its share of dy, and nothing is sorted. Every
// block reads its segment of the indices: about indices * (table floats / 1024) * 4 bytes, out of
// the cache: 25,000 indices into 10,000 rows of 64 are 64 MB. Most find nothing for it, in few
// instructions.

constexpr int kLoads = 4;  // indices of a thread in flight
constexpr int kAhead = 8;  // rows of dy in flight

/// Indices that hit a block's rows, of one warp, until there are enough to load dy for.
struct Hits {
  int item[(kLoads + 1) * kWarp];  ///< from the warp's first on
  int row[(kLoads + 1) * kWarp];   ///< from the block's first on
};

/// sums[row] += dy[item] for the first `count` hits, in their order. A lane owns its columns.
template <int kVector>
__device__ void add_hits(const Hits& hits, int count, const float* dy, std::int64_t size,
                         bool aligned, float* sums, std::int64_t tile) {
  const auto add = [&](int h, const FloatVector<kVector>& next) {
    float* at = sums + hits.row[h] * tile;
    FloatVector<kVector> sum = load_vector<kVector>(at, true);
    for (int v = 0; v < kVector; ++v) sum[v] += next[v];
    store_vector(at, sum, true);
  };
  int h = 0;
  for (; h + kAhead <= count; h += kAhead) {
    FloatVector<kVector> next[kAhead];
    for (int k = 0; k < kAhead; ++k) {
      next[k] = load_vector<kVector>(dy + hits.item[h + k] * size, aligned);
    }
    for (int k = 0; k < kAhead; ++k) add(h + k, next[k]);
  }
  for (; h < count; ++h) add(h, load_vector<kVector>(dy + hits.item[h] * size, aligned));
}

/// table[segment, row, :] = the sum of the segment's dy[i, :] with indices[i] == row.
template <int kVector>
__global__ void scatter_kernel(const float* dy, const std::int32_t* indices, std::int64_t count,
                               std::int64_t rows, std::int64_t size, std::int64_t tile,
                               std::int64_t block_rows, unsigned tiles, bool aligned,
                               float* table) {
  __shared__ Hits warp_hits[kScatterWarps];
  const unsigned warp = threadIdx.x / kWarp;
  const unsigned lane = threadIdx.x % kWarp;
  const auto area = static_cast<int>(block_rows * tile);
  auto* all_sums = shared_memory<float>();
  float* sums = all_sums + warp * area;
  __shared__ bool warp_adds[kScatterWarps];  // most warps find no hit: their sums need no memory
  if (lane == 0) warp_adds[warp] = false;

  const std::int64_t first_row = blockIdx.x / tiles * block_rows;
  const std::int64_t last_row = first_row + block_rows < rows ? first_row + block_rows : rows;
  const std::int64_t column = blockIdx.x % tiles * tile;
  const auto first_hit = static_cast<unsigned>(first_row);
  const auto hit_rows = static_cast<unsigned>(last_row - first_row);
  const bool owns = lane * kVector < tile && column + lane * kVector < size;
  float* own_sums = sums + lane * kVector;
  // Parts of a multiple of 32 indices, so that a warp's loads stay aligned.
  const std::int64_t parts = static_cast<std::int64_t>(gridDim.y) * kScatterWarps;
  const std::int64_t part = (count + parts * kWarp - 1) / (parts * kWarp) * kWarp;
  const std::int64_t begin = (blockIdx.y * kScatterWarps + warp) * part;
  const std::int64_t end = begin + part < count ? begin + part : count;

  const float* own_dy = dy + begin * size + column + lane * kVector;
  Hits& hits = warp_hits[warp];
  int pending = 0;
  bool adds = false;
  for (std::int64_t base = begin; base < end; base += kLoads * kWarp) {
    unsigned row[kLoads];  // from the block's first on
    bool any = false;
    for (int k = 0; k < kLoads; ++k) {
      const std::int64_t item = base + k * kWarp + lane;
      row[k] = item < end ? static_cast<unsigned>(indices[item]) - first_hit : hit_rows;
      any = any || row[k] < hit_rows;
    }
    if (__any_sync(kFullWarp, any)) {
      for (int k = 0; k < kLoads; ++k) {
        const bool hit = row[k] < hit_rows;
        const unsigned mask = __ballot_sync(kFullWarp, hit);
        if (hit) {
          const int at = pending + __popc(mask & ((1U << lane) - 1));
          hits.item[at] = static_cast<int>(base - begin + k * kWarp + lane);
          hits.row[at] = static_cast<int>(row[k]);
        }
        pending += __popc(mask);
      }
    }
    if (pending == 0) continue;
    if (pending < static_cast<int>(kWarp) && base + kLoads * kWarp < end) continue;
    if (!adds) {
      for (int i = static_cast<int>(lane); i < area; i += static_cast<int>(kWarp)) sums[i] = 0;
      adds = true;
    }
    __syncwarp();
    if (owns) add_hits<kVector>(hits, pending, own_dy, size, aligned, own_sums, tile);
    __syncwarp();
    pending = 0;
  }
  if (adds && lane == 0) warp_adds[warp] = true;
  __syncthreads();

  for (int i = static_cast<int>(threadIdx.x); i < area; i += static_cast<int>(blockDim.x)) {
    const int row = i / static_cast<int>(tile);
    const std::int64_t c = column + i - row * tile;
    if (first_row + row >= last_row || c >= size) continue;
    float sum = 0;
    for (unsigned w = 0; w < kScatterWarps; ++w) {
      if (warp_adds[w]) sum += all_sums[w * area + i];
    }
    table[(blockIdx.y * rows + first_row + row) * size + c] = sum;
  }
}

std::optional<Kernel> prepare_gather_grad(const NodeView& node, const Context& /*context*/) {
  using In = GatherGradOp::In;
  using Out = GatherGradOp::Out;
  const std::int64_t rows = node.out(Out::dtable)[0];
  const std::int64_t size = node.out(Out::dtable).sample().elements();
  const std::int64_t count = node.in(In::indices).elements();
  // The kernel compares without signs: beyond, a negative index would be a row.
  if (rows > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  const ScatterShape shape = scatter_shape(rows, size, count);
  Kernel kernel;
  kernel.enqueue = [=](const Args& args) {
    float* table = shape.segments == 1 ? args.out(Out::dtable) : args.work();
    launch(args.stream, "gather_grad", shape.launch(),
           shape.vector == 4 ? scatter_kernel<4> : scatter_kernel<1>, args.in(In::dy),
           args.in<std::int32_t>(In::indices), count, rows, size, shape.tile, shape.rows,
           shape.tiles, vector_aligned(args.in(In::dy)), table);
    if (shape.segments == 1) return;
    column_sum(args, "gather_grad", args.work(), shape.segments, rows * size, args.out(Out::dtable),
               nullptr);  // so few rows need one launch and no workspace
  };
  if (shape.segments > 1) {
    kernel.workspace_bytes = sizeof(float) * shape.segments * static_cast<std::size_t>(rows * size);
  }
  return kernel;
}

}  // namespace

void register_gather(Registry& registry) {
  registry.add(GatherOp::kName, prepare_gather);
  registry.add(GatherGradOp::kName, prepare_gather_grad);
}

}  // namespace linnet::cuda
