// SPDX-License-Identifier: Apache-2.0
#include "cuda_sim/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "cuda_sim/device_functions.h"

constinit thread_local uint3 threadIdx{};
constinit thread_local uint3 blockIdx{};
constinit thread_local dim3 blockDim{};
constinit thread_local dim3 gridDim{};

namespace linnet::cuda::sim {
namespace {

constexpr int kGarbage = 0xCB;  // shared memory is not zero when a block starts

struct FreeDeleter {
  void operator()(void* memory) const { std::free(memory); }
};

}  // namespace

BlockRunner& BlockRunner::current() {
  static thread_local BlockRunner runner;
  return runner;
}

void BlockRunner::run_grid(const char* name, dim3 grid, dim3 block, std::size_t shared_bytes,
                           std::uint64_t shuffle_seed, const std::function<void()>& body) {
  if (running()) {
    throw std::runtime_error(
        fmt::format("[CUDA sim] kernel '{}' is launched from inside kernel '{}'", name, name_));
  }
  name_ = name;
  block_shape_ = block;
  size_ = block.x * block.y * block.z;
  shuffling_ = shuffle_seed != 0;
  if (shuffling_) random_.seed(shuffle_seed);
  // Memory of the exact size lets AddressSanitizer see overruns.
  const std::unique_ptr<void, FreeDeleter> shared(
      shared_bytes > 0 ? std::aligned_alloc(16, (shared_bytes + 15) / 16 * 16) : nullptr);
  if (shared_bytes > 0 && shared == nullptr) throw std::bad_alloc();
  shared_ = shared.get();
  lanes_.resize(size_);
  warps_.resize((size_ + 31) / 32);
  if (order_.size() != size_ || shuffling_) {
    order_.resize(size_);
    std::iota(order_.begin(), order_.end(), 0U);
  }
  blockDim = block;
  gridDim = grid;
  body_ = &body;
  struct Finish {
    BlockRunner& runner;
    ~Finish() {
      runner.body_ = nullptr;
      runner.shared_ = nullptr;
      if (runner.shuffling_) runner.order_.clear();
    }
  } finish{*this};

  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  const std::uint64_t start = shuffling_ ? random_() % blocks : 0;
  const bool backwards = shuffling_ && random_() % 2 == 1;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const std::uint64_t index = (start + (backwards ? blocks - i : i)) % blocks;
    blockIdx = {static_cast<unsigned>(index % grid.x),
                static_cast<unsigned>(index / grid.x % grid.y),
                static_cast<unsigned>(index / grid.x / grid.y)};
    if (shared_bytes > 0) std::memset(shared_, kGarbage, shared_bytes);
    run_block();
  }
}

void BlockRunner::run_block() {
  for (Lane& lane : lanes_) lane.state = State::kNew;
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    const unsigned lanes = std::min(32U, size_ - static_cast<unsigned>(w) * 32);
    warps_[w] = {.exists = lanes == 32 ? 0xFFFFFFFFU : (1U << lanes) - 1U};
  }
  if (shuffling_) std::shuffle(order_.begin(), order_.end(), random_);
  started_ = exited_ = at_barrier_ = runnable_first_ = runnable_count_ = 0;
  barrier_votes_ = 0;
  error_ = nullptr;
  cancelling_ = false;

  running_ = &idle_fiber();
  Fiber::switch_to(main_, *running_);
  if (!error_ && exited_ < size_) {
    error_ = std::make_exception_ptr(std::runtime_error(deadlock()));
  }
  if (error_) {
    cancel_waiting();
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
}

// Unwinds the lanes that still wait, so that their objects are destroyed and their fibers free.
void BlockRunner::cancel_waiting() {
  cancelling_ = true;
  for (Lane& lane : lanes_) {
    if (lane.state == State::kNew || lane.state == State::kDone) continue;
    running_ = lane.fiber;
    Fiber::switch_to(main_, *running_);
  }
  cancelling_ = false;
}

// ---- fibers

