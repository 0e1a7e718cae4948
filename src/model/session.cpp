// SPDX-License-Identifier: Apache-2.0
#include "model/session.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/memory.h"
#include "model/memory_report.h"

namespace linnet {
namespace {

/// Gathers batches of the pass that begins with `first`.
BatchStream::Fill gather(const StepInfo& first, const Feed& feed) {
  return [first, reader = feed.reader, shuffle = feed.shuffle](std::uint64_t position,
                                                               std::uint64_t count,
                                                               std::span<std::byte* const> to) {
    reader->read(first, shuffle, position, count, to);
  };
}

}  // namespace

void Sweep::run(const StepInfo& first, std::uint64_t begin, std::uint64_t end) const {
  ++*weights_version;
  if (feed.stream != nullptr) return run_fed(first, begin, end);
  const std::uint64_t full = std::min(end, full_steps());
  const auto at = [&](std::uint64_t step) { return first.after(step, batch); };
  if (begin < full) this->full->run(at(begin), full - begin, batch);
  if (end > full_steps()) rest->run(at(full_steps()), 1, 0);
}

void Sweep::run_fed(const StepInfo& first, std::uint64_t begin, std::uint64_t end) const {
  BatchStream& stream = *feed.stream;
  if (begin == 0) stream.start(samples, gather(first, feed));
  const std::uint64_t ring = stream.layout().slots * stream.layout().batch;
  for (std::uint64_t step = begin; step < end; ++step) {
    // To the gather the ring is the data set, and a slot a place in it.
    StepInfo info = first.after(step, 0);
    info.position = stream.acquire() * stream.layout().batch;
    info.records = ring;
    info.begin = 0;
    info.samples = ring;
    (step < full_steps() ? full : rest)->run(info, 1, 0);
    stream.release();
  }
}

void Sweep::hold_first(const StepInfo& first) const {
  feed.stream->start(batch, gather(first, feed));
  static_cast<void>(feed.stream->acquire());
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

Program* Session::add(std::int64_t batch, const std::function<Graph(std::int64_t)>& graph_of) {
  programs_.push_back(in_memory(fmt::format("the program of a batch of {}", batch), [&] {
    return Entry{model_.backend->prepare(graph_of(batch), {}), batch, graph_of};
  }));
  return programs_.back().program.get();
}

Sweep Session::add_sweep(std::int64_t samples, std::int64_t batch,
                         const std::function<Graph(std::int64_t)>& graph_of) {
  require(batch > 0, "expected a batch of at least 1; got {}", batch);
  Sweep sweep{.batch = static_cast<std::uint64_t>(batch),
              .samples = static_cast<std::uint64_t>(samples),
              .weights_version = &model_.weights_version};
  if (samples >= batch) sweep.full = add(batch, graph_of);
  if (samples % batch != 0) sweep.rest = add(samples % batch, graph_of);
  return sweep;
}

std::size_t Session::needed(Storage storage) const {
  std::size_t bytes = 0;
  for (const Entry& entry : programs_) {
    bytes = std::max(bytes, entry.program->plan().bytes[static_cast<std::size_t>(storage)]);
  }
  return bytes;
}

void Session::allocate() {
  const auto set = [&](Storage storage, std::shared_ptr<Buffer> buffer) {
    memory_.buffers[static_cast<std::size_t>(storage)] = std::move(buffer);
  };
  set(Storage::parameter, model_.parameters);
  set(Storage::state, model_.statistics);
  constexpr std::array kOwn{Storage::arena, Storage::gradient, Storage::optimizer};
  std::size_t done = 0;
  try {
    for (Storage storage : kOwn) {
      set(storage, model_.backend->allocate(needed(storage)));
      done += needed(storage);
    }
  } catch (const OutOfMemory& error) {
    const auto largest =
        std::max_element(programs_.begin(), programs_.end(), [](const Entry& a, const Entry& b) {
          return a.program->plan().total_bytes() < b.program->plan().total_bytes();
        });
    std::size_t total = 0;
    for (Storage storage : kOwn) total += needed(storage);
    const std::size_t free = error.free + done;
    throw OutOfMemory(fmt::format("{}: {}", error.what(),
                                  does_not_fit(largest->program->plan(), total, free,
                                               largest->batch, largest->graph_of)),
                      total, free);
  }
}

void Session::attach() {
  allocate();
  for (const Entry& entry : programs_) entry.program->attach(memory_);
}

void Session::keep(const StepData& data) {
  for (const StepData::Part& part : data.parts) {
    LINNET_ASSERT(part.source == nullptr);  // has no memory that could be kept
    std::shared_ptr<Buffer>& view = views_[part.bytes.data()];
    if (view == nullptr) view = model_.backend->view(part.bytes);
  }
}

void Session::bind_data(const Sweep& sweep, const StepData& data) {
  keep(data);
  for (std::size_t slot = 0; slot < data.parts.size(); ++slot) {
    sweep.bind(slot, views_.at(data.parts[slot].bytes.data())->data());
  }
}

BatchStream* Session::stream(const StepData& data, std::int64_t batch, std::int64_t pool) {
  if (model_.backend->threads() > 0 && !data.has_source()) return nullptr;
  BatchLayout layout{.record_bytes = {},
                     .batch = static_cast<std::uint64_t>(std::min(batch, data.samples)),
                     .slots = static_cast<std::size_t>(pool)};
  for (const StepData::Part& part : data.parts) layout.record_bytes.push_back(part.record.bytes());
  for (const auto& stream : streams_) {
    if (stream->layout() == layout) return stream.get();
  }
  std::unique_ptr<BatchStream> stream = model_.backend->stream_batches(layout);
  if (stream == nullptr) return nullptr;
  streams_.push_back(std::move(stream));
  return streams_.back().get();
}

void Session::feed(Sweep& sweep, const StepData& data, BatchStream& stream, bool shuffle) {
  if (data.has_source() && team_ == nullptr) team_ = std::make_shared<ThreadTeam>(decoders_);
  sweep.feed = {.stream = &stream,
                .reader =
                    std::make_shared<RecordReader>(data.parts, data.has_source() ? team_ : nullptr),
                .shuffle = shuffle};
  for (std::size_t slot = 0; slot < data.parts.size(); ++slot) {
    sweep.bind(slot, stream.data(slot));
  }
}

std::vector<std::string> Session::notes() const {
  std::vector<std::string> notes;
  for (const Entry& entry : programs_) {
    for (const std::string& note : entry.program->notes()) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    }
  }
  return notes;
}

std::size_t Session::planned_bytes() const {
  std::size_t total = 0;
  for (const auto& [host, view] : views_) {
    if (view->data() != host) total += view->bytes();
  }
  for (const auto& stream : streams_) total += stream->bytes();
  for (const auto& buffer : memory_.buffers) total += buffer != nullptr ? buffer->bytes() : 0;
  for (const Entry& entry : programs_) total += entry.program->private_bytes();
  return total;
}

Supports Session::supports() const { return supports_of(*model_.backend); }

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

std::vector<float> Session::step_losses(std::uint64_t begin, std::uint64_t end) const {
  std::vector<double> ring(kLossHistory);
  model_.backend->download(*model_.statistics,
                           model_.counters_offset() + sizeof(double) * kCounters,
                           std::as_writable_bytes(std::span(ring)));
  std::vector<float> losses;
  for (std::uint64_t step = std::max(begin, end - std::min<std::uint64_t>(end, kLossHistory));
       step < end; ++step) {
    losses.push_back(static_cast<float>(ring[step % kLossHistory]));
  }
  return losses;
}

}  // namespace linnet
