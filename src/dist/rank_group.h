// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dist/communicator.h"
#include "dist/tree_sum.h"

namespace linnet {

/// What the ranks of a job compute together. All ranks make the same calls in the same order, from
/// one thread at a time. Each call has a name, e.g. "the sum of gradients at step 137": a
/// RankError says which rank is lost, how, and in what. A group of one rank does nothing.
class RankGroup {
 public:
  explicit RankGroup(std::unique_ptr<Communicator> communicator, int local_rank = 0,
                     RankReduce reduce = RankReduce::tree);
  ~RankGroup();

  int rank() const { return communicator_->rank(); }
  int size() const { return communicator_->size(); }
  int local_rank() const { return local_rank_; }
  std::string engine() const { return communicator_->engine(); }
  RankReduce reduce() const { return reduce_; }
  void leave(const std::string& reason) { communicator_->leave(reason); }

  /// Sums the arrays of all ranks into each of them: by TreeSum, or as reduce() says.
  void sum(std::span<float> values, const std::string& name);
  /// Likewise, always by TreeSum: what is f64 is small.
  void sum(std::span<double> values, const std::string& name);
  /// Gives all ranks rank 0's bytes, as many as each has room for.
  void broadcast(std::span<std::byte> bytes, const std::string& name);
  /// Returns rank 0's text.
  std::string broadcast(std::string text, const std::string& name);
  /// Returns the texts of all ranks, by rank.
  std::vector<std::string> gather(const std::string& text, const std::string& name);
  /// Returns the largest of all ranks' values.
  std::uint64_t max(std::uint64_t value, const std::string& name);
  /// Returns whether any rank says so.
  bool any(bool value, const std::string& name) { return max(value ? 1 : 0, name) != 0; }
  /// Throws Error on every rank, with the same sentence, unless all ranks have the same settings:
  /// "batch differs between ranks: 128 on rank 0, 64 on rank 2".
  void check_equal(const std::map<std::string, std::string>& settings, const std::string& name);

  /// Runs what ranks compute by other means, such as links between their devices, under a name.
  template <class F>
  auto named(const std::string& name, const F& collective) {
    try {
      return collective();
    } catch (const RankError& error) {
      throw RankError(error.rank, std::string(error.what()) + " in " + name);
    }
  }
  /// Throws RankError where a rank is lost: called while those other means wait.
  void look() { communicator_->look(); }

 private:
  std::unique_ptr<Communicator> communicator_;
  TreeSum tree_;
  int local_rank_;
  RankReduce reduce_;
};

/// Returns rank 0's text, before there is a group.
std::string broadcast_text(Communicator& ranks, std::string text);

/// Reaches what a handle holds.
struct RankAccess {
  /// Returns the group of a handle; null: this process alone.
  static RankGroup* group(const Ranks& ranks) { return ranks.group_.get(); }
  [[gnu::visibility("hidden")]] static Ranks make(std::unique_ptr<Communicator> communicator,
                                                  int local_rank = 0,
                                                  RankReduce reduce = RankReduce::tree);
};

}  // namespace linnet
