// SPDX-License-Identifier: Apache-2.0
#include "train/shard_sums/norm_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "dist/rank_group.h"

namespace linnet {

NormSums::NormSums(std::shared_ptr<StepExchange> exchange, std::size_t lanes, const Ranks& ranks)
    : exchange_(std::move(exchange)), lanes_(lanes), ranks_(ranks) {}

NormSums::Step NormSums::begin(const StepInfo& step) {
  exchange_->sum_statistics = [this, name = fmt::format("the statistics of batch norms at step {}",
                                                        step.step)](std::span<double> sums,
                                                                    std::uint64_t first_row) {
    sum(sums, first_row, name);
  };
  return Step(exchange_.get());
}

void NormSums::sum(std::span<double> sums, std::uint64_t first_row, const std::string& name) {
  const std::lock_guard lock(mutex_);
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
}

}  // namespace linnet
