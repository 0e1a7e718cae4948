// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dist/rank_group.h"

namespace linnet::testing {

/// What goes wrong with a rank when it begins its exchange number `exchange`, counted from 0.
struct RankFault {
  enum Kind { none, ends, stops, cut } kind = none;
  int rank = -1;
  int exchange = 0;
};

/// Runs `body` on `size` threads, one a rank, which exchange bytes in memory; returns by rank the
/// sentence of the exception that ended it, empty if none did. A rank that stops, or whose messages
/// are cut off, is lost when no other can go on: no clock decides.
std::vector<std::string> run_ranks(int size, const std::function<void(const Ranks&)>& body,
                                   RankFault fault = {}, RankReduce reduce = RankReduce::tree);

}  // namespace linnet::testing
