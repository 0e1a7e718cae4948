// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/ceilings_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "backend/cpu/ceilings.h"
#include "backend/cpu/kernel.h"
#include "backend/cpu/memory.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// As many sums as hide the latency of two units.
constexpr int kSums = 12;

/// `rounds` multiply-adds on each of kSums vectors, whose sum goes to `result`; returns the FLOPs.
double MultiplyAdd(std::int64_t rounds, float* result) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const V factor = hn::Set(d, 0.999F + *result * 1e-9F);  // not known to the compiler
  const V term = hn::Set(d, 1e-3F);
  V sums[kSums];
  for (V& sum : sums) sum = hn::Zero(d);
  for (std::int64_t i = 0; i < rounds; ++i) {
    for (V& sum : sums) sum = hn::MulAdd(sum, factor, term);
  }
  V total = sums[0];
  for (int i = 1; i < kSums; ++i) total = hn::Add(total, sums[i]);
  *result = hn::GetLane(total);
  return 2.0 * kSums * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

/// a = b + s c
void Triad(const float* b, const float* c, std::int64_t count, float* a) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto scale = hn::Set(d, 3.0F);
  for (std::int64_t i = 0; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::MulAdd(scale, hn::LoadU(d, c + i), hn::LoadU(d, b + i)), d, a + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(MultiplyAdd);
HWY_EXPORT(Triad);

namespace {

constexpr int kTries = 5;
constexpr int kTasksOfThread = 8;
constexpr std::int64_t kRounds = 100'000;
constexpr std::int64_t kFloats = std::int64_t{8} << 20;  // of an array: 32 MiB

class EqualTasks final : public StagedWork {
 public:
  EqualTasks(int tasks, const std::function<void(int task)>& run) : tasks_(tasks), run_(run) {}
  std::uint64_t stages() const override { return 1; }
  std::uint32_t tasks(std::uint64_t) const override { return static_cast<std::uint32_t>(tasks_); }
  void run(std::uint64_t, std::uint32_t task, int) override { run_(static_cast<int>(task)); }

 private:
  int tasks_;
  const std::function<void(int)>& run_;
};

/// Seconds of the fastest try.
double best_seconds(ThreadTeam& team, int tasks, const std::function<void(int)>& run) {
  using Clock = std::chrono::steady_clock;
  EqualTasks work(tasks, run);
  team.run(work);  // wakes the team, and touches memory for the first time
  double best = 1e9;
  for (int i = 0; i < kTries; ++i) {
    const Clock::time_point start = Clock::now();
    team.run(work);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

}  // namespace

Ceilings measure_ceilings(ThreadTeam& team) {
  const int tasks = kTasksOfThread * team.threads();
  struct alignas(64) OfTask {
    float sum = 0;
    double flops = 0;
  };
  std::vector<OfTask> done(static_cast<std::size_t>(tasks));
  const double computing = best_seconds(team, tasks, [&](int task) {
    OfTask& mine = done[static_cast<std::size_t>(task)];
    mine.flops = HWY_DYNAMIC_DISPATCH(MultiplyAdd)(kRounds, &mine.sum);
  });
  const auto memory = allocate(3 * sizeof(float) * static_cast<std::size_t>(kFloats));
  auto* a = reinterpret_cast<float*>(memory->data());
  const double moving = best_seconds(team, tasks, [&](int task) {
    const Range mine = split(kFloats, tasks, task);
    HWY_DYNAMIC_DISPATCH(Triad)
    (a + kFloats + mine.begin, a + 2 * kFloats + mine.begin, mine.size(), a + mine.begin);
  });
  return {.flops_per_second = tasks * done[0].flops / computing,
          .bytes_per_second = 3.0 * sizeof(float) * static_cast<double>(kFloats) / moving};
}

}  // namespace linnet::cpu
#endif
