// SPDX-License-Identifier: Apache-2.0
#include "model/program_cache.h"

#include <algorithm>

#include "base/memory.h"
#include "model/memory_report.h"

namespace linnet {
namespace {

using Programs = std::vector<std::shared_ptr<CachedProgram>>;

std::size_t bytes_of(const CachedProgram& cached, Storage storage) {
  return cached.program->plan().bytes[static_cast<std::size_t>(storage)];
}

std::size_t most(const Programs& programs, Storage storage) {
  std::size_t bytes = 0;
  for (const auto& cached : programs) bytes = std::max(bytes, bytes_of(*cached, storage));
  return bytes;
}

}  // namespace

std::size_t held_bytes(const Program& program) {
  constexpr std::size_t kNodeBytes = 1024;  // of a plan and its kernels, measured
  return program.private_bytes() + program.plan().graph.nodes().size() * kNodeBytes;
}

std::shared_ptr<CachedProgram> ProgramCache::get(const ProgramRecipe& recipe, std::int64_t batch) {
  const auto found = std::ranges::find_if(kept_, [&](const auto& cached) {
    return cached->batch == batch && cached->recipe.key == recipe.key;
  });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
    return kept_.front();
  }
  auto cached = in_memory(fmt::format("the program of a batch of {}", batch), [&] {
    return std::make_shared<CachedProgram>(CachedProgram{
        recipe, batch,
        backend_.prepare(recipe.graph_of(batch),
                         {.fixed_weights = recipe.fixed_weights, .chains = recipe.chains})});
  });
  ++prepared_;
  kept_.push_front(cached);
  std::erase_if(living_, [](const auto& weak) { return weak.expired(); });
  living_.push_back(cached);
  evict();
  return cached;
}

void ProgramCache::attach(const Programs& programs) {
  reserve(programs);
  for (const auto& cached : programs) {
    if (cached->attached) continue;
    Memory memory;
    const auto set = [&](Storage storage, std::shared_ptr<Buffer> buffer) {
      memory.buffers[static_cast<std::size_t>(storage)] = std::move(buffer);
    };
    const std::shared_ptr<Buffer>& own = cached->recipe.parameters;
    set(Storage::parameter, own != nullptr ? own : parameters_);
    set(Storage::state, statistics_);
    set(Storage::arena, arena_);
    if (const TrainingMemory* training = cached->recipe.training.get()) {
      set(Storage::gradient, training->gradients);
      set(Storage::optimizer, training->optimizer->buffer);
    }
    cached->program->attach(memory);
    cached->attached = true;
  }
}

void ProgramCache::reserve(const Programs& programs) {
  // Buffers that are too small go first: both at once may not fit, and between runs they hold
  // nothing that anybody needs.
  const auto grow = [&](std::shared_ptr<Buffer>& buffer, std::size_t bytes) {
    if (buffer != nullptr && buffer->bytes() >= bytes) return false;
    buffer = nullptr;
    buffer = backend_.allocate(bytes);
    return true;
  };
  try {
    const std::size_t arena = most(programs, Storage::arena);
    if (arena_ == nullptr || arena_->bytes() < arena) {
      for (const auto& weak : living_) {
        if (const auto cached = weak.lock()) cached->attached = false;
      }
      grow(arena_, arena);
    }
    for (const auto& cached : programs) {
      TrainingMemory* training = cached->recipe.training.get();
      if (training == nullptr) continue;
      const bool gradients = grow(training->gradients, bytes_of(*cached, Storage::gradient));
      OptimizerMemory& optimizer = *training->optimizer;
      const bool moments =
          grow(optimizer.buffer, std::max(optimizer.bytes, bytes_of(*cached, Storage::optimizer)));
      if (!gradients && !moments) continue;
      for (const auto& weak : living_) {
        const auto other = weak.lock();
        if (other == nullptr || other->recipe.training == nullptr) continue;
        if (other->recipe.training->optimizer == training->optimizer) other->attached = false;
      }
    }
  } catch (const OutOfMemory& error) {
    report(programs, error);
  }
}

void ProgramCache::report(const Programs& programs, const OutOfMemory& error) const {
  std::size_t needed = 0;
  std::size_t free = error.free;
  const auto count = [&](const std::shared_ptr<Buffer>& buffer, Storage storage) {
    needed += most(programs, storage);
    free += buffer != nullptr ? buffer->bytes() : 0;
  };
  count(arena_, Storage::arena);
  for (const auto& cached : programs) {
    if (cached->recipe.training == nullptr) continue;
    count(cached->recipe.training->gradients, Storage::gradient);
    count(cached->recipe.training->optimizer->buffer, Storage::optimizer);
    break;
  }
  const CachedProgram& largest = **std::ranges::max_element(programs, {}, [](const auto& cached) {
    return cached->program->plan().total_bytes();
  });
  throw OutOfMemory(fmt::format("{}: {}", error.what(),
                                does_not_fit(largest.program->plan(), needed, free, largest.batch,
                                             largest.recipe.graph_of)),
                    needed, free);
}

void ProgramCache::forget(std::string_view prefix) {
  std::erase_if(kept_, [&](const auto& cached) { return cached->recipe.key.starts_with(prefix); });
}

void ProgramCache::evict() {
  std::size_t bytes = 0;
  for (auto next = kept_.begin(); next != kept_.end();) {
    bytes += held_bytes(*(*next)->program);
    const bool idle = next->use_count() == 1;
    next = bytes > limit_ && idle ? kept_.erase(next) : std::next(next);
  }
}

}  // namespace linnet
