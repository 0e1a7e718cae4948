// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "backend/cuda/vectors.cuh"
#include "ops/dropout/dropout.h"

namespace linnet::cuda {
namespace {

/// A thread takes the four elements of one call of the generator, or those of them that lie
/// in x: x may begin within a block of the mask. `row`: elements of a sample.
template <class T>
__global__ void dropout_kernel(DropoutAttrs attrs, const StepInfo* step, std::int64_t elements,
                               std::int64_t row, bool aligned, const T* x, T* y) {
  __shared__ DropoutMask mask;
  if (threadIdx.x == 0) mask = dropout_mask(attrs, *step);
  __syncthreads();
  const std::uint64_t first = step->first_row * static_cast<std::uint64_t>(row);
  const auto before = static_cast<std::int64_t>(first % 4);
  aligned = aligned && before == 0;
  for (std::int64_t block = first_item(); 4 * block < before + elements; block += grid_stride()) {
    const auto factors = mask(first / 4 + static_cast<std::uint64_t>(block));
    const std::int64_t begin = 4 * block - before;
    if (begin >= 0 && begin + 4 <= elements) {
      FloatVector<4> four = load_floats<4>(x + begin, aligned);
      for (int v = 0; v < 4; ++v) four[v] = drop(four[v], factors[static_cast<std::size_t>(v)]);
      store_floats(y + begin, four, aligned);
    } else {
      for (std::int64_t v = begin < 0 ? -begin : 0; v < 4 && begin + v < elements; ++v) {
        const float value = to_float(x[begin + v]);
        y[begin + v] = stored_as<T>(drop(value, factors[static_cast<std::size_t>(v)]));
      }
    }
  }
}

std::optional<Kernel> prepare_dropout(const NodeView& node, const Context& /*context*/) {
  using In = DropoutOp::In;
  using Out = DropoutOp::Out;
  const DropoutAttrs attrs = node.attrs<DropoutOp>();
  const std::int64_t elements = node.in(In::x).elements();
  const std::int64_t row = node.in(In::x).rank() > 0 ? node.in(In::x).sample().elements() : 0;
  return with_one_type(node, [&]<class T>() {
    return Kernel{.enqueue = [=](const Args& args) {
      const T* x = args.in<T>(In::x);
      T* y = args.out<T>(Out::y);
      launch(args.stream, "dropout", for_items((elements + 3) / 4), dropout_kernel<T>, attrs,
             args.step, elements, row, vector_aligned(x, y), x, y);
    }};
  });
}

}  // namespace

void register_dropout(Registry& registry) {
  registry.add(DropoutOp::kName, prepare_dropout, Stores::half);
}

}  // namespace linnet::cuda
