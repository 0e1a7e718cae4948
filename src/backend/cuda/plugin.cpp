// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/described_backend.h"
#include "backend/cuda/libraries.h"
#include "backend/plugin/cuda_plugin.h"
#include "base/version.h"
#include "ops/cuda_kernels.h"

namespace linnet::cuda {
namespace {

std::unique_ptr<Backend> open(const std::string& which, const CudaOptions& options,
                              Precision precision) {
  auto device = std::make_shared<Device>(find_device(which));
  Registry registry;
  register_cuda_kernels(registry);
  register_cuda_libraries(registry);
  Libraries libraries = open_libraries(*device, options);
  return std::make_unique<CudaBackend>(std::move(registry), std::move(device), options,
                                       std::move(libraries), precision);
}

std::unique_ptr<Backend> describe(const CudaDevice& device, const CudaOptions& options,
                                  Precision precision) {
  Registry registry;
  register_cuda_kernels(registry);
  register_cuda_libraries(registry);
  return std::make_unique<DescribedBackend>(std::move(registry), device, options, precision);
}

CudaStatus status() {
  CudaStatus status;
  status.libraries = cuda_versions();
  for (std::string& version : library_versions()) status.libraries.push_back(std::move(version));
  try {
    status.devices = list_devices();
  } catch (const Error& error) {
    status.unusable = error.what();
  }
  return status;
}

}  // namespace
}  // namespace linnet::cuda

extern "C" __attribute__((visibility("default"))) const linnet::CudaPlugin* linnet_cuda_plugin() {
  static const linnet::CudaPlugin plugin{linnet::kVersionText, linnet::cuda::open,
                                         linnet::cuda::status, linnet::cuda::describe};
  return &plugin;
}
