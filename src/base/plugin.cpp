// SPDX-License-Identifier: Apache-2.0
#include "base/plugin.h"

#include <dlfcn.h>
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <filesystem>

#include "base/check.h"
#include "base/files.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

/// The file that holds this function, liblinnet.so or a program, stands beside the plug-ins.
fs::path own_folder(const PluginFile& plugin) {
  Dl_info info{};
  const bool found = dladdr(reinterpret_cast<const void*>(&open_plugin), &info) != 0;
  require<DeviceError>(found,
                       "{} is not usable: the static program of Linnet has no {}; Linnet's "
                       "packages and wheels do",
                       plugin.subject, plugin.name);
  std::error_code none;
  return fs::canonical(info.dli_fname, none).parent_path();
}

std::string find_library(const PluginFile& plugin, const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  const fs::path folder = own_folder(plugin);
  for (const fs::path& place : {folder / plugin.file, folder / ".." / "lib" / plugin.file}) {
    std::error_code none;
    if (fs::exists(place, none)) return place.string();
  }
  fail<DeviceError>("{} is not usable: this build of Linnet has no {} ({} is not in {})",
                    plugin.subject, plugin.name, plugin.file,
                    folder.empty() ? "the program's folder, which cannot be found"
                                   : folder.string());
}

/// dlopen() maps what the header promises; reading a file that was cut then ends the process.
void require_whole(const PluginFile& plugin, const std::string& file) {
  Elf64_Ehdr header{};
  std::error_code none;
  if (!fs::exists(file, none)) return;  // dlopen() says so
  InputFile in(file);                   // dlopen() would wait for a pipe's other end
  const std::size_t read = in.read({reinterpret_cast<char*>(&header), sizeof header});
  if (read < sizeof header || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return;
  const std::uint64_t end =  // the section headers stand last
      header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
  const std::uint64_t bytes = in.bytes();
  require<DeviceError>(end <= bytes, "{} is not usable: {} is incomplete: it has {} of {} bytes",
                       plugin.subject, file, bytes, end);
}

}  // namespace

OpenPlugin open_plugin(const PluginFile& plugin, const std::string& wanted) {
  const std::string file = find_library(plugin, wanted);
  require_whole(plugin, file);
  // Never closed: what it made (backends, exceptions) must not outlive its code.
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) fail<DeviceError>("{} is not usable: {}", plugin.subject, dlerror());
  void* entry = dlsym(handle, plugin.entry);
  require<DeviceError>(entry != nullptr, "{} is not usable: {} is not a plug-in of Linnet",
                       plugin.subject, file);
  return {file, entry};
}

bool has_library(const char* name) { return dlopen(name, RTLD_LAZY | RTLD_LOCAL) != nullptr; }

}  // namespace linnet
