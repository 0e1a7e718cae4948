// SPDX-License-Identifier: Apache-2.0
// op_test: the CPU, and CUDA kernels on the simulated runtime.
#include "backend/cuda/cuda_backend.h"
#include "cuda_sim/sim.h"
#include "op_backends.h"
#include "ops/cuda_kernels.h"

namespace linnet::testing {
namespace {

template <Precision kPrecision>
TestedDevice simulated() {
  static cuda::CudaBackend backend(
      [] {
        cuda::Registry registry;
        cuda::register_cuda_kernels(registry);
        return registry;
      }(),
      std::make_shared<cuda::Device>(cuda::find_device("")), {}, {}, kPrecision);
  return {"simulated CUDA", {&backend}, [](std::uint64_t seed) {
            cuda::sim::device().shuffle_seed = seed;
          }};
}

}  // namespace

const std::vector<TestedDevice>& tested_devices() {
  static const std::vector<TestedDevice> devices{tested_cpu(), simulated<Precision::automatic>()};
  return devices;
}

std::vector<TestedDevice> tested_in(DType half) {
  if (half == DType::f16) return {simulated<Precision::fp16>()};
  return {tested_cpus_in_bf16().back(), simulated<Precision::bf16>()};
}

}  // namespace linnet::testing
