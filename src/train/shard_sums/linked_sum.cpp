// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <utility>

#include "dist/rank_group.h"
#include "train/device_links.h"
#include "train/recipes.h"
#include "train/shard_sums/rank_sum.h"
#include "train/sharding.h"

namespace linnet {
namespace {

// Steps of devices in one go; shards of such a step.
constexpr std::size_t kMostJoined = 128;

class LinkedSum final : public RankSum {
 public:
  LinkedSum(const SumPlace& place, OwnSum& own, const Ranks& ranks, std::size_t shards)
      : model_(place.model),
        memory_(place.memory),
        own_(own),
        ranks_(ranks),
        layout_(place.model.definition()),
        received_(layout_.level(levels_of(shards))),
        add_received_(place.session.add_program(
            add_recipe(place.key, place.model, levels_of(shards), place.memory))),
        on_hosts_(sum_on_hosts(place, own, ranks)) {}

  void sum(ProgramQueue& queue, std::span<const ShardRows> shards, const AddShards& add) override {
    DeviceLinks* const links = this->links();
    if (links == nullptr) return on_hosts_->sum(queue, shards, add);
    const bool any = own_.enqueue(queue, own_shards(shards, ranks_), add);
    queue.run();
    const StepInfo& step = shards.front().step;
    RankAccess::group(ranks_)->named(name_of_sum(step), [&] { exchange(*links, step, !any); });
  }

  bool join(ProgramQueue& queue, std::span<const ShardRows> shards, const AddShards& add,
            Program& finish) override {
    const std::span<const ShardRows> own = own_shards(shards, ranks_);
    // The first step looks for links.
    if (!memory_->links || links() == nullptr || own.size() > kMostJoined ||
        !has_rows(own, 0, own.size())) {
      run_joined();
      return false;
    }
    LinkedSteps step{.count = 1};
    const auto take = [&] {
      for (const SideBySide& group : queue.take()) {
        step.parts.push_back({.program = group[0].program, .repack = group[0].repack});
        step.infos.push_back(group[0].step);
      }
    };
    own_.enqueue(queue, own, add);
    take();
    const bool fed = step.parts.empty();  // what is fed has run
    for (const LinkedPart& part : parts()) {
      step.parts.push_back(part);
      if (part.program != nullptr) step.infos.push_back(shards.front().step);
    }
    ++model_.weights_version;
    queue.add(finish, shards.front().step);
    take();
    if (joined_.parts != step.parts || joined_.count >= kMostJoined) run_joined();
    if (joined_.count == 0) {
      first_joined_ = shards.front().step.step;
      joined_ = std::move(step);
    } else {
      joined_.infos.insert(joined_.infos.end(), step.infos.begin(), step.infos.end());
      ++joined_.count;
    }
    if (fed) run_joined();
    return true;
  }

  void run_joined() override {
    if (joined_.count == 0) return;
    const LinkedSteps steps = std::exchange(joined_, {});
    const std::uint64_t last = first_joined_ + steps.count - 1;
    const std::string name =
        steps.count == 1
            ? name_of_sum({.step = last})
            : fmt::format("the sums of gradients at steps {} to {}", first_joined_, last);
    RankAccess::group(ranks_)->named(name, [&] { links()->run(*memory_->gradients, steps); });
  }

 private:
  /// Returns the links between the ranks' devices, looked for once; null: there are none.
  DeviceLinks* links() {
    if (!memory_->links) {
      memory_->links = link_devices(*model_.backend, *RankAccess::group(ranks_));
    }
    return memory_->links->get();
  }

  /// Returns how these sum what the ranks' shards left.
  std::vector<LinkedPart> parts() const {
    const RankGroup& ranks = *RankAccess::group(ranks_);
    if (ranks.reduce() == RankReduce::fast) {
      return {{.own = {0, layout_.bytes}, .other = {layout_.counters, sizeof(double) * kCounters}}};
    }
    std::vector<LinkedPart> parts;
    for (int bit = 1; bit < ranks.size(); bit *= 2) {
      parts.push_back({.partner = ranks.rank() ^ bit,
                       .own = {0, layout_.measured},
                       .other = {received_, layout_.measured}});
      parts.push_back({.program = add_received_->program.get()});
    }
    return parts;
  }

  /// Sums it so; `empty`: this one left nothing.
  void exchange(DeviceLinks& links, const StepInfo& step, bool empty) {
    Buffer& gradients = *memory_->gradients;
    if (empty) {
      const std::vector<float> neutral(layout_.bytes / sizeof(float), kNeutral);
      model_.backend->upload(gradients, 0, std::as_bytes(std::span(neutral)));
      const std::array<double, kCounters> none{};
      model_.backend->upload(gradients, layout_.counters, std::as_bytes(std::span(none)));
    }
    LinkedSteps sum{.parts = parts(), .count = 1};
    for (const LinkedPart& part : sum.parts) {
      if (part.program != nullptr) sum.infos.push_back(step);
    }
    links.run(gradients, sum);
  }

  ModelState& model_;
  std::shared_ptr<TrainingMemory> memory_;
  OwnSum& own_;
  Ranks ranks_;
  ShardLayout layout_;
  std::size_t received_;         ///< where what another rank sends arrives
  CachedProgram* add_received_;  ///< adds that
  std::unique_ptr<RankSum> on_hosts_;
  LinkedSteps joined_;              ///< that wait
  std::uint64_t first_joined_ = 0;  ///< the number of their first one
};

}  // namespace

std::unique_ptr<RankSum> sum_over_links(const SumPlace& place, OwnSum& own, const Ranks& ranks,
                                        std::size_t shards) {
  return std::make_unique<LinkedSum>(place, own, ranks, shards);
}

}  // namespace linnet
