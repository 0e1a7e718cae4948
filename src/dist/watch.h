// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "dist/sockets.h"

namespace linnet {

struct WatchOptions {
  int rank = 0;
  int size = 1;
  double deadline_seconds = 10;
  double start_seconds = 120;
  std::string token = {};  ///< known to the ranks of this job alone, where there is a way
};

/// Sees which rank ends, stops or is cut off, which neither MPI nor Gloo says: a rank that waits
/// sees a partner that is silent, but not whether this one waits too, and for whom. Each rank's
/// thread says every twentieth of the deadline to rank 0's that it lives, whatever the others
/// compute, and rank 0's answers. The first one that is lost is told to all.
class RankWatch {
 public:
  /// Rank 0: all others come to `listener`.
  RankWatch(const WatchOptions& options, Socket listener);
  /// The other ranks: connects to rank 0. Both return when all have come. Throw Error, or RankError
  /// for ranks that do not come.
  RankWatch(const WatchOptions& options, const std::vector<std::string>& hosts, std::uint16_t port);
  /// Says that this rank is done.
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

  /// Returns the address of this end of a connection between rank 0 and another.
  const std::string& own_address() const { return own_address_; }
  /// Returns the texts of all ranks, by rank.
  std::vector<std::string> gather(const std::string& text);

  /// `changed` is called by the watch's thread when check() may throw now.
  void on_change(std::function<void()> changed);
  /// Throws RankError where a rank is lost, or where `partner` (-1: none in particular) is done, so
  /// that nothing comes from it any more.
  void check(int partner) const;
  /// Waits for the watch's opinion, at most for the deadline, and throws RankError. Called where
  /// the connection to `partner` is broken, which may be the first sign of a lost rank.
  [[noreturn]] void explain(int partner, const std::string& broken) const;
  /// Tells the others that this rank ends, and why.
  void leave(const std::string& reason);
  /// Returns whether no rank is lost.
  bool whole() const { return !lost_flag_; }

 private:
  struct Peer;
  struct Loss {
    int rank = -1;
    std::string how;
    Clock::time_point from;  ///< when check() begins to throw
  };

  void join_as_first(Socket listener);
  void join(const std::vector<std::string>& hosts, std::uint16_t port);
  void start();
  void run();
  void turn();
  void read(Peer& peer);
  void hear(Peer& peer, const Frame& frame);
  void hear_text(int rank, const std::string& text);
  void look(Peer& peer, Clock::time_point now);
  void lose(int rank, const std::string& how, Clock::duration grace);
  void finish(int rank);
  void tell(char kind, int rank, const std::string& text, int except = -1);
  void wake();
  [[noreturn]] void throw_lost() const;  ///< with the mutex held

  WatchOptions options_;
  Clock::duration limit_;   ///< of silence
  Clock::duration period_;  ///< between two signs of life
  std::string own_address_;
  std::map<int, std::unique_ptr<Peer>> peers_;  ///< of rank 0: all others; of others: rank 0
  std::array<int, 2> wake_{-1, -1};             ///< a pipe to the thread
  Clock::time_point last_turn_;
  Clock::time_point last_sign_;
  Clock::duration longest_pause_{0};  ///< between two turns
  std::thread thread_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::function<void()> on_change_;
  std::vector<Frame> orders_;  ///< for the thread
  std::map<int, std::string> texts_;
  std::vector<std::string> gathered_;
  std::unique_ptr<Loss> lost_;
  std::map<int, Clock::time_point> done_;  ///< ranks that end as they should: when check() throws
  bool announced_ = true;                  ///< whether on_change_ was called for all that is known
  std::atomic<bool> lost_flag_{false};
  std::atomic<bool> attention_{false};  ///< check() has to look
  bool stopping_ = false;
};

}  // namespace linnet
