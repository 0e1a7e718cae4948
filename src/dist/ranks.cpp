// SPDX-License-Identifier: Apache-2.0
#include <linnet/ranks.h>

#include "dist/rank_group.h"

namespace linnet {

std::string_view to_string(RankEngine engine) {
  switch (engine) {
    case RankEngine::automatic: return "automatic";
    case RankEngine::mpi: return "mpi";
    case RankEngine::gloo: return "gloo";
  }
  return "";
}

std::string_view to_string(RankReduce reduce) {
  return reduce == RankReduce::fast ? "fast" : "tree";
}

int Ranks::rank() const { return group_ == nullptr ? 0 : group_->rank(); }
int Ranks::size() const { return group_ == nullptr ? 1 : group_->size(); }
int Ranks::local_rank() const { return group_ == nullptr ? 0 : group_->local_rank(); }
std::string Ranks::engine() const { return group_ == nullptr ? "none" : group_->engine(); }
void Ranks::leave(const std::string& reason) const {
  if (group_ != nullptr) group_->leave(reason);
}

}  // namespace linnet
