// SPDX-License-Identifier: Apache-2.0
// op_test_cuda: a GPU, by Linnet's own kernels alone and with NVIDIA's libraries before them, in
// strict fp32: TF32 would need other tolerances than the cases have. cuDNN takes every
// batch norm that it can, however fast it is. LINNET_TESTED_DEVICES=own leaves the libraries out.
#include <cstdlib>
#include <string_view>

#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/cudnn_plans.h"
#include "backend/cuda/libraries.h"
#include "op_backends.h"
#include "ops/cuda_kernels.h"

namespace linnet::testing {
namespace {

std::unique_ptr<cuda::CudaBackend> open(bool libraries, Precision precision = Precision::fp32) {
  const CudaOptions options{.cudnn = libraries};
  auto device = std::make_shared<cuda::Device>(cuda::find_device(""));
  cuda::Registry registry;
  cuda::register_cuda_kernels(registry);
  if (!libraries) {
    return std::make_unique<cuda::CudaBackend>(std::move(registry), std::move(device), options,
                                               cuda::Libraries{}, precision);
  }
  cuda::register_cuda_libraries(registry);
  cuda::Libraries opened = cuda::open_libraries(*device, options);
  opened.cudnn = std::make_shared<cuda::CudnnLibrary>(device->info().name, true);
  return std::make_unique<cuda::CudaBackend>(std::move(registry), std::move(device), options,
                                             std::move(opened), precision);
}

}  // namespace

const std::vector<TestedDevice>& tested_devices() {
  static const std::unique_ptr<cuda::CudaBackend> own = open(false);
  static const char* const wanted = std::getenv("LINNET_TESTED_DEVICES");
  static const bool all = wanted == nullptr || std::string_view(wanted) != "own";
  static const std::unique_ptr<cuda::CudaBackend> libraries = all ? open(true) : nullptr;
  static const std::vector<TestedDevice> devices = [] {
    std::vector<TestedDevice> found{{"CUDA, own kernels", {own.get()}}};
    if (all) found.push_back({"CUDA with NVIDIA's libraries", {libraries.get()}});
    return found;
  }();
  return devices;
}

std::vector<TestedDevice> tested_in(DType half) {
  if (half == DType::f16) {
    static const std::unique_ptr<cuda::CudaBackend> in_f16 = open(false, Precision::fp16);
    return {{"CUDA in fp16, own kernels", {in_f16.get()}}};
  }
  static const std::unique_ptr<cuda::CudaBackend> own = open(false, Precision::bf16);
  return {tested_cpus_in_bf16().back(), {"CUDA in bf16, own kernels", {own.get()}}};
}

}  // namespace linnet::testing
