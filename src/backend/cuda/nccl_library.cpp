// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/nccl_library.h"

#if LINNET_HAVE_NCCL

#include <dlfcn.h>

#include <optional>

namespace linnet::cuda {
namespace {

template <class F>
bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(::dlsym(library, name));
  return function != nullptr;
}

std::optional<NcclLibrary> opened() {
  void* library = ::dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {};
  NcclLibrary nccl;
  const bool whole =
      find(library, "ncclGetUniqueId", nccl.get_unique_id) &&
      find(library, "ncclCommInitRankConfig", nccl.init_rank) &&
      find(library, "ncclCommGetAsyncError", nccl.async_error) &&
      find(library, "ncclGroupStart", nccl.group_start) &&
      find(library, "ncclGroupEnd", nccl.group_end) && find(library, "ncclSend", nccl.send) &&
      find(library, "ncclRecv", nccl.receive) && find(library, "ncclAllReduce", nccl.all_reduce) &&
      find(library, "ncclCommAbort", nccl.abort) &&
      find(library, "ncclGetErrorString", nccl.error_string);
  if (!whole) return {};
  return nccl;
}

}  // namespace

const NcclLibrary* nccl_library() {
  static const std::optional<NcclLibrary> library = opened();
  return library ? &*library : nullptr;
}

}  // namespace linnet::cuda

#endif
