// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "dist/background_sum.h"
#include "train/leaf_sums/rank_sum.h"
#include "train/leaves.h"

namespace linnet {
namespace {

class BucketSum final : public RankSum {
 public:
  BucketSum(const SumPlace& place, const Ranks& ranks, std::shared_ptr<SumHandover> handover,
            std::vector<Bucket> buckets)
      : ranks_(ranks),
        exchange_(place, ranks),
        handover_(std::move(handover)),
        buckets_(std::move(buckets)),
        background_(*RankAccess::group(ranks)) {}

  void sum(ProgramQueue& queue, std::span<const LeafRows> leaves, const AddLeaves& add) override {
    const std::string name = name_of_sum(leaves.front().step);
    const LeafRows& own = own_leaves(leaves, ranks_).front();
    std::size_t taken = 0;
    const auto take = [&](std::span<float> values) {
      ++taken;
      background_.begin(values, name);
    };
    handover_->take = take;
    try {
      add(queue, 0, std::span(&own, 1));
      queue.run();
    } catch (...) {
      handover_->take = nullptr;
      throw;
    }
    handover_->take = nullptr;
    if (own.rows == 0) {
      for (const Bucket& bucket : buckets_) {
        std::ranges::fill(exchange_.part(bucket), kNeutral);
        take(exchange_.part(bucket));
      }
    }
    LINNET_ASSERT(taken == buckets_.size());
    background_.finish();
    exchange_.sum(exchange_.layout().statistics, name, own.rows == 0);
  }

 private:
  Ranks ranks_;
  HostExchange exchange_;
  std::shared_ptr<SumHandover> handover_;
  std::vector<Bucket> buckets_;
  BackgroundSum background_;
};

}  // namespace

std::unique_ptr<RankSum> sum_in_buckets(const SumPlace& place, const Ranks& ranks,
                                        std::shared_ptr<SumHandover> handover,
                                        std::vector<Bucket> buckets) {
  return std::make_unique<BucketSum>(place, ranks, std::move(handover), std::move(buckets));
}

}  // namespace linnet
