// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/race.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace linnet::cuda {
namespace {

// Judged for a start of seconds; other values were not measured.
constexpr float kRoundMs = 0.4F;  ///< what a round of one entrant should take at least
/// A run takes at least twice the resolution of events (NVIDIA's text on cudaEventElapsedTime).
constexpr float kLeastMs = 1e-3F;
constexpr int kMostRuns = 20;  ///< in one graph
constexpr int kRounds = 4;
constexpr float kMargin = 0.97F;  ///< of the time of an earlier one
constexpr float kNear = 1.3F;     ///< of the fastest's time: slower ones leave

}  // namespace

void Race::enter(const std::function<void()>& enqueue) {
  enqueue();  // loads what it needs
  const float ms = watch_.milliseconds(what_, enqueue);
  Entrant entrant;
  entrant.runs = std::clamp(static_cast<int>(kRoundMs / std::max(ms, kLeastMs)) + 1, 1, kMostRuns);
  entrant.ms = std::numeric_limits<float>::infinity();
  entrant.graph = CapturedGraph::capture(stream_, [&] {
    for (int i = 0; i < entrant.runs; ++i) enqueue();
  });
  entrant.graph.launch(stream_);  // the first launch of a graph uploads it
  entrants_.push_back(std::move(entrant));
}

std::vector<float> Race::run() {
  float best = std::numeric_limits<float>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    const float limit = kNear * best;
    for (Entrant& e : entrants_) {
      if (round > 0 && e.ms > limit) continue;
      const float ms = watch_.milliseconds(what_, [&] { e.graph.launch(stream_); });
      e.ms = std::min(e.ms, ms / static_cast<float>(e.runs));
      best = std::min(best, e.ms);
    }
  }
  std::vector<float> times;
  for (const Entrant& e : entrants_) times.push_back(e.ms);
  return times;
}

std::optional<std::size_t> fastest_of(cudaStream_t stream, const char* what, std::size_t count,
                                      const std::function<void(std::size_t)>& enqueue) {
  Race race(stream, what);
  std::vector<std::size_t> entered;
  for (std::size_t i = 0; i < count; ++i) {
    try {
      race.enter([&] { enqueue(i); });
      entered.push_back(i);
    } catch (const Error&) {
      static_cast<void>(cudaGetLastError());
    }
  }
  if (entered.empty()) return std::nullopt;
  const std::vector<float> ms = race.run();
  std::size_t best = 0;
  for (std::size_t i = 1; i < ms.size(); ++i) {
    if (ms[i] < kMargin * ms[best]) best = i;
  }
  return entered[best];
}

}  // namespace linnet::cuda
