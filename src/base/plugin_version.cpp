// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"
#include "base/plugin.h"
#include "base/version.h"

namespace linnet {

void require_version(const PluginFile& plugin, const OpenPlugin& opened,
                     const std::string& version) {
  require<DeviceError>(version == kVersionText,
                       "{} is not usable: {} belongs to Linnet {}; expected Linnet {}",
                       plugin.subject, opened.file, version, kVersionText);
}

}  // namespace linnet
