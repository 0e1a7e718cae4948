// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/cuda_plugin.h"

#include "base/plugin.h"

namespace linnet {
namespace {

constexpr PluginFile kPlugin{
    .subject = "CUDA",
    .file = "liblinnet_cuda.so",
    .entry = "linnet_cuda_plugin",
    .name = "CUDA plug-in",
};

}  // namespace

const CudaPlugin& cuda_plugin(const std::string& library) {
  return plugin_table<CudaPlugin>(kPlugin, library);
}

bool prefers_cuda(const std::string& library) {
  // Stays open: where there is a driver, the plug-in is next.
  if (library.empty() && !has_library("libcuda.so.1")) return false;
  return cuda_status(library).unusable.empty();
}

CudaStatus cuda_status(const std::string& library) {
  try {
    return cuda_plugin(library).status();
  } catch (const Error& error) {
    return {.unusable = error.what(), .libraries = {}, .devices = {}};
  }
}

}  // namespace linnet
