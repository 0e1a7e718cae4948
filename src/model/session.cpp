// SPDX-License-Identifier: Apache-2.0
#include "model/session.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace linnet {

void Sweep::run(const StepInfo& first, std::uint64_t begin, std::uint64_t end) const {
  const std::uint64_t full = std::min(end, full_steps());
  const auto at = [&](std::uint64_t step) {
    StepInfo info = first;
    info.step += step;
    info.position += step * batch;
    return info;
  };
  if (begin < full) this->full->run(at(begin), full - begin, batch);
  if (end > full_steps()) rest->run(at(full_steps()), 1, 0);
}

void Sweep::bind(std::size_t slot, const void* address) const {
  for (Program* program : {full, rest}) {
    if (program != nullptr) program->bind(slot, address);
  }
}

Evaluation Counters::evaluation(bool classification) const {
  const double count = samples > 0 ? samples : 1;
  return {.loss = not_finite > 0 ? std::numeric_limits<double>::quiet_NaN() : loss / count,
          .accuracy = classification ? correct / count : std::numeric_limits<double>::quiet_NaN(),
          .samples = static_cast<std::int64_t>(samples)};
}

Program* Session::add(Graph graph) {
  programs_.push_back(model_.backend->prepare(std::move(graph), {}));
  return programs_.back().get();
}

Sweep Session::add_sweep(std::int64_t samples, std::int64_t batch,
                         const std::function<Graph(std::int64_t)>& graph_of) {
  require(batch > 0, "expected a batch of at least 1; got {}", batch);
  Sweep sweep{.batch = static_cast<std::uint64_t>(batch),
              .samples = static_cast<std::uint64_t>(samples)};
  if (samples >= batch) sweep.full = add(graph_of(batch));
  if (samples % batch != 0) sweep.rest = add(graph_of(samples % batch));
  return sweep;
}

void Session::attach() {
  const auto set = [&](Storage storage, std::shared_ptr<Buffer> buffer) {
    memory_.buffers[static_cast<std::size_t>(storage)] = std::move(buffer);
  };
  set(Storage::parameter, model_.parameters);
  set(Storage::state, model_.statistics);
  for (Storage storage : {Storage::arena, Storage::gradient, Storage::optimizer}) {
    std::size_t bytes = 0;
    for (const auto& program : programs_) {
      bytes = std::max(bytes, program->plan().bytes[static_cast<std::size_t>(storage)]);
    }
    set(storage, model_.backend->allocate(bytes));
  }
  for (const auto& program : programs_) program->attach(memory_);
}

std::size_t Session::planned_bytes() const {
  std::size_t total = 0;
  for (const auto& buffer : memory_.buffers) total += buffer != nullptr ? buffer->bytes() : 0;
  for (const auto& program : programs_) total += program->private_bytes();
  return total;
}

Supports Session::supports() const {
  return [backend = model_.backend.get()](const Op& op, std::span<const ValueType> inputs,
                                          std::span<const ValueType> outputs) {
    return backend->supports(op, inputs, outputs);
  };
}

void Session::reset_counters() {
  const std::array<double, kCounters> zeros{};
  model_.backend->upload(*model_.statistics, model_.counters_offset(),
                         std::as_bytes(std::span(zeros)));
}

Counters Session::counters() const {
  std::array<double, kCounters> values{};
  model_.backend->download(*model_.statistics, model_.counters_offset(),
                           std::as_writable_bytes(std::span(values)));
  const auto at = [&](Counter c) { return values[static_cast<std::size_t>(c)]; };
  return {at(Counter::loss), at(Counter::correct), at(Counter::samples), at(Counter::not_finite),
          at(Counter::last_loss)};
}

}  // namespace linnet
