// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cuda/kernel.h"

namespace linnet::cuda {

/// Returns NVIDIA's libraries as they would be on a device that is only described: what they would
/// compute can be planned and listed, not run. cuBLASLt takes every product that it is asked for,
/// and cuDNN every convolution, as it says of the networks in tests/cuda_cudnn/support.txt. What a
/// trial on the device decides, Linnet's own kernels compute. Workspaces are not known.
Libraries assumed_libraries(const CudaOptions& options);

}  // namespace linnet::cuda
