// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/devices.h>
#include <linnet/model.h>

#include <memory>
#include <string>

#include "runtime/backend.h"

namespace linnet {

/// Functions of liblinnet_cuda.so, under the C symbol `linnet_cuda_plugin`. The core links no
/// CUDA library: it opens this one when it is asked for.
struct CudaPlugin {
  const char* version;  ///< kVersionText of the build; must equal the core's
  /// which: what stands after "cuda:", or nothing. Throws Error where there is no such device.
  std::unique_ptr<Backend> (*open)(const std::string& which, const CudaOptions& options,
                                   Precision precision);
  CudaStatus (*status)();
  /// Returns a backend that plans for a GPU that is only described, and runs nothing: neither a
  /// device nor a driver is needed. Of `device`, compute_capability and multiprocessors count.
  std::unique_ptr<Backend> (*describe)(const CudaDevice& device, const CudaOptions& options,
                                       Precision precision);
};

/// Opens the plug-in, once. Throws Error with one sentence: which file is missing, or which library
/// that it needs.
const CudaPlugin& cuda_plugin(const std::string& library);

/// Returns whether the device "auto" is CUDA. Linnet's own plug-in is not even opened where there
/// is no driver: with the libraries of NVIDIA that it loads, that would cost a quarter of a second
/// and 160 MB.
bool prefers_cuda(const std::string& library);

}  // namespace linnet
