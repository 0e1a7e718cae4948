// SPDX-License-Identifier: Apache-2.0
#include "model/program_cache.h"

#include <algorithm>
#include <numeric>

#include "base/memory.h"
#include "model/finish.h"
#include "model/memory_report.h"
#include "runtime/side_by_side.h"

namespace linnet {
namespace {

using Programs = std::vector<std::shared_ptr<CachedProgram>>;

std::size_t bytes_of(const CachedProgram& cached, Storage storage) {
  return cached.program->plan().bytes[static_cast<std::size_t>(storage)];
}

std::size_t bytes_of(const std::shared_ptr<Buffer>& buffer) {
  return buffer != nullptr ? buffer->bytes() : 0;
}

/// Memory from an offset on in a buffer.
class RestOfBuffer final : public Buffer {
 public:
  RestOfBuffer(std::shared_ptr<Buffer> whole, std::size_t begin)
      : whole_(std::move(whole)), begin_(begin) {}
  std::byte* data() override { return whole_->data() + begin_; }
  std::size_t bytes() const override { return whole_->bytes() - begin_; }
  void read(std::size_t offset, std::span<std::byte> to) const override {
    whole_->read(begin_ + offset, to);
  }

 private:
  std::shared_ptr<Buffer> whole_;
  std::size_t begin_;
};

}  // namespace

void OptimizerMemory::allocate(const Backend& backend, std::size_t size) {
  buffer = nullptr;
  buffer = backend.allocate(size);
  for (const std::size_t place :
       scales.empty() ? std::vector{kMomentsOffset - kLossScaleBytes} : scales) {
    if (place + kLossScaleBytes > size) continue;  // the program has none
    backend.upload(*buffer, place, std::as_bytes(std::span(&kFirstLossScale, 1)));
  }
}

std::size_t lanes_of(std::span<const std::shared_ptr<CachedProgram>> programs) {
  std::size_t lanes = 1;
  for (const auto& cached : programs) lanes = std::max(lanes, cached->recipe.lane + 1);
  return lanes;
}

std::size_t arena_of(std::span<const std::shared_ptr<CachedProgram>> programs, std::size_t lane) {
  std::size_t bytes = 0;
  for (const auto& cached : programs) {
    if (cached->recipe.lane == lane) bytes = std::max(bytes, bytes_of(*cached, Storage::arena));
  }
  return bytes;
}

std::size_t arenas_of(std::span<const std::shared_ptr<CachedProgram>> programs) {
  std::size_t bytes = 0;
  const std::size_t lanes = lanes_of(programs);
  for (std::size_t lane = 0; lane < lanes; ++lane) bytes += arena_of(programs, lane);
  return bytes;
}

std::size_t gradient_bytes(const CachedProgram& cached) {
  const ProgramRecipe& recipe = cached.recipe;
  const std::size_t last = recipe.apart ? 1 : recipe.lane;
  return last * recipe.lane_gradients + bytes_of(cached, Storage::gradient);
}

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
    return std::make_shared<CachedProgram>(
        CachedProgram{recipe, batch,
                      backend_.prepare(recipe.graph_of(batch),
                                       {.fixed_weights = recipe.fixed_weights,
                                        .chains = recipe.chains,
                                        .shared_stages = recipe.shared_stages})});
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
    if (!cached->attached) attach(*cached);
  }
}

void ProgramCache::attach(CachedProgram& cached) {
  const ProgramRecipe& recipe = cached.recipe;
  Memory memory;
  const auto set = [&](Storage storage, std::shared_ptr<Buffer> buffer) {
    memory.buffers[static_cast<std::size_t>(storage)] = std::move(buffer);
  };
  set(Storage::parameter, recipe.parameters != nullptr ? recipe.parameters : parameters_);
  set(Storage::state, statistics_);
  set(Storage::arena, arenas_[recipe.lane]);
  if (recipe.training != nullptr) {
    const std::shared_ptr<Buffer>& gradients = recipe.training->gradients;
    const std::size_t begin = recipe.lane * recipe.lane_gradients;
    set(Storage::gradient,
        begin > 0 ? std::make_shared<RestOfBuffer>(gradients, begin) : gradients);
    set(Storage::optimizer, recipe.training->optimizer->buffer);
    memory.exchange = recipe.training->exchange;
  }
  cached.program->attach(memory);
  if (recipe.apart) {
    set(Storage::gradient,
        std::make_shared<RestOfBuffer>(recipe.training->gradients, recipe.lane_gradients));
    cached.program->side_by_side()->attach_apart(memory);
  }
  cached.attached = true;
}

std::size_t ProgramCache::arena_bytes() const {
  return std::transform_reduce(arenas_.begin(), arenas_.end(), std::size_t{0}, std::plus(),
                               [](const auto& arena) { return bytes_of(arena); });
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
    const std::size_t lanes = lanes_of(programs);
    arenas_.resize(std::max(arenas_.size(), lanes));
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::size_t wanted = arena_of(programs, lane);
      if (arenas_[lane] != nullptr && arenas_[lane]->bytes() >= wanted) continue;
      for (const auto& weak : living_) {
        const auto cached = weak.lock();
        if (cached != nullptr && cached->recipe.lane == lane) cached->attached = false;
      }
      grow(arenas_[lane], wanted);
    }
    for (const auto& cached : programs) {
      TrainingMemory* training = cached->recipe.training.get();
      if (training == nullptr) continue;
      const bool gradients = grow(training->gradients, gradient_bytes(*cached));
      OptimizerMemory& optimizer = *training->optimizer;
      const std::size_t wanted = std::max(optimizer.bytes, bytes_of(*cached, Storage::optimizer));
      const bool moments = optimizer.buffer == nullptr || optimizer.buffer->bytes() < wanted;
      if (moments) optimizer.allocate(backend_, wanted);
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
  needed += arenas_of(programs);
  free += arena_bytes();
  std::size_t gradients = 0;
  std::size_t optimizer = 0;
  const TrainingMemory* training = nullptr;
  for (const auto& cached : programs) {
    gradients = std::max(gradients, gradient_bytes(*cached));
    optimizer = std::max(optimizer, bytes_of(*cached, Storage::optimizer));
    if (training == nullptr) training = cached->recipe.training.get();
  }
  needed += gradients + optimizer;
  if (training != nullptr) {
    free += bytes_of(training->gradients) + bytes_of(training->optimizer->buffer);
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
