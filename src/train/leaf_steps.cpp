// SPDX-License-Identifier: Apache-2.0
#include "train/leaf_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <utility>

#include "base/check.h"
#include "dist/rank_group.h"
#include "model/loss_shares.h"
#include "plan/passes/passes.h"
#include "train/device_links.h"
#include "train/recipes.h"

namespace linnet {
namespace {

// Added to a number, it changes no bit of it.
constexpr float kNeutral = -0.0F;
// Steps of devices in one go; leaves of such a step.
constexpr std::size_t kMostJoined = 128;

std::size_t levels_of(std::size_t leaves) {
  return static_cast<std::size_t>(std::bit_width(leaves - 1));
}

bool has_rows(std::span<const LeafRows> leaves, std::size_t first, std::size_t count) {
  if (first >= leaves.size()) return false;
  const auto part = leaves.subspan(first, std::min(count, leaves.size() - first));
  return std::ranges::any_of(part, [](const LeafRows& leaf) { return leaf.rows > 0; });
}

}  // namespace

Shards own_shards(std::int64_t asked, const Ranks& ranks) {
  require(asked == 0 || asked >= ranks.size(),
          "expected at least as many shards as ranks, {}; got {}", ranks.size(), asked);
  return shards_of_rank(asked > 0 ? asked : ranks.size(), ranks.rank(), ranks.size());
}

std::size_t lanes_of(const ModelState& model, const Shards& shards, const TrainerOptions& options) {
  if (!options.side_by_side || shards.own() == 1) return 1;
  require(model.backend->capabilities().side_by_side,
          "side_by_side is for the CPU; got the device '{}'", model.backend->name());
  return shards.own();
}

bool leaves_apart(const ModelState& model, std::size_t lanes, std::uint64_t leaves) {
  return lanes == 1 && leaves > 1 && model.backend->capabilities().side_by_side;
}

std::shared_ptr<SumHandover> handover_of(const TrainingMemory& memory, const ModelState& model,
                                         const Shards& shards, const TrainerOptions& options) {
  const bool overlaps = options.ranks.size() > 1 && shards.own() == 1 &&
                        model.backend->capabilities().host_memory &&
                        !is_disabled(kOverlapSums, options.disabled_passes) &&
                        !(options.sync_batch_norm && has_batch_norms(model.definition())) &&
                        gradient_buckets(model.definition(), options.bucket_bytes).size() > 1;
  return overlaps ? memory.handover : nullptr;
}

std::shared_ptr<NormSync> norm_sync_of(const TrainingMemory& memory, const ModelState& model,
                                       const Shards& shards, const TrainerOptions& options,
                                       std::int64_t samples, std::int64_t batch) {
  if (!options.sync_batch_norm || !has_batch_norms(model.definition()) || shards.count == 1) {
    return nullptr;
  }
  const std::int64_t ranks = options.ranks.size();
  require(shards.own() == 1 || options.side_by_side,
          "sync_batch_norm needs all parts of a batch at the same time: one for each rank, or "
          "side_by_side; got {} shards on {} ranks, one after the other",
          shards.count, ranks);
  require(model.backend->capabilities().side_by_side,
          "sync_batch_norm is for the CPU; got the device '{}'", model.backend->name());
  const std::int64_t least = samples % batch == 0 ? batch : std::min(samples, samples % batch);
  require(least >= static_cast<std::int64_t>(shards.count),
          "sync_batch_norm needs a sample of every batch in each of {} parts; a batch has {}: "
          "drop_last leaves out an epoch's last one",
          shards.count, least);
  return memory.norms;
}

std::vector<LeafRows> shards_of(const LeafRows& batch, const Shards& shards) {
  std::vector<LeafRows> leaves(shards.count, batch);
  for (std::uint64_t s = 0; s < shards.count; ++s) {
    leaves[s].step.position += shards.begin(s, batch.rows);
    leaves[s].rows = shards.size(s, batch.rows);
  }
  return leaves;
}

LeafSteps::LeafSteps(Session& session, ModelState& model, const std::string& key,
                     const StepData& data, const TrainingStep& step,
                     std::shared_ptr<TrainingMemory> memory, std::uint64_t most, std::size_t lanes,
                     bool shuffle, const Ranks& ranks)
    : model_(model),
      data_(data),
      shuffle_(shuffle),
      memory_(memory),
      ranks_(ranks),
      layout_(model.definition()),
      lanes_(lanes) {
  LINNET_ASSERT(most > 0);
  const auto own = most / static_cast<std::uint64_t>(ranks.size());
  if (lanes > 1) {
    LINNET_ASSERT(lanes == own);
    add_lanes_ = session.add_program(add_lanes_recipe(key, model, lanes, memory));
  }
  apart_ = leaves_apart(model, lanes, own);
  for (std::size_t level = 0; lanes == 1 && level < levels_of(own); ++level) {
    const bool copies = level > 0 || !apart_;
    keep_.push_back(copies ? session.add_program(keep_recipe(key, model, level, memory)) : nullptr);
    add_.push_back(session.add_program(add_recipe(key, model, level, memory)));
    if (level + 1 == levels_of(own)) break;
    add_kept_.push_back(session.add_program(add_kept_recipe(key, model, level, memory)));
  }
  if (ranks.size() > 1 && model.backend->links() != nullptr) {
    add_linked_ = session.add_program(add_recipe(key, model, levels_of(own), memory));
  }
  norms_ = step.norms;
  finish_ = session.add_program(finish_recipe(key, model, data, step, memory));
  if (step.handover != nullptr) {
    handover_ = step.handover;
    buckets_ = gradient_buckets(model.definition(), step.bucket_bytes);
    background_ = std::make_unique<BackgroundSum>(*RankAccess::group(ranks));
  }
}

std::vector<LeafRows> LeafSteps::told(std::span<const LeafRows> leaves) const {
  std::vector<LeafRows> told(leaves.begin(), leaves.end());
  std::vector<std::array<double, kShares>> found;
  std::array<double, kShares> all{};
  std::uint64_t rows = 0;
  for (LeafRows& leaf : told) {
    leaf.step.first_row = rows;
    rows += leaf.rows;
    found.push_back(denominators(data_, leaf.step, leaf.rows, shuffle_));
    for (std::size_t s = 0; s < kShares; ++s) all[s] += found.back()[s];
  }
  for (std::size_t i = 0; i < told.size(); ++i) {
    for (std::size_t s = 0; s < kShares; ++s) {
      told[i].step.shares[s] = all[s] > 0 ? static_cast<float>(found[i][s] / all[s]) : 0;
    }
  }
  return told;
}

void LeafSteps::run(std::span<const LeafRows> leaves, const AddLeaves& add) {
  if (join(leaves, add)) return;
  queue_sum(leaves, add);
  ++model_.weights_version;
  queue_.add(*finish_->program, leaves.front().step);
  if (ranks_.size() > 1) return queue_.run();
  queue_.run_some();
}

void LeafSteps::finish_queue() {
  run_joined();
  queue_.run();
}

bool LeafSteps::join(std::span<const LeafRows> leaves, const AddLeaves& add) {
  const std::size_t own = leaves.size() / static_cast<std::size_t>(ranks_.size());
  const std::size_t first = own * static_cast<std::size_t>(ranks_.rank());
  // The first step looks for links.
  if (add_linked_ == nullptr || !memory_->links || links() == nullptr || own > kMostJoined ||
      !has_rows(leaves, first, own)) {
    run_joined();
    return false;
  }
  LinkedSteps step{.count = 1};
  const auto take = [&] {
    for (const SideBySide& group : queue_.take()) {
      step.parts.push_back({.program = group[0].program, .repack = group[0].repack});
      step.infos.push_back(group[0].step);
    }
  };
  const std::vector<LeafRows> told = this->told(leaves);
  try {
    sum_own(told, add);
  } catch (...) {
    queue_ = {};
    throw;
  }
  take();
  const bool fed = step.parts.empty();  // what is fed has run
  for (const LinkedPart& part : linked_sum()) {
    step.parts.push_back(part);
    if (part.program != nullptr) step.infos.push_back(told.front().step);
  }
  ++model_.weights_version;
  queue_.add(*finish_->program, leaves.front().step);
  take();
  if (joined_.parts != step.parts || joined_.count >= kMostJoined) run_joined();
  if (joined_.count == 0) {
    first_joined_ = told.front().step.step;
    joined_ = std::move(step);
  } else {
    joined_.infos.insert(joined_.infos.end(), step.infos.begin(), step.infos.end());
    ++joined_.count;
  }
  if (fed) run_joined();
  return true;
}

void LeafSteps::run_joined() {
  if (joined_.count == 0) return;
  const LinkedSteps steps = std::exchange(joined_, {});
  const std::uint64_t last = first_joined_ + steps.count - 1;
  const std::string name = steps.count == 1 ? fmt::format("the sum of gradients at step {}", last)
                                            : fmt::format("the sums of gradients at steps {} to {}",
                                                          first_joined_, last);
  RankAccess::group(ranks_)->named(name, [&] { links()->run(*memory_->gradients, steps); });
}

void LeafSteps::add_up(std::span<const LeafRows> leaves, const AddLeaves& add) {
  queue_sum(leaves, add);
  queue_.run();
}

void LeafSteps::queue_sum(std::span<const LeafRows> leaves, const AddLeaves& add) {
  const std::vector<LeafRows> told = this->told(leaves);
  const std::string name = fmt::format("the sum of gradients at step {}", told.front().step.step);
  if (background_ != nullptr) {
    add_buckets(told, add, name);
    return;
  }
  if (norms_ != nullptr) norms_->sum = norm_sum(told.front().step);
  bool empty = true;
  try {
    empty = !sum_own(told, add);
    if (ranks_.size() > 1 || norms_ != nullptr) queue_.run();
  } catch (...) {
    if (norms_ != nullptr) norms_->sum = nullptr;
    queue_ = {};
    throw;
  }
  if (norms_ != nullptr) norms_->sum = nullptr;
  if (ranks_.size() == 1) return;
  if (DeviceLinks* const links = this->links()) {
    RankAccess::group(ranks_)->named(name, [&] { add_linked(*links, told.front().step, empty); });
    return;
  }
  add_ranks(0, name, empty);
}

std::function<void(std::span<double>, std::uint64_t)> LeafSteps::norm_sum(const StepInfo& step) {
  const std::string name = fmt::format("the statistics of batch norms at step {}", step.step);
  return [this, name](std::span<double> sums, std::uint64_t first_row) {
    const std::lock_guard lock(given_mutex_);
    given_[first_row] = sums;
    if (given_.size() < lanes_) return;
    std::vector<std::span<double>> parts;
    for (const auto& [row, part] : given_) parts.push_back(part);
    given_.clear();
    for (std::size_t width = 1; width < parts.size(); width *= 2) {
      for (std::size_t i = 0; i + width < parts.size(); i += 2 * width) {
        std::ranges::transform(parts[i], parts[i + width], parts[i].begin(), std::plus());
      }
    }
    if (ranks_.size() > 1) RankAccess::group(ranks_)->sum(parts[0], name);
    for (const std::span<double> part : std::span(parts).subspan(1)) {
      std::ranges::copy(parts[0], part.begin());
    }
  };
}

bool LeafSteps::sum_own(std::span<const LeafRows> told, const AddLeaves& add) {
  const std::size_t own = told.size() / static_cast<std::size_t>(ranks_.size());
  const std::size_t first = own * static_cast<std::size_t>(ranks_.rank());
  if (add_lanes_ != nullptr) return sum_lanes(told.subspan(first, own), add);
  return sum(told, first, levels_of(own),
             [&](ProgramQueue& queue, std::size_t leaf, std::span<const LeafRows> rows) {
               add(queue, leaf - first, rows);
             });
}

bool LeafSteps::sum_lanes(std::span<const LeafRows> own, const AddLeaves& add) {
  add(queue_, 0, own);
  for (std::size_t lane = 0; lane < own.size(); ++lane) {
    if (own[lane].rows > 0) continue;
    queue_.run();  // of which a step before has used the place
    std::byte* const begin = memory_->gradients->data() + lane * layout_.level(0);
    std::fill_n(reinterpret_cast<float*>(begin), layout_.bytes / sizeof(float), kNeutral);
    std::fill_n(reinterpret_cast<double*>(begin + layout_.counters), kCounters, -0.0);
  }
  queue_.add(*add_lanes_->program, own.front().step);
  return has_rows(own, 0, own.size());
}

void LeafSteps::add_buckets(std::span<const LeafRows> told, const AddLeaves& add,
                            const std::string& name) {
  const LeafRows& own = told[static_cast<std::size_t>(ranks_.rank())];
  std::size_t taken = 0;
  const auto take = [&](std::span<float> values) {
    ++taken;
    background_->begin(values, name);
  };
  handover_->take = take;
  try {
    add(queue_, 0, std::span(&own, 1));
    queue_.run();
  } catch (...) {
    handover_->take = nullptr;
    throw;
  }
  handover_->take = nullptr;
  if (own.rows == 0) {
    for (const Bucket& bucket : buckets_) {
      std::ranges::fill(host_sums(bucket), kNeutral);
      take(host_sums(bucket));
    }
  }
  LINNET_ASSERT(taken == buckets_.size());
  background_->finish();
  add_ranks(layout_.statistics, name, own.rows == 0);
}

std::span<float> LeafSteps::host_sums(const Bucket& bucket) {
  const std::size_t count = (bucket.end - bucket.begin) / sizeof(float);
  if (model_.backend->capabilities().host_memory) {
    return {reinterpret_cast<float*>(memory_->gradients->data() + bucket.begin), count};
  }
  sums_.resize(count);
  return sums_;
}

double LeafSteps::predicted_seconds(const DeviceRates& rates) const {
  const auto seconds = [&](const CachedProgram* program) {
    return linnet::predicted_seconds(program->program->plan(), rates);
  };
  double total = seconds(finish_) + (add_lanes_ != nullptr ? seconds(add_lanes_) : 0);
  for (std::size_t level = 0; level < add_.size(); ++level) {
    const std::size_t pairs = std::size_t{1} << (add_.size() - 1 - level);
    // A sum is added into its room.
    const double kept = level == 0 && !apart_ ? seconds(keep_[level]) : 0;
    total += static_cast<double>(pairs) * (kept + seconds(add_[level]));
  }
  return total;
}

void LeafSteps::add_ranks(std::size_t begin, const std::string& name, bool empty) {
  const Backend& backend = *model_.backend;
  Buffer& buffer = *memory_->gradients;
  std::array<double, kCounters> counters{};
  const auto counter_bytes = std::as_writable_bytes(std::span(counters));
  const bool on_host = backend.capabilities().host_memory;
  const std::span<float> sums = host_sums({begin, layout_.bytes});
  if (empty) {
    std::ranges::fill(sums, kNeutral);
  } else {
    if (!on_host) backend.download(buffer, begin, std::as_writable_bytes(sums));
    backend.download(buffer, layout_.counters, counter_bytes);
  }
  RankGroup& ranks = *RankAccess::group(ranks_);
  ranks.sum(sums, name);
  ranks.sum(std::span<double>(counters), name);
  if (!on_host) backend.upload(buffer, begin, std::as_bytes(sums));
  backend.upload(buffer, layout_.counters, counter_bytes);
}

DeviceLinks* LeafSteps::links() {
  if (add_linked_ == nullptr) return nullptr;
  if (!memory_->links) {
    memory_->links = link_devices(*model_.backend, *RankAccess::group(ranks_));
  }
  return memory_->links->get();
}

std::vector<LinkedPart> LeafSteps::linked_sum() const {
  const RankGroup& ranks = *RankAccess::group(ranks_);
  if (ranks.reduce() == RankReduce::fast) {
    return {{.own = {0, layout_.bytes}, .other = {layout_.counters, sizeof(double) * kCounters}}};
  }
  std::vector<LinkedPart> parts;
  for (int bit = 1; bit < ranks.size(); bit *= 2) {
    parts.push_back({.partner = ranks.rank() ^ bit,
                     .own = {0, layout_.measured},
                     .other = {layout_.level(keep_.size()), layout_.measured}});
    parts.push_back({.program = add_linked_->program.get()});
  }
  return parts;
}

void LeafSteps::add_linked(DeviceLinks& links, const StepInfo& step, bool empty) {
  Buffer& buffer = *memory_->gradients;
  if (empty) {
    std::ranges::fill(host_sums({0, layout_.bytes}), kNeutral);
    model_.backend->upload(buffer, 0, std::as_bytes(std::span(sums_)));
    const std::array<double, kCounters> none{};
    model_.backend->upload(buffer, layout_.counters, std::as_bytes(std::span(none)));
  }
  LinkedSteps sum{.parts = linked_sum(), .count = 1};
  for (const LinkedPart& part : sum.parts) {
    if (part.program != nullptr) sum.infos.push_back(step);
  }
  links.run(buffer, sum);
}

bool LeafSteps::sum(std::span<const LeafRows> leaves, std::size_t first, std::size_t level,
                    const AddLeaves& add, bool keeps) {
  if (first >= leaves.size()) return false;
  const StepInfo& step = leaves[first].step;
  const std::size_t half = (std::size_t{1} << level) / 2;
  const bool both = has_rows(leaves, first, half) && has_rows(leaves, first + half, half);
  if (level == 0) {
    LeafRows leaf = leaves[first];
    leaf.apart = apart_ && keeps;
    add(queue_, first, std::span(&leaf, 1));
    queue_.run_some();
    if (leaf.apart) return leaf.rows > 0;
  } else {
    sum(leaves, first, level - 1, add, both);
    sum(leaves, first + half, level - 1, add);
  }
  const bool any = has_rows(leaves, first, std::size_t{1} << level);
  if (both) {
    queue_.add(*(keeps ? add_kept_ : add_)[level - 1]->program, step);
  } else if (keeps && any) {
    queue_.add(*keep_[level]->program, step);
  }
  return any;
}

}  // namespace linnet
