// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "backend/cuda/vectors.cuh"
#include "ops/finite_check/stop_cuda.cuh"

namespace linnet::cuda {
namespace {

/// Each block whose elements are not all finite writes the same number. `loss` may be null.
__global__ void __launch_bounds__(kBlock)
    check_finite(const StepInfo* step, std::int64_t elements, bool aligned, const float* x,
                 const float* loss, double* stopped) {
  const std::int64_t vectors = elements / 4;
  int found = 0;
  for (std::int64_t i = first_item(); i < vectors; i += grid_stride()) {
    const FloatVector<4> four = load_vector<4>(x + 4 * i, aligned);
    for (int v = 0; v < 4; ++v) found += is_not_finite(four[v]) ? 1 : 0;
  }
  const std::int64_t tail = 4 * vectors + first_item();
  if (tail < elements && is_not_finite(x[tail])) found += 1;
  if (loss != nullptr && first_item() == 0 && is_not_finite(*loss)) found += 1;
  if (block_sum(found > 0 ? 1 : 0) == 0 || threadIdx.x != 0) return;
  stop(stopped, *step);
}

std::optional<Kernel> prepare_finite_check(const NodeView& node, const Context& context) {
  using In = FiniteCheckOp::In;
  const std::int64_t elements = node.in(In::x).elements();
  const unsigned most_blocks = 4U * static_cast<unsigned>(context.multiprocessors);
  return Kernel{.enqueue = [=](const Args& args) {
    LaunchShape shape = for_items((elements + 3) / 4);
    shape.grid.x = std::clamp(shape.grid.x, 1U, most_blocks);
    const float* loss = args.inputs.size() > 2 ? args.in(In::loss) : nullptr;
    launch(args.stream, "finite_check", shape, check_finite, args.step, elements,
           vector_aligned(args.in(In::x)), args.in(In::x), loss, args.in_out<double>(In::stopped));
  }};
}

}  // namespace

void register_finite_check(Registry& registry) {
  registry.add(FiniteCheckOp::kName, prepare_finite_check);
}

}  // namespace linnet::cuda
