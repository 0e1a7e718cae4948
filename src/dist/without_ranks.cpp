// SPDX-License-Identifier: Apache-2.0
// What a build for Windows has instead of open_ranks.cpp: neither sockets nor engines.
#include <linnet/ranks.h>

#include "base/check.h"

namespace linnet {

Ranks Ranks::open(const RanksOptions& options) {
  if (options.size == 1 && options.engine != RankEngine::mpi) return {};
  fail("Windows builds of Linnet train in one process; ranks need Linux");
}

}  // namespace linnet
