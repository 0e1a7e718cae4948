// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "dist/background_sum.h"
#include "train/shard_sums/rank_sum.h"
#include "train/sharding.h"

namespace linnet {
namespace {

class BucketSum final : public RankSum {
 public:
  BucketSum(const SumPlace& place, const Ranks& ranks, std::vector<Bucket> buckets)
      : ranks_(ranks),
        host_(place, ranks),
        exchange_(place.memory->exchange),
        buckets_(std::move(buckets)),
        background_(*RankAccess::group(ranks)) {}

  void sum(ProgramQueue& queue, std::span<const ShardRows> shards, const AddShards& add) override {
    const std::string name = name_of_sum(shards.front().step);
    const ShardRows& own = own_shards(shards, ranks_).front();
    std::size_t taken = 0;
    const auto take = [&](std::span<float> values) {
      ++taken;
      background_.begin(values, name);
    };
    exchange_->take_gradients = take;
    try {
      add(queue, 0, std::span(&own, 1));
      queue.run();
    } catch (...) {
      exchange_->take_gradients = nullptr;
      throw;
    }
    exchange_->take_gradients = nullptr;
    if (own.rows == 0) {
      for (const Bucket& bucket : buckets_) {
        std::ranges::fill(host_.part(bucket), kNeutral);
        take(host_.part(bucket));
      }
    }
    LINNET_ASSERT(taken == buckets_.size());
    background_.finish();
    host_.sum(host_.layout().statistics, name, own.rows == 0);
  }

 private:
  Ranks ranks_;
  HostExchange host_;
  std::shared_ptr<StepExchange> exchange_;
  std::vector<Bucket> buckets_;
  BackgroundSum background_;
};

}  // namespace

std::unique_ptr<RankSum> sum_in_buckets(const SumPlace& place, const Ranks& ranks,
                                        std::vector<Bucket> buckets) {
  return std::make_unique<BucketSum>(place, ranks, std::move(buckets));
}

}  // namespace linnet
