// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "runtime/backend.h"

namespace linnet {

/// A part of a buffer, in bytes.
struct BufferPart {
  std::size_t begin = 0;
  std::size_t bytes = 0;
};

/// Links between the devices of a job's ranks, which carry bytes without the hosts. All ranks make
/// the same calls in the same order. Calls return when the device is done, and throw Error where a
/// link is broken, or what DeviceLinkOptions::look throws; no call is allowed after that.
class DeviceLinks {
 public:
  virtual ~DeviceLinks() = default;
  /// Sends a part of a buffer to a partner and receives as many bytes from `receive` on.
  virtual void exchange(int partner, Buffer& buffer, BufferPart send, std::size_t receive) = 0;
  /// Sums an f32 part and an f64 part over all ranks, in the links' own order.
  virtual void sum(Buffer& buffer, BufferPart floats, BufferPart doubles) = 0;
};

struct DeviceLinkOptions {
  int rank = 0;
  int size = 1;
  std::string id = {};              ///< LinkedDevice::new_id() of rank 0
  std::function<void()> look = {};  ///< called while a call waits: throws where a rank is lost
};

/// What a Backend also is whose devices may have links.
class LinkedDevice {
 public:
  virtual ~LinkedDevice() = default;
  /// Says which device this is, in words that no other one has, of this machine or another; empty
  /// where it has no links.
  virtual std::string link_name() const = 0;
  /// Returns what tells the ranks' links from those of other jobs.
  virtual std::string new_id() const = 0;
  /// Meets the other ranks, each with a device of its own.
  virtual std::unique_ptr<DeviceLinks> link(const DeviceLinkOptions& options) const = 0;
};

}  // namespace linnet
