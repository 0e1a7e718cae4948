// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// Names for NVIDIA's profilers; nothing on the simulated runtime, or where a toolkit lacks NVTX.
#if !defined(LINNET_CUDA_SIM) && __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define LINNET_HAVE_NVTX 1
#else
#define LINNET_HAVE_NVTX 0
#endif

namespace linnet::cuda {

/// Marks the calling thread's work with `name` in Nsight's timelines while it lives.
class NvtxRange {
 public:
#if LINNET_HAVE_NVTX
  explicit NvtxRange(const std::string& name) { nvtxRangePushA(name.c_str()); }
  ~NvtxRange() { nvtxRangePop(); }
#else
  explicit NvtxRange(const std::string& /*name*/) {}
#endif
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace linnet::cuda
