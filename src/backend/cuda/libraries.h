// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cuda/device.h"
#include "backend/cuda/kernel.h"

namespace linnet::cuda {

/// NVIDIA's libraries for a backend on this device, as far as the options want them: cuBLASLt not
/// in strict fp32, cuDNN unless it is switched off. Measured choices are kept in
/// options.cache_folder/cuda-tuning.json. The simulation has no cuDNN.
Libraries open_libraries(const Device& device, const CudaOptions& options);

/// Returns those that were linked, as they are here: "cuBLASLt 13.1.0", "cuDNN 9.19.0".
std::vector<std::string> library_versions();

}  // namespace linnet::cuda
