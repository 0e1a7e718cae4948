// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dist/rank_group.h"
#include "train/shard_sums/rank_sum.h"
#include "train/sharding.h"

namespace linnet {
namespace {

class HostSum final : public RankSum {
 public:
  HostSum(const SumPlace& place, OwnSum& own, const Ranks& ranks)
      : own_(own), ranks_(ranks), exchange_(place, ranks) {}

  void sum(ProgramQueue& queue, std::span<const ShardRows> shards, const AddShards& add) override {
    const bool any = own_.enqueue(queue, own_shards(shards, ranks_), add);
    queue.run();
    exchange_.sum(0, name_of_sum(shards.front().step), !any);
  }

 private:
  OwnSum& own_;
  Ranks ranks_;
  HostExchange exchange_;
};

}  // namespace

HostExchange::HostExchange(const SumPlace& place, const Ranks& ranks)
    : backend_(*place.model.backend),
      memory_(place.memory),
      layout_(place.model.definition()),
      ranks_(ranks) {}

std::span<float> HostExchange::part(const Bucket& bytes) {
  const std::size_t count = (bytes.end - bytes.begin) / sizeof(float);
  if (backend_.capabilities().host_memory) {
    return {reinterpret_cast<float*>(memory_->gradients->data() + bytes.begin), count};
  }
  room_.resize(count);
  return room_;
}

void HostExchange::sum(std::size_t begin, const std::string& name, bool empty) {
  Buffer& gradients = *memory_->gradients;
  std::array<double, kCounters> counters{};
  const auto counter_bytes = std::as_writable_bytes(std::span(counters));
  const bool on_host = backend_.capabilities().host_memory;
  const std::span<float> sums = part({begin, layout_.bytes});
  if (empty) {
    std::ranges::fill(sums, kNeutral);
  } else {
    if (!on_host) backend_.download(gradients, begin, std::as_writable_bytes(sums));
    backend_.download(gradients, layout_.counters, counter_bytes);
  }
  RankGroup& ranks = *RankAccess::group(ranks_);
  ranks.sum(sums, name);
  ranks.sum(std::span<double>(counters), name);
  if (!on_host) backend_.upload(gradients, begin, std::as_bytes(sums));
  backend_.upload(gradients, layout_.counters, counter_bytes);
}

std::string name_of_sum(const StepInfo& step) {
  return fmt::format("the sum of gradients at step {}", step.step);
}

std::unique_ptr<RankSum> sum_on_hosts(const SumPlace& place, OwnSum& own, const Ranks& ranks) {
  return std::make_unique<HostSum>(place, own, ranks);
}

}  // namespace linnet
