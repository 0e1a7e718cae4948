// SPDX-License-Identifier: Apache-2.0
#include "thread_ranks.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/check.h"

namespace linnet::testing {
namespace {

struct RankEnds {};  // the thread of a rank that is killed

/// What all ranks share: messages on their way, and who waits for whom.
class Board {
 public:
  Board(int size, RankFault fault) : size_(size), fault_(fault), running_(size) {}

  int size() const { return size_; }

  void exchange(int rank, int partner, std::span<const std::byte> send,
                std::span<std::byte> receive) {
    std::unique_lock lock(mutex_);
    if (fault_.rank == rank && fault_.kind != RankFault::none && exchanges_++ == fault_.exchange) {
      if (fault_.kind == RankFault::ends) {
        lose(rank, "ended");
        throw RankEnds();
      }
      silent_ = rank;
    }
    if (silent_ == rank && fault_.kind == RankFault::stops) {
      wait(lock, rank, -1);
      throw RankEnds();
    }
    const bool cut = silent_ >= 0 && (rank == silent_ || partner == silent_);
    if (!send.empty() && !cut) {
      messages_[{rank, partner}].emplace_back(send.begin(), send.end());
      changed_.notify_all();
    }
    if (receive.empty()) return;
    wait(lock, rank, partner);
    auto& queue = messages_[{partner, rank}];
    if (queue.empty()) {
      // A rank that is cut off sees it the other way round.
      const int whom = rank == silent_ ? partner : lost_;
      throw RankError(whom, fmt::format("rank {} {}", whom, how_));
    }
    const std::vector<std::byte> message = std::move(queue.front());
    queue.pop_front();
    require(message.size() == receive.size(), "expected {} bytes from rank {}; got {}",
            receive.size(), partner, message.size());
    std::copy(message.begin(), message.end(), receive.begin());
  }

  void look_for_lost() {
    const std::lock_guard lock(mutex_);
    if (lost_ >= 0) throw RankError(lost_, fmt::format("rank {} {}", lost_, how_));
  }

  void leave(int rank, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (left_ < 0) {
      left_ = rank;
      reason_ = reason;
    }
  }

  void finish() {
    const std::lock_guard lock(mutex_);
    --running_;
    look();
  }

 private:
  void lose(int rank, const std::string& how) {
    if (lost_ < 0) {
      lost_ = rank;
      how_ = how;
    }
    changed_.notify_all();
  }

  bool has_message(int rank, int partner) { return !messages_[{partner, rank}].empty(); }

  /// Where nobody can go on, the deadline passes, or it is seen that a rank has left.
  void look() {
    const bool stuck = static_cast<int>(waiting_.size()) == running_ &&
                       std::none_of(waiting_.begin(), waiting_.end(), [&](const auto& waits) {
                         return has_message(waits.first, waits.second);
                       });
    if (!stuck || waiting_.empty()) return;
    if (silent_ >= 0) return lose(silent_, "did not answer for 10 s");
    if (left_ >= 0) lose(left_, fmt::format("ended ({})", reason_));
  }

  /// Waits for a message, or until a rank is lost.
  void wait(std::unique_lock<std::mutex>& lock, int rank, int partner) {
    waiting_[rank] = partner;
    look();
    changed_.wait(lock, [&] { return lost_ >= 0 || has_message(rank, partner); });
    waiting_.erase(rank);
  }

  const int size_;
  const RankFault fault_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> messages_;
  int running_;
  std::map<int, int> waiting_;  // rank: for whom
  int exchanges_ = 0;           // of the rank that has the fault
  int silent_ = -1;
  int left_ = -1;
  int lost_ = -1;
  std::string how_;
  std::string reason_;
};

class ThreadCommunicator : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<Board> board, int rank)
      : board_(std::move(board)), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return board_->size(); }
  std::string engine() const override { return "threads"; }
  void exchange(int partner, std::span<const std::byte> send,
                std::span<std::byte> receive) override {
    LINNET_ASSERT(partner != rank_ && partner >= 0 && partner < size());
    board_->exchange(rank_, partner, send, receive);
  }
  /// In an order of its own: the last rank comes first.
  void sum(std::span<float> values) override {
    std::vector<float> mine(values.begin(), values.end());
    std::vector<float> theirs(values.size());
    std::ranges::fill(values, 0.0F);
    const auto add = [&](const std::vector<float>& of) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += of[i];
    };
    for (int rank = size() - 1; rank >= 0; --rank) {
      if (rank == rank_) {
        add(mine);
      } else {
        exchange(rank, std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(theirs)));
        add(theirs);
      }
    }
  }
  void look() override { board_->look_for_lost(); }
  void leave(const std::string& reason) override { board_->leave(rank_, reason); }

 private:
  std::shared_ptr<Board> board_;
  int rank_;
};

}  // namespace

std::vector<std::string> run_ranks(int size, const std::function<void(const Ranks&)>& body,
                                   RankFault fault, RankReduce reduce) {
  const auto board = std::make_shared<Board>(size, fault);
  std::vector<std::string> sentences(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      std::string& sentence = sentences[static_cast<std::size_t>(rank)];
      try {
        body(RankAccess::make(std::make_unique<ThreadCommunicator>(board, rank), rank, reduce));
      } catch (const RankEnds&) {
        sentence = "killed";
      } catch (const std::exception& error) {
        sentence = error.what();
        board->leave(rank, sentence);
      }
      board->finish();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return sentences;
}

}  // namespace linnet::testing
