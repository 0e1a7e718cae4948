// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dist/rank_group.h"
#include "runtime/device_ranks.h"

namespace linnet {

/// Links the ranks' devices, so that what they sum does not go through the hosts; null, on all
/// ranks, where a device has no links, or two ranks share one. All ranks call it. The group must
/// outlive the links' calls.
std::shared_ptr<DeviceLinks> link_devices(const Backend& backend, RankGroup& group);

}  // namespace linnet
