// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/ranks.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace linnet {

/// An engine's connections between ranks, without any knowledge of lost ranks: the watch has it.
/// One exchange or sum at a time.
class Wire {
 public:
  virtual ~Wire() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Begins to send to another rank and to receive from it. The memory must live until wait() says
  /// that all is done, or close() gives them up.
  virtual void begin(int partner, std::span<const std::byte> send,
                     std::span<std::byte> receive) = 0;
  /// Begins the engine's own all-reduce of equally long arrays of all ranks, which must live as
  /// long.
  virtual void begin_sum(std::span<float> values) = 0;
  /// Waits until what was begun is done, and returns true; false for a moment in which to look
  /// whether a rank is lost. Throws Error where the connection is broken.
  virtual bool wait() = 0;
  /// Lets wait() return false soon. Any thread may call it.
  virtual void interrupt() = 0;
  /// Ends, as all others do, or alone after a rank was lost; nothing else is called afterwards.
  virtual void close(bool all_are_there) = 0;
};

/// Gives every rank the text of each, by rank.
using GatherTexts = std::function<std::vector<std::string>(const std::string&)>;

struct WireOptions {
  RanksOptions ranks;
  std::string own_address;  ///< on which the others reach this rank; an engine may know better
  GatherTexts gather;       ///< null where the engine's processes find each other
};

/// Functions of an engine's plug-in, under the C symbol `linnet_rank_plugin`. The core links no
/// library for ranks: it opens this one when it is asked for.
struct RankPlugin {
  const char* version;  ///< kVersionText of the build; must equal the core's
  std::unique_ptr<Wire> (*open)(const WireOptions& options);
};

}  // namespace linnet
