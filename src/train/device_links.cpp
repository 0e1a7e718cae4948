// SPDX-License-Identifier: Apache-2.0
#include "train/device_links.h"

#include <algorithm>
#include <string>
#include <vector>

namespace linnet {

std::shared_ptr<DeviceLinks> link_devices(const Backend& backend, RankGroup& group) {
  const LinkedDevice* device = backend.links();
  const std::string name = "the start of the links between devices";
  std::vector<std::string> devices =
      group.gather(device == nullptr ? "" : device->link_name(), name);
  std::ranges::sort(devices);
  if (devices.front().empty() || std::ranges::adjacent_find(devices) != devices.end()) {
    return nullptr;
  }
  const std::string id = group.broadcast(group.rank() == 0 ? device->new_id() : "", name);
  std::shared_ptr<DeviceLinks> links;
  try {
    links = group.named(name, [&] {
      return device->link({.rank = group.rank(), .size = group.size(), .id = id, .look = [&group] {
                             group.look();
                           }});
    });
  } catch (const RankError&) {
    throw;
  } catch (const Error&) {
    links = nullptr;  // some devices cannot be linked; the hosts carry then
  }
  return group.any(links == nullptr, name) ? nullptr : links;
}

}  // namespace linnet
