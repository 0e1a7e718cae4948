// SPDX-License-Identifier: Apache-2.0
#pragma once

// NCCL: NVIDIA's header, or in tests the simulated one of backend/cuda/sim. A build without either
// has no links between devices.
#if __has_include(<nccl.h>)
#include <nccl.h>
#define LINNET_HAVE_NCCL 1
#else
#define LINNET_HAVE_NCCL 0
#endif

#if LINNET_HAVE_NCCL

namespace linnet::cuda {

/// The functions of NCCL that are called. The plug-in does not link the library, which is large: it
/// opens it where several ranks train.
struct NcclLibrary {
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) init_rank = nullptr;
  decltype(&ncclCommGetAsyncError) async_error = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclGetErrorString) error_string = nullptr;
};

/// Returns the library, opened once; null where it is not installed.
const NcclLibrary* nccl_library();

}  // namespace linnet::cuda

#endif
