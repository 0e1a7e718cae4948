// SPDX-License-Identifier: Apache-2.0
// What a build for Windows has instead of plugin.cpp: a sentence.
#include "base/check.h"
#include "base/plugin.h"

namespace linnet {

bool has_library(const char*) { return false; }

OpenPlugin open_plugin(const PluginFile& plugin, const std::string&) {
  fail<DeviceError>("{} is not usable: Windows builds of Linnet have no {}", plugin.subject,
                    plugin.name);
}

}  // namespace linnet
