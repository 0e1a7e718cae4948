// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>

#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "backend/cuda/vectors.cuh"
#include "ops/gather_batch/gather_batch.h"
#include "ops/gather_batch/record_index.h"

namespace linnet::cuda {
namespace {

struct Scaling {
  float scale;
  float shift;
};

/// Threads (x, y): y counts the block's records, x the packs of one; blocks (x, y): records, then
/// parts of long records. `packs` is the size of a record.
template <class From, class To, int kWidth>
__global__ void gather_records(const StepInfo* step, bool shuffle, Scaling scaling,
                               std::int64_t batch, std::int64_t packs,
                               const Vector<From, kWidth>* data, Vector<To, kWidth>* out) {
  __shared__ std::uint64_t records[kBlock];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.y;
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
  if (thread < blockDim.y && first + thread < batch) {
    records[thread] = RecordIndex(*step, shuffle)(first + thread);
  }
  __syncthreads();
  const std::int64_t sample = first + threadIdx.y;
  if (sample >= batch) return;
  const Vector<From, kWidth>* from =
      data + records[threadIdx.y] * static_cast<std::uint64_t>(packs);
  Vector<To, kWidth>* to = out + sample * packs;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.y) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x; i < packs;
       i += stride) {
    const Vector<From, kWidth> x = from[i];
    Vector<To, kWidth> y;
    for (int k = 0; k < kWidth; ++k) {
      if constexpr (!std::is_same_v<To, std::int32_t>) {
        y[k] = stored_as<To>(static_cast<float>(x[k]) * scaling.scale + scaling.shift);
      } else {
        y[k] = x[k];
      }
    }
    to[i] = y;
  }
}

template <class From, class To, int kWidth>
void launch_gather(const Args& args, const GatherBatchAttrs& attrs, std::int64_t record_size) {
  const std::int64_t packs = record_size / kWidth;
  // A block has a warp at least and kBlock threads at most; small batches go out over many blocks.
  const auto across = static_cast<unsigned>(std::min<std::int64_t>(packs, kBlock));
  const auto down = static_cast<unsigned>(std::clamp<std::int64_t>(attrs.batch / 128,
                                                                   (kWarp + across - 1) / across,
                                                                   std::max(1U, kBlock / across)));
  // Each thread takes four packs of long records.
  const std::int64_t parts = (packs + 4 * across - 1) / (4 * across);
  const LaunchShape shape{.grid = dim3(static_cast<unsigned>((attrs.batch + down - 1) / down),
                                       static_cast<unsigned>(std::min<std::int64_t>(parts, 65535))),
                          .block = dim3(across, down)};
  const Scaling scaling{static_cast<float>(attrs.scale), static_cast<float>(attrs.shift)};
  launch(args.stream, "gather_batch", shape, gather_records<From, To, kWidth>, args.step,
         attrs.shuffle, scaling, attrs.batch, packs, args.in<Vector<From, kWidth>>(0),
         args.out<Vector<To, kWidth>>(0));
}

/// Four elements at once where every record begins aligned: loads and stores are then as wide as
/// they can be with neighbouring threads at neighbouring addresses (16-byte stores).
template <class From, class To>
Kernel gather(const GatherBatchAttrs& attrs, std::int64_t record_size) {
  if (attrs.batch == 0 || record_size == 0) return {.enqueue = [](const Args&) {}};
  return {.enqueue = [=](const Args& args) {
    const bool packed =
        record_size % 4 == 0 &&
        vector_aligned(args.in<From>(GatherBatchOp::In::data), args.out<To>(GatherBatchOp::Out::y));
    packed ? launch_gather<From, To, 4>(args, attrs, record_size)
           : launch_gather<From, To, 1>(args, attrs, record_size);
  }};
}

template <class From>
std::optional<Kernel> gather_as_stored(const NodeView& node, std::int64_t record_size) {
  return with_element(node.outputs[kFirst].dtype, [&]<class To>() {
    return gather<From, To>(node.attrs<GatherBatchOp>(), record_size);
  });
}

std::optional<Kernel> prepare_gather_batch(const NodeView& node, const Context&) {
  using In = GatherBatchOp::In;
  const GatherBatchAttrs& attrs = node.attrs<GatherBatchOp>();
  const std::int64_t size = node.in(In::data).elements();
  switch (node.inputs[In::data].dtype) {
    case DType::u8: return gather_as_stored<std::uint8_t>(node, size);
    case DType::f32: return gather_as_stored<float>(node, size);
    case DType::i32: return gather<std::int32_t, std::int32_t>(attrs, size);
    default: return std::nullopt;
  }
}

}  // namespace

void register_gather_batch(Registry& registry) {
  registry.add(GatherBatchOp::kName, prepare_gather_batch, Stores::half);
}

}  // namespace linnet::cuda
