// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/libraries.h"

#include <cudnn.h>
#include <fmt/format.h>

#include <filesystem>

#include "backend/cuda/cublaslt.h"
#include "backend/cuda/cudnn_plans.h"
#include "runtime/tuning_cache.h"

namespace linnet::cuda {

Libraries open_libraries(const Device& device, const CudaOptions& options) {
  device.activate();
  Libraries libraries{.cublaslt = std::make_shared<CublasLt>(options.deterministic)};
  if (options.cudnn) {
    libraries.cudnn =
        std::make_shared<CudnnLibrary>(device.info().name, false, options.deterministic);
  }
  libraries.tuning = options.cache_folder.empty()
                         ? std::make_shared<TuningCache>()
                         : std::make_shared<TuningCache>(
                               std::filesystem::path(options.cache_folder) / "cuda-tuning.json");
  return libraries;
}

std::vector<std::string> library_versions() {
  const auto text = [](const char* name, std::size_t version) {
    return fmt::format("{} {}.{}.{}", name, version / 10000, version % 10000 / 100, version % 100);
  };
  return {text("cuBLASLt", cublasLtGetVersion()), text("cuDNN", cudnnGetVersion())};
}

}  // namespace linnet::cuda
