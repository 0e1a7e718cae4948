// SPDX-License-Identifier: Apache-2.0
// How lanes wait for each other: barriers, warp operations, and what is wrong with them.
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

#include "cuda_sim/block.h"
#include "cuda_sim/device_functions.h"

namespace linnet::cuda::sim {
namespace {

const char* name_of(WarpOp op) {
  switch (op) {
    case WarpOp::kSync: return "__syncwarp";
    case WarpOp::kShuffle: return "__shfl_sync";
    case WarpOp::kShuffleXor: return "__shfl_xor_sync";
    case WarpOp::kShuffleDown: return "__shfl_down_sync";
    case WarpOp::kShuffleUp: return "__shfl_up_sync";
    case WarpOp::kBallot: return "__ballot_sync";
    case WarpOp::kAny: return "__any_sync";
    case WarpOp::kAll: return "__all_sync";
  }
  return "?";
}

const char* name_of(BlockBarrier kind) {
  switch (kind) {
    case BlockBarrier::kSync: return "__syncthreads";
    case BlockBarrier::kOr: return "__syncthreads_or";
    case BlockBarrier::kAnd: return "__syncthreads_and";
    case BlockBarrier::kCount: return "__syncthreads_count";
  }
  return "?";
}

bool is_vote(WarpOp op) {
  return op == WarpOp::kBallot || op == WarpOp::kAny || op == WarpOp::kAll;
}

std::string text_of(const std::source_location& where) {
  const char* slash = std::strrchr(where.file_name(), '/');
  return fmt::format("{}:{}", slash == nullptr ? where.file_name() : slash + 1, where.line());
}

bool same(const std::source_location& a, const std::source_location& b) {
  return a.line() == b.line() && a.column() == b.column() &&
         (a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0);
}

}  // namespace

void* BlockRunner::dynamic_shared() {
  if (shared_ == nullptr) lane_fails("asks for dynamic shared memory; the launch gives it 0 bytes");
  return shared_;
}

unsigned BlockRunner::live_lanes() const {
  const Warp& warp = warps_[current_ / 32];
  return warp.exists & ~warp.exited;
}

int BlockRunner::block_barrier(BlockBarrier kind, bool predicate,
                               const std::source_location& where) {
  Lane& lane = lanes_[current_];
  if (at_barrier_ == 0) {
    barrier_kind_ = kind;
    barrier_where_ = where;
    barrier_votes_ = 0;
  } else if (kind != barrier_kind_ || !same(where, barrier_where_)) {
    lane_fails(fmt::format("is at {} ({}) while other threads of its block wait at {} ({})",
                           name_of(kind), text_of(where), name_of(barrier_kind_),
                           text_of(barrier_where_)));
  }
  lane.where = where;
  ++at_barrier_;
  if (predicate) ++barrier_votes_;
  lane.state = State::kBlockBarrier;
  if (at_barrier_ + exited_ == size_) {
    release_block(shuffling_ ? kNobody : current_);
    if (!shuffling_) return static_cast<int>(lane.result);
    suspend(State::kRunnable);
  } else {
    suspend(State::kBlockBarrier);
  }
  return static_cast<int>(lane.result);
}

/// Lets all waiting lanes go on; `caller` goes on at once instead of by the queue.
void BlockRunner::release_block(unsigned caller) {
  for (unsigned i = 0; i < size_; ++i) {
    if (lanes_[i].state != State::kBlockBarrier) continue;
    lanes_[i].result = static_cast<std::uint64_t>(barrier_votes_);
    if (i == caller) {
      lanes_[i].state = State::kRunnable;
    } else {
      make_runnable(i);
    }
  }
  at_barrier_ = 0;
}

std::uint64_t BlockRunner::warp_exchange(WarpOp op, unsigned mask, std::uint64_t bits,
                                         unsigned source, const std::source_location& where) {
  const unsigned self = current_;
  const unsigned place_in_warp = self % 32;
  Lane& lane = lanes_[self];
  Warp& warp = warps_[self / 32];
  lane.where = where;
  lane.op = op;
  lane.mask = mask;
  lane.bits = bits;
  lane.source = source;
  if ((mask >> place_in_warp & 1U) == 0) {
    lane_fails(fmt::format("is not in the mask {:#010x} of its {} ({})", mask, name_of(op),
                           text_of(where)));
  }
  if ((mask & ~warp.exists) != 0) {
    lane_fails(fmt::format(
        "calls {} ({}) with mask {:#010x}, but the block ends before lanes {:#010x} of its warp",
        name_of(op), text_of(where), mask, mask & ~warp.exists));
  }
  warp.waiting |= 1U << place_in_warp;
  lane.state = State::kWarp;
  if (try_release_warp(self, !shuffling_)) {
    if (error_) throw Cancelled{};
    if (shuffling_) suspend(State::kRunnable);
  } else {
    suspend(State::kWarp);
  }
  return lane.result;
}

/// Lets the group of `lane` go on if all of it is there; `caller_goes_on` keeps `lane` itself out
/// of the queue.
bool BlockRunner::try_release_warp(unsigned lane, bool caller_goes_on) {
  const unsigned first = lane / 32 * 32;
  const Warp& warp = warps_[lane / 32];
  const Lane& caller = lanes_[lane];
  const unsigned needed = caller.mask & ~warp.exited;
  if ((warp.waiting & needed) != needed) return false;
  for (unsigned i = 0; i < 32; ++i) {
    if ((needed >> i & 1U) == 0) continue;
    const Lane& other = lanes_[first + i];
    if (other.mask != caller.mask || other.op != caller.op) return false;  // seen as a deadlock
  }
  finish_warp_op(lane / 32, needed, lane, caller_goes_on);
  return true;
}

void BlockRunner::finish_warp_op(unsigned warp, unsigned lanes, unsigned caller,
                                 bool caller_goes_on) {
  Lane* const group = &lanes_[warp * 32];
  const WarpOp op = lanes_[caller].op;
  std::uint64_t votes = 0;
  if (is_vote(op)) {
    for (unsigned i = 0; i < 32; ++i) {
      if ((lanes >> i & 1U) != 0 && group[i].bits != 0) votes |= std::uint64_t{1} << i;
    }
  }
  for (unsigned i = 0; i < 32; ++i) {
    if ((lanes >> i & 1U) == 0) continue;
    Lane& lane = group[i];
    if (is_vote(op)) {
      lane.result = votes;
    } else if ((lanes >> lane.source & 1U) != 0) {
      lane.result = group[lane.source].bits;
    } else {
      const bool named = (lane.mask >> lane.source & 1U) != 0;
      error_ = std::make_exception_ptr(std::runtime_error(
          fmt::format("{} reads lane {} by {} ({}), which {}", place(warp * 32 + i), lane.source,
                      name_of(op), text_of(lane.where),
                      named ? "has exited"
                            : fmt::format("is not in the mask {:#010x}", lane.mask))));
      return;
    }
  }
  warps_[warp].waiting &= ~lanes;
  for (unsigned i = 0; i < 32; ++i) {
    if ((lanes >> i & 1U) == 0) continue;
    if (caller_goes_on && warp * 32 + i == caller) {
      group[i].state = State::kRunnable;
    } else {
      make_runnable(warp * 32 + i);
    }
  }
}

// ---- messages

std::string BlockRunner::place(unsigned lane) const {
  const uint3 thread = thread_of(lane);
  return fmt::format("[CUDA sim] kernel '{}', block ({}, {}, {}), thread ({}, {}, {})", name_,
                     blockIdx.x, blockIdx.y, blockIdx.z, thread.x, thread.y, thread.z);
}

void BlockRunner::lane_fails(const std::string& text) const {
  throw std::runtime_error(fmt::format("{} {}", place(current_), text));
}

std::string BlockRunner::waits_for(const Lane& lane) const {
  if (lane.state == State::kBlockBarrier) {
    return fmt::format("{} ({})", name_of(barrier_kind_), text_of(lane.where));
  }
  return fmt::format("{} ({}) with mask {:#010x}", name_of(lane.op), text_of(lane.where),
                     lane.mask);
}

std::string BlockRunner::deadlock() const {
  struct Group {
    unsigned first;
    unsigned count;
  };
  std::map<std::string, Group> groups;
  for (unsigned i = 0; i < size_; ++i) {
    const Lane& lane = lanes_[i];
    if (lane.state == State::kDone) continue;
    const auto [group, added] = groups.try_emplace(waits_for(lane), Group{i, 0});
    ++group->second.count;
  }
  std::string text = fmt::format(
      "[CUDA sim] kernel '{}', block ({}, {}, {}): deadlock, {} of {} threads have exited", name_,
      blockIdx.x, blockIdx.y, blockIdx.z, exited_, size_);
  for (const auto& [what, group] : groups) {
    const uint3 thread = thread_of(group.first);
    text += fmt::format("; thread ({}, {}, {}){} at {}", thread.x, thread.y, thread.z,
                        group.count > 1 ? fmt::format(" and {} more wait", group.count - 1)
                                        : std::string(" waits"),
                        what);
  }
  return text;
}

// ---- lane.h

void* dynamic_shared() { return BlockRunner::current().dynamic_shared(); }
int block_barrier(BlockBarrier kind, bool predicate, const std::source_location& where) {
  return BlockRunner::current().block_barrier(kind, predicate, where);
}
std::uint64_t warp_exchange(WarpOp op, unsigned mask, std::uint64_t bits, unsigned source,
                            const std::source_location& where) {
  return BlockRunner::current().warp_exchange(op, mask, bits, source, where);
}
unsigned lane_index() { return BlockRunner::current().lane_index(); }
unsigned live_lanes() { return BlockRunner::current().live_lanes(); }

}  // namespace linnet::cuda::sim
