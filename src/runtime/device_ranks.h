// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/backend.h"

namespace linnet {

/// A part of a buffer, in bytes.
struct BufferPart {
  std::size_t begin = 0;
  std::size_t bytes = 0;

  bool operator==(const BufferPart&) const = default;
};

/// A part of a step that the devices of ranks compute together.
struct LinkedPart {
  Program* program = nullptr;  ///< runs; null: the links carry something
  bool repack = false;         ///< ProgramRun::repack
  int partner = -1;            ///< gets `own`, and its bytes come to `other`; -1: all, for a sum
  BufferPart own = {};         ///< f32 of a sum
  BufferPart other = {};       ///< f64 of a sum

  bool operator==(const LinkedPart&) const = default;
};

/// Steps of equal parts.
struct LinkedSteps {
  std::vector<LinkedPart> parts = {};
  std::vector<StepInfo> infos = {};  ///< of the programs among the parts, step after step
  std::uint64_t count = 0;
};

/// Links between the devices of a job's ranks, which carry bytes without the hosts. All ranks make
/// the same calls in the same order.
class DeviceLinks {
 public:
  virtual ~DeviceLinks() = default;
  /// Runs steps, one part after the other. What the links carry lies in `buffer`; a sum is over all
  /// ranks, in the links' own order. Returns when the device is done, and throws Error where a link
  /// is broken, or what DeviceLinkOptions::look throws; no call is allowed after that.
  virtual void run(Buffer& buffer, const LinkedSteps& steps) = 0;
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
