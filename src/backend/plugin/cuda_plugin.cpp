// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/cuda_plugin.h"

#include <dlfcn.h>
#include <elf.h>

#include <cstring>
#include <filesystem>

#include "base/check.h"
#include "base/files.h"
#include "base/version.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "liblinnet_cuda.so";
constexpr const char* kEntry = "linnet_cuda_plugin";

/// The file that holds this function, liblinnet.so or a program, stands beside the plug-in.
fs::path own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&cuda_plugin), &info) == 0) return {};
  std::error_code none;
  return fs::canonical(info.dli_fname, none).parent_path();
}

std::string find_library(const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  const fs::path folder = own_folder();
  for (const fs::path& place : {folder / kFile, folder / ".." / "lib" / kFile}) {
    std::error_code none;
    if (fs::exists(place, none)) return place.string();
  }
  fail<DeviceError>(
      "CUDA is not usable: this build of Linnet has no CUDA plug-in ({} is not in {})", kFile,
      folder.string());
}

/// dlopen() maps what the header promises; reading a file that was cut then ends the process.
void require_whole(const std::string& file) {
  Elf64_Ehdr header{};
  std::error_code none;
  if (!fs::exists(file, none)) return;  // dlopen() says so
  InputFile in(file);                   // dlopen() would wait for a pipe's other end
  const std::size_t read = in.read({reinterpret_cast<char*>(&header), sizeof header});
  if (read < sizeof header || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return;
  const std::uint64_t end =  // the section headers stand last
      header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
  const std::uint64_t bytes = in.bytes();
  require<DeviceError>(end <= bytes, "CUDA is not usable: {} is incomplete: it has {} of {} bytes",
                       file, bytes, end);
}

}  // namespace

const CudaPlugin& cuda_plugin(const std::string& library) {
  const std::string file = find_library(library);
  require_whole(file);
  // Never closed: what it made (backends, exceptions) must not outlive its code.
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) fail<DeviceError>("CUDA is not usable: {}", dlerror());
  const auto entry = reinterpret_cast<CudaPluginEntry>(dlsym(handle, kEntry));
  require<DeviceError>(entry != nullptr, "CUDA is not usable: {} is not a plug-in of Linnet", file);
  const CudaPlugin& plugin = *entry();
  require<DeviceError>(std::string(plugin.version) == kVersionText,
                       "CUDA is not usable: {} belongs to Linnet {}; expected Linnet {}", file,
                       plugin.version, kVersionText);
  return plugin;
}

bool prefers_cuda(const std::string& library) {
  // Stays open: where there is a driver, the plug-in is next.
  if (library.empty() && dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) == nullptr) return false;
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
