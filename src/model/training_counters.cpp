// SPDX-License-Identifier: Apache-2.0
#include "model/training_counters.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "base/check.h"
#include "model/finish.h"

namespace linnet {
namespace {

/// Returns the step that FiniteCheckOp wrote down, if it did.
std::optional<std::uint64_t> step_of(double stopped) {
  if (stopped == 0) return std::nullopt;
  return static_cast<std::uint64_t>(stopped) - 1;
}

}  // namespace

TrainingCounters counters_of(const ModelState& model, const OptimizerMemory& memory) {
  // The losses of steps lie between and come along: one wait for the device instead of two.
  std::array<double, kStoppedOffset / sizeof(double) + 1> values{};
  model.backend->download(*memory.buffer, 0, std::as_writable_bytes(std::span(values)));
  return {Counters::of(std::span(values).first<kCounters>()), step_of(values.back())};
}

void reset_counters(const ModelState& model, const OptimizerMemory& memory) {
  const std::array<double, kCounters> zeros{};
  model.backend->upload(*memory.buffer, 0, std::as_bytes(std::span(zeros)));
}

std::vector<double> saved_counters(const ModelState& model, const OptimizerMemory& memory) {
  std::vector<double> counters(kCounters);
  model.backend->download(*memory.buffer, 0, std::as_writable_bytes(std::span(counters)));
  return counters;
}

void restore_counters(const ModelState& model, const OptimizerMemory& memory,
                      std::span<const double> counters, std::span<const float> losses,
                      std::uint64_t steps) {
  LINNET_ASSERT(counters.size() == kCounters &&
                losses.size() <= std::min<std::uint64_t>(steps, kLossHistory));
  std::vector<double> ring(kLossHistory);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    ring[(steps - losses.size() + i) % kLossHistory] = losses[i];
  }
  model.backend->upload(*memory.buffer, 0, std::as_bytes(counters));
  model.backend->upload(*memory.buffer, counters.size_bytes(), std::as_bytes(std::span(ring)));
}

std::optional<std::uint64_t> stopped_step(const ModelState& model, const OptimizerMemory& memory) {
  if (memory.buffer == nullptr) return std::nullopt;  // no step was done
  double stopped = 0;
  model.backend->download(*memory.buffer, kStoppedOffset,
                          std::as_writable_bytes(std::span(&stopped, 1)));
  return step_of(stopped);
}

void clear_stopped(const ModelState& model, const OptimizerMemory& memory) {
  if (memory.buffer == nullptr) return;
  const double none = 0;
  model.backend->upload(*memory.buffer, kStoppedOffset, std::as_bytes(std::span(&none, 1)));
  // Nor is a loss that stopped it one of the steps that follow (LossScaleOp).
  model.backend->upload(*memory.buffer,
                        sizeof(double) * static_cast<std::size_t>(Counter::not_finite),
                        std::as_bytes(std::span(&none, 1)));
}

bool scales_loss(const ModelState& model) { return model.backend->capabilities().scales_loss; }

void clear_shards(const ModelState& model, const TrainingMemory& memory) {
  if (memory.gradients == nullptr) return;
  const std::vector<std::byte> zeros(memory.gradients->bytes());
  model.backend->upload(*memory.gradients, 0, zeros);
}

std::vector<float> step_losses(const ModelState& model, const OptimizerMemory& memory,
                               std::uint64_t begin, std::uint64_t end) {
  std::vector<double> ring(kLossHistory);
  model.backend->download(*memory.buffer, sizeof(double) * kCounters,
                          std::as_writable_bytes(std::span(ring)));
  std::vector<float> losses;
  for (std::uint64_t step = std::max(begin, end - std::min<std::uint64_t>(end, kLossHistory));
       step < end; ++step) {
    losses.push_back(static_cast<float>(ring[step % kLossHistory]));
  }
  return losses;
}

}  // namespace linnet
