// SPDX-License-Identifier: Apache-2.0
// The simulated plug-in's libraries: a cuBLASLt of its own, and no cuDNN.
#include "backend/cuda/libraries.h"

#include "backend/cuda/cublaslt.h"

namespace linnet::cuda {

Libraries open_libraries(const Device& device, const CudaOptions& /*options*/) {
  device.activate();
  return {.cublaslt = std::make_shared<CublasLt>()};
}

std::vector<std::string> library_versions() { return {"simulated: kernels run on the CPU"}; }

}  // namespace linnet::cuda
