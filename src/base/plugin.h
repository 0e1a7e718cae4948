// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace linnet {

/// A library that is opened when it is asked for.
struct PluginFile {
  const char* subject;  ///< what cannot be used without it: "CUDA"
  const char* file;     ///< "liblinnet_cuda.so", beside liblinnet.so or the program
  const char* entry;    ///< the C symbol of its function
  const char* name;     ///< what a build may lack: "CUDA plug-in"
};

struct OpenPlugin {
  std::string file;
  void* entry = nullptr;
};

/// Opens a plug-in, which stays open. wanted: its path; empty: where it belongs. Throws DeviceError
/// with one sentence: which file is missing, or which library that it needs.
OpenPlugin open_plugin(const PluginFile& plugin, const std::string& wanted);

/// Returns whether the system has a library of this name, which then stays open.
bool has_library(const char* name);

/// Throws DeviceError unless an opened plug-in is of this version of Linnet.
void require_version(const PluginFile& plugin, const OpenPlugin& opened,
                     const std::string& version);

/// Opens a plug-in, and returns the table of its functions, whose `version` is the core's.
template <class Table>
const Table& plugin_table(const PluginFile& plugin, const std::string& wanted) {
  const OpenPlugin opened = open_plugin(plugin, wanted);
  const Table& table = *reinterpret_cast<const Table* (*)()>(opened.entry)();
  require_version(plugin, opened, table.version);
  return table;
}

}  // namespace linnet
