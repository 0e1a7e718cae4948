// SPDX-License-Identifier: Apache-2.0
// cuda_backend_test_cuda: a GPU.
#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/cudnn_plans.h"
#include "backend/cuda/libraries.h"
#include "cuda_model.h"
#include "model/model_state.h"
#include "ops/cuda_kernels.h"
#include "repetitions.h"

namespace linnet::testing {
namespace {

/// One set for all models: engines that are measured twice may be chosen differently, and then add
/// up in another order. cuDNN takes all that it can, however fast it is.
const cuda::Libraries& libraries(const cuda::Device& device) {
  static const cuda::Libraries opened = [&] {
    cuda::Libraries all = cuda::open_libraries(device, {});
    all.cudnn = std::make_shared<cuda::CudnnLibrary>(device.info().name, true);
    return all;
  }();
  return opened;
}

}  // namespace

std::vector<Engines> tested_engines() { return {Engines::own, Engines::libraries}; }

int repetitions() { return 1000; }

Model cuda_model(Network network, const CudaOptions& options, std::uint64_t seed, Engines engines,
                 Precision precision) {
  auto device = std::make_shared<cuda::Device>(cuda::find_device(""));
  cuda::Registry registry;
  cuda::register_cuda_kernels(registry);
  cuda::Libraries opened;
  if (engines == Engines::libraries) {
    cuda::register_cuda_libraries(registry);
    opened = libraries(*device);
  }
  return Model(
      make_state(std::move(network),
                 std::make_unique<cuda::CudaBackend>(std::move(registry), std::move(device),
                                                     options, std::move(opened), precision),
                 seed));
}

MachineGuard::MachineGuard() = default;
MachineGuard::~MachineGuard() {
  const cudaError_t synchronized = cudaDeviceSynchronize();
  EXPECT_EQ(synchronized, cudaSuccess) << cudaGetErrorString(synchronized);
  const cudaError_t left = cudaGetLastError();
  EXPECT_EQ(left, cudaSuccess) << "an error that nobody took: " << cudaGetErrorString(left);
}

std::size_t device_bytes() {
  cuda::check(cudaDeviceSynchronize(), "waiting for the device");
  cudaMemPool_t pool = nullptr;
  cuda::check(cudaDeviceGetDefaultMemPool(&pool, 0), "asking for the memory pool");
  std::uint64_t used = 0;
  cuda::check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used),
              "asking for the memory in use");
  return used;
}

void reorder_threads(std::uint64_t /*seed*/) {}

}  // namespace linnet::testing
