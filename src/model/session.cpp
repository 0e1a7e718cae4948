// SPDX-License-Identifier: Apache-2.0
#include "model/session.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"
#include "model/training_counters.h"

namespace linnet {
namespace {

/// Gathers samples of the pass that begins with `first`.
BatchStream::Fill gather(const StepInfo& first, const Feed& feed) {
  return [first, reader = feed.reader, shuffle = feed.shuffle](std::uint64_t position,
                                                               std::uint64_t count,
                                                               std::span<std::byte* const> to) {
    reader->read(first, shuffle, position, count, to);
  };
}

}  // namespace

void DataPass::run(const StepInfo& first, std::uint64_t begin, std::uint64_t end) const {
  if (feed.stream != nullptr) return run_fed(first, begin, end);
  if (one_batch) {
    for (std::uint64_t step = begin; step < end; ++step) {
      ready(rows_of(step)).run(at(first, step), 1, 0);
    }
    return;
  }
  const std::uint64_t full = std::min(end, full_steps());
  if (begin < full) ready(batch).run(at(first, begin), full - begin, batch);
  if (end > full_steps()) ready(rows_of(full_steps())).run(at(first, full_steps()), 1, 0);
}

StepInfo DataPass::at(const StepInfo& first, std::uint64_t step) const {
  StepInfo info = first.after(step, batch);
  if (one_batch) {
    info.step = first.step;
    info.first_row = step * batch;
  }
  return info;
}

ProgramRun DataPass::run_of(const ShardRows& shard, std::size_t lane) const {
  CachedProgram& cached = lane > 0 ? *lanes.at({lane, shard.rows}) : *programs.at(shard.rows);
  ProgramRun run{.program = cached.program.get(), .step = shard.step, .apart = shard.apart};
  if (!cached.recipe.fixed_weights) {
    ++model->weights_version;  // it trains
  } else {
    run.repack = model->weights_shared || cached.weights_version != model->weights_version;
  }
  cached.weights_version = model->weights_version;
  for (std::size_t slot = 0; slot < slots.size(); ++slot) cached.program->bind(slot, slots[slot]);
  return run;
}

Program& DataPass::ready(std::uint64_t rows) const {
  const ProgramRun run = run_of({.step = {}, .rows = rows}, 0);
  if (run.repack) run.program->weights_changed();
  return *run.program;
}

void DataPass::run_fed(const StepInfo& first, std::uint64_t begin, std::uint64_t end) const {
  if (begin == 0) start_feed(first, 0);
  for (std::uint64_t step = begin; step < end; ++step) {
    ready(rows_of(step)).run(in_ring(at(first, step)), 1, 0);
    feed.stream->release();
  }
}

void DataPass::start_at(const StepInfo& first, std::uint64_t step) const {
  if (feed.stream == nullptr || step == 0 || step >= steps()) return;
  start_feed(first, step * shards.own());
}

void DataPass::start_feed(const StepInfo& first, std::uint64_t shard) const {
  // A slot for every own shard, although some may have fewer rows than it holds, or none.
  const std::uint64_t slot = feed.stream->layout().batch;
  const BatchStream::Fill fill = gather(first, feed);
  const auto bring_shard = [pass = *this, slot, fill, shard](std::uint64_t place, std::uint64_t,
                                                             std::span<std::byte* const> to) {
    const std::uint64_t index = shard + place / slot;
    const std::uint64_t step = index / pass.shards.own();
    const std::uint64_t shard = pass.shards.first + index % pass.shards.own();
    const std::uint64_t rows = pass.rows_of(step);
    const std::uint64_t count = pass.shards.size(shard, rows);
    if (count > 0) fill(step * pass.batch + pass.shards.begin(shard, rows), count, to);
  };
  const std::uint64_t last = shards.size(shards.last - 1, rows_of(steps() - 1));
  const std::uint64_t before = steps() * shards.own() - shard - 1;
  feed.stream->start(before * slot + (last > 0 ? last : slot), bring_shard);
}

StepInfo DataPass::in_ring(StepInfo step) const {
  // To the gather the ring is the data set, and a slot a place in it.
  const BatchLayout& layout = feed.stream->layout();
  step.streamed = {.position = step.position, .samples = step.samples, .shuffled = feed.shuffle};
  step.position = feed.stream->acquire() * layout.batch;
  step.samples = layout.slots * layout.batch;
  return step;
}

std::vector<ShardRows> DataPass::bring(std::span<const ShardRows> shards) const {
  std::vector<ShardRows> brought(shards.begin(), shards.end());
  if (feed.stream == nullptr) return brought;
  const std::uint64_t slot = feed.stream->layout().batch;
  const auto bring_shard = [feed = feed, slot, wanted = brought](std::uint64_t place, std::uint64_t,
                                                                 std::span<std::byte* const> to) {
    const ShardRows& shard = wanted[place / slot];
    if (shard.rows > 0) gather(shard.step, feed)(0, shard.rows, to);  // from its position on
  };
  const std::uint64_t last = brought.back().rows;
  feed.stream->start((brought.size() - 1) * slot + (last > 0 ? last : slot), bring_shard);
  for (ShardRows& shard : brought) shard.step = in_ring(shard.step);
  return brought;
}

void DataPass::add_shards(ProgramQueue& queue, std::span<const ShardRows> shards) const {
  if (feed.stream == nullptr) return add_lanes(queue, shards);
  if (shards.size() == 1 && shards[0].rows == 0) return;
  add_lanes(queue, bring(shards));
  queue.run();
  for (std::size_t slot = 0; slot < shards.size(); ++slot) feed.stream->release();
}

void DataPass::add_shards(ProgramQueue& queue, const StepInfo& first, std::uint64_t step,
                          std::uint64_t own, std::span<const ShardRows> shards) const {
  if (feed.stream == nullptr) return add_lanes(queue, shards);
  if (step == 0 && own == 0) start_feed(first, 0);
  std::vector<ShardRows> in_slots(shards.begin(), shards.end());
  for (ShardRows& shard : in_slots) shard.step = in_ring(shard.step);
  add_lanes(queue, in_slots);
  queue.run();
  for (std::size_t slot = 0; slot < shards.size(); ++slot) feed.stream->release();
}

void DataPass::add_lanes(ProgramQueue& queue, std::span<const ShardRows> shards) const {
  SideBySide group;
  for (std::size_t lane = 0; lane < shards.size(); ++lane) {
    if (shards[lane].rows > 0) group.push_back(run_of(shards[lane], lane));
  }
  queue.add(std::move(group));
}

std::string DataPass::first_not_finite(const StepInfo& step, std::uint64_t count) const {
  // A norm's statistics become 0 times what is there, plus the batch's.
  const CachedProgram& cached = *programs.at(count);
  if (cached.recipe.training != nullptr) clear_shards(*model, *cached.recipe.training);
  Program& program = ready(count);
  const ShardRows rows{step, count};
  const std::optional<std::size_t> found =
      program.first_not_finite(bring(std::span(&rows, 1))[0].step);
  if (feed.stream != nullptr) feed.stream->release();
  if (!found) return "";
  const Node& node = program.plan().graph.nodes()[*found];
  return fmt::format("[{} '{}']", node.op->name(), node.name);
}

void DataPass::hold_first(const StepInfo& first) const {
  feed.stream->start(batch, gather(first, feed));
  static_cast<void>(feed.stream->acquire());
}

void DataPass::bind(std::size_t slot, const void* address) {
  if (slot >= slots.size()) slots.resize(slot + 1);
  slots[slot] = address;
}

Counters Counters::of(std::span<const double, kCounters> values) {
  const auto at = [&](Counter c) { return values[static_cast<std::size_t>(c)]; };
  return {.loss = at(Counter::loss),
          .correct = at(Counter::correct),
          .samples = at(Counter::samples),
          .not_finite = at(Counter::not_finite),
          .weight = at(Counter::weight)};
}

Evaluation Counters::evaluation(bool classification) const {
  const double count = weight > 0 ? weight : 1;
  return {.loss = not_finite > 0 ? std::numeric_limits<double>::quiet_NaN() : loss / count,
          .accuracy = classification ? correct / count : std::numeric_limits<double>::quiet_NaN(),
          .samples = static_cast<std::int64_t>(samples)};
}

DataPass Session::add_pass(std::int64_t samples, std::int64_t batch, const ProgramRecipe& recipe,
                           const Shards& shards, bool side_by_side) {
  require(batch > 0, "expected a batch of at least 1; got {}", batch);
  DataPass pass{.batch = static_cast<std::uint64_t>(batch),
                .samples = static_cast<std::uint64_t>(samples),
                .shards = shards,
                .model = &model_};
  const auto add = [&](std::uint64_t rows, std::size_t lane) {
    if (rows == 0) return;
    CachedProgram*& place = lane > 0 ? pass.lanes[{lane, rows}] : pass.programs[rows];
    if (place != nullptr) return;
    ProgramRecipe of = recipe;
    of.lane = lane;
    if (lane > 0) of.key += fmt::format(" lane {}", lane);
    if (of.apart) of.key += " apart";
    programs_.push_back(model_.programs->get(of, static_cast<std::int64_t>(rows)));
    place = programs_.back().get();
  };
  for (std::uint64_t step = pass.full_steps() > 0 ? pass.full_steps() - 1 : 0; step < pass.steps();
       ++step) {
    for (std::uint64_t shard = shards.first; shard < shards.last; ++shard) {
      add(shards.size(shard, pass.rows_of(step)), side_by_side ? shard - shards.first : 0);
    }
  }
  return pass;
}

CachedProgram* Session::add_program(const ProgramRecipe& recipe) {
  programs_.push_back(model_.programs->get(recipe, 1));
  return programs_.back().get();
}

void Session::attach() { model_.programs->attach(programs_); }

void Session::keep(const StepData& data) {
  for (const StepData::Part& part : data.parts) {
    LINNET_ASSERT(part.source == nullptr);  // has no memory that could be kept
    std::shared_ptr<Buffer>& view = views_[part.bytes.data()];
    if (view == nullptr) view = model_.backend->view(part.bytes);
  }
}

void Session::bind_data(DataPass& pass, const StepData& data) {
  keep(data);
  for (std::size_t slot = 0; slot < data.parts.size(); ++slot) {
    pass.bind(slot, views_.at(data.parts[slot].bytes.data())->data());
  }
}

BatchStream* Session::stream(const StepData& data, std::int64_t batch, std::int64_t pool) {
  if (model_.backend->capabilities().host_memory && !data.has_source()) return nullptr;
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

void Session::feed(DataPass& pass, const StepData& data, BatchStream& stream, bool shuffle) {
  if (data.has_source() && team_ == nullptr) team_ = std::make_shared<ThreadTeam>(decoders_);
  pass.feed = {.stream = &stream,
               .reader =
                   std::make_shared<RecordReader>(data.parts, data.has_source() ? team_ : nullptr),
               .shuffle = shuffle};
  for (std::size_t slot = 0; slot < data.parts.size(); ++slot) {
    pass.bind(slot, stream.data(slot));
  }
}

std::vector<std::string> Session::notes() const {
  std::vector<std::string> notes;
  for (const auto& cached : programs_) {
    for (const std::string& note : cached->program->notes()) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    }
  }
  return notes;
}

std::size_t Session::needed_bytes() const {
  std::size_t total = model_.parameters->bytes() + model_.statistics->bytes();
  std::size_t gradients = 0;
  std::size_t optimizer = 0;
  const Buffer* average = nullptr;
  for (const auto& cached : programs_) {
    total += cached->program->private_bytes();
    if (const Buffer* own = cached->recipe.parameters.get(); own != nullptr && own != average) {
      total += own->bytes();
      average = own;
    }
    const auto& bytes = cached->program->plan().bytes;
    gradients = std::max(gradients, gradient_bytes(*cached));
    optimizer = std::max(optimizer, bytes[static_cast<std::size_t>(Storage::optimizer)]);
    const TrainingMemory* training = cached->recipe.training.get();
    if (training != nullptr) optimizer = std::max(optimizer, training->optimizer->bytes);
  }
  total += arenas_of(programs_);
  return total + gradients + optimizer;
}

std::size_t Session::planned_bytes() const {
  std::size_t total = needed_bytes();
  for (const auto& [host, view] : views_) {
    if (view->data() != host) total += view->bytes();
  }
  for (const auto& stream : streams_) total += stream->bytes();
  return total;
}

Supports Session::supports() const { return supports_of(*model_.backend); }

Counters Session::counters() const {
  std::array<double, kCounters> values{};
  model_.backend->download(*model_.statistics, model_.counters_offset(),
                           std::as_writable_bytes(std::span(values)));
  return Counters::of(values);
}

}  // namespace linnet
