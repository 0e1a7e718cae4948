// SPDX-License-Identifier: Apache-2.0
// What a build for Windows has instead of plugin.cpp: a sentence.
#include "base/check.h"
#include "base/plugin.h"
#include "base/version.h"

namespace linnet {

bool has_library(const char*) { return false; }

OpenPlugin open_plugin(const PluginFile& plugin, const std::string&) {
  fail<DeviceError>("{} is not usable: Windows builds of Linnet have no {}", plugin.subject,
                    plugin.name);
}

void require_version(const PluginFile& plugin, const OpenPlugin& opened,
                     const std::string& version) {
  require<DeviceError>(version == kVersionText,
                       "{} is not usable: {} belongs to Linnet {}; expected Linnet {}",
                       plugin.subject, opened.file, version, kVersionText);
}

}  // namespace linnet