Fiber& BlockRunner::idle_fiber() {
  if (idle_.empty()) {
    fibers_.push_back(std::make_unique<Fiber>(&BlockRunner::work));
    return *fibers_.back();
  }
  Fiber& fiber = *idle_.back();
  idle_.pop_back();
  return fiber;
}

void BlockRunner::work() {
  BlockRunner& self = current();
  Fiber& fiber = *self.running_;  // a fiber never changes its thread
  for (;;) {
    self.run_lanes(fiber);
    Fiber& next = self.next_fiber();
    self.idle_.push_back(&fiber);
    self.running_ = &next;
    Fiber::switch_to(fiber, next);
  }
}

void BlockRunner::run_lanes(Fiber& fiber) {
  while (!error_ && !cancelling_ && started_ < size_ && prefer_new_lane()) {
    run_lane(order_[started_++], fiber);
  }
}

void BlockRunner::run_lane(unsigned lane, Fiber& fiber) {
  Lane& self = lanes_[lane];
  self.fiber = &fiber;
  self.state = State::kRunnable;
  enter_lane(lane);
  try {
    (*body_)();
  } catch (const Cancelled&) {
  } catch (...) {
    if (!error_) error_ = std::current_exception();
  }
  self.state = State::kDone;
  lane_exits(lane);
}

// A waiting lane before a new one: fewer fibers, and those in the cache. Any, when shuffling.
bool BlockRunner::prefer_new_lane() {
  if (runnable_count_ == 0) return true;
  return shuffling_ && random_() % 2 == 0;
}

/// Returns where to go when this fiber's lane can't go on and no new one starts on it.
Fiber& BlockRunner::next_fiber() {
  if (error_ || cancelling_) return main_;
  if (runnable_count_ > 0 && !(started_ < size_ && prefer_new_lane())) {
    return *lanes_[take_runnable()].fiber;
  }
  return started_ < size_ ? idle_fiber() : main_;
}

void BlockRunner::make_runnable(unsigned lane) {
  lanes_[lane].state = State::kRunnable;
  runnable_[(runnable_first_ + runnable_count_++) % runnable_.size()] = lane;
}

unsigned BlockRunner::take_runnable() {
  unsigned& first = runnable_[runnable_first_];
  if (shuffling_) {
    const auto other = static_cast<unsigned>(random_() % runnable_count_);
    std::swap(first, runnable_[(runnable_first_ + other) % runnable_.size()]);
  }
  const unsigned lane = first;
  runnable_first_ = (runnable_first_ + 1) % static_cast<unsigned>(runnable_.size());
  --runnable_count_;
  return lane;
}

void BlockRunner::enter_lane(unsigned lane) {
  current_ = lane;
  threadIdx = thread_of(lane);
}

void BlockRunner::suspend(State state) {
  const unsigned lane = current_;
  Lane& self = lanes_[lane];
  self.state = state;
  Fiber& next = next_fiber();
  if (&next != self.fiber) {
    running_ = &next;
    Fiber::switch_to(*self.fiber, next);
  }
  enter_lane(lane);
  if (cancelling_) throw Cancelled{};
}

void BlockRunner::lane_exits(unsigned lane) {
  ++exited_;
  if (cancelling_ || error_) return;
  Warp& warp = warps_[lane / 32];
  warp.exited |= 1U << lane % 32;
  // Those that waited for this lane alone go on without it.
  if (at_barrier_ > 0 && at_barrier_ + exited_ == size_) release_block(kNobody);
  while (warp.waiting != 0) {
    bool released = false;
    for (unsigned i = 0; i < 32 && !released; ++i) {
      if ((warp.waiting >> i & 1U) != 0) {
        released = try_release_warp(lane / 32 * 32 + i, false);
      }
    }
    if (!released || error_) break;
  }
}

uint3 BlockRunner::thread_of(unsigned lane) const {
  if (block_shape_.y == 1 && block_shape_.z == 1) return {lane, 0, 0};
  return {lane % block_shape_.x, lane / block_shape_.x % block_shape_.y,
          lane / block_shape_.x / block_shape_.y};
}

}  // namespace linnet::cuda::sim
