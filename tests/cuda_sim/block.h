// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <random>
#include <source_location>
#include <string>
#include <vector>

#include "cuda_sim/fiber.h"
#include "cuda_sim/lane.h"
#include "cuda_sim/types.h"

namespace linnet::cuda::sim {

/// Runs the blocks of a launch, one after another, on the calling OS thread. A CUDA thread runs on
/// the fiber of its predecessor while none waits; one that waits keeps its fiber.
class BlockRunner {
 public:
  static BlockRunner& current();  ///< the OS thread's

  /// `shuffle_seed`: see Device. Throws as launch() does.
  void run_grid(const char* name, dim3 grid, dim3 block, std::size_t shared_bytes,
                std::uint64_t shuffle_seed, const std::function<void()>& body);
  bool running() const { return body_ != nullptr; }

  // What lane.h declares.
  void* dynamic_shared();
  int block_barrier(BlockBarrier kind, bool predicate, const std::source_location& where);
  std::uint64_t warp_exchange(WarpOp op, unsigned mask, std::uint64_t bits, unsigned source,
                              const std::source_location& where);
  unsigned lane_index() const { return current_ % 32; }
  unsigned live_lanes() const;

 private:
  enum class State : std::uint8_t { kNew, kBlockBarrier, kWarp, kRunnable, kDone };
  struct Lane {
    Fiber* fiber = nullptr;
    State state = State::kNew;
    WarpOp op = WarpOp::kSync;
    unsigned mask = 0;
    unsigned source = 0;
    std::uint64_t bits = 0;
    std::uint64_t result = 0;
    std::source_location where;
  };
  struct Warp {
    unsigned exists = 0;
    unsigned exited = 0;
    unsigned waiting = 0;
  };
  struct Cancelled {};
  static constexpr unsigned kNobody = ~0U;

  [[noreturn]] static void work();
  void run_block();
  void run_lanes(Fiber& fiber);
  void run_lane(unsigned lane, Fiber& fiber);
  void lane_exits(unsigned lane);
  void enter_lane(unsigned lane);
  void make_runnable(unsigned lane);
  unsigned take_runnable();
  bool prefer_new_lane();
  Fiber& next_fiber();
  Fiber& idle_fiber();
  void suspend(State state);
  void release_block(unsigned caller);
  bool try_release_warp(unsigned lane, bool caller_goes_on);
  void finish_warp_op(unsigned warp, unsigned lanes, unsigned caller, bool caller_goes_on);
  void cancel_waiting();
  std::string place(unsigned lane) const;
  std::string waits_for(const Lane& lane) const;
  std::string deadlock() const;
  [[noreturn]] void lane_fails(const std::string& text) const;
  uint3 thread_of(unsigned lane) const;

  // The launch.
  const char* name_ = "";
  const std::function<void()>* body_ = nullptr;
  dim3 block_shape_;
  unsigned size_ = 0;
  bool shuffling_ = false;
  std::mt19937_64 random_;
  void* shared_ = nullptr;

  // The block.
  std::vector<Lane> lanes_;
  std::vector<Warp> warps_;
  std::vector<unsigned> order_;  // in which lanes start
  unsigned started_ = 0;
  unsigned exited_ = 0;
  unsigned current_ = 0;
  unsigned at_barrier_ = 0;
  int barrier_votes_ = 0;
  BlockBarrier barrier_kind_ = BlockBarrier::kSync;
  std::source_location barrier_where_;
  std::array<unsigned, 1024> runnable_{};  // a ring
  unsigned runnable_first_ = 0;
  unsigned runnable_count_ = 0;
  std::exception_ptr error_;
  bool cancelling_ = false;

  // The OS thread's stacks, kept from launch to launch.
  Fiber main_;
  Fiber* running_ = &main_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
};

}  // namespace linnet::cuda::sim
