// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/ranks.h>

#include <cstddef>
#include <span>
#include <string>

namespace linnet {

/// Carries bytes between the ranks of one job; each engine derives from it. Messages between two
/// ranks arrive in the order in which they were sent. One call at a time.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string engine() const = 0;
  /// Sends to another rank and receives from it at the same time; returns when both are done. An
  /// empty span means that nothing goes this way; a message is as long as its receiver's span.
  /// Throws RankError "rank 2 did not answer for 10 s" for any rank that is lost, since no
  /// collective can end then; the collective adds its name.
  virtual void exchange(int partner, std::span<const std::byte> send,
                        std::span<std::byte> receive) = 0;
  /// Sums equally long arrays of all ranks into each of them, in the engine's own order. Throws
  /// RankError likewise.
  virtual void sum(std::span<float> values) = 0;
  /// Throws RankError where a rank is lost.
  virtual void look() = 0;
  /// Tells the others why this rank ends; they throw RankError with it.
  virtual void leave(const std::string& reason) = 0;
};

}  // namespace linnet
