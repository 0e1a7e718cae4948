// SPDX-License-Identifier: Apache-2.0
#include "config/column_sets.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/random.h"

namespace linnet::command {
namespace {

constexpr std::size_t kPopulation = 8;
constexpr std::int64_t kMostAttempts = 1000;  // at a set that was not tried

struct Individual {
  ColumnSet used = {};
  double cost = 0;
};

/// Makes sets of columns, each another one.
class Breeder {
 public:
  Breeder(std::size_t columns, std::uint64_t seed) : columns_(columns), seed_(seed) {}

  /// Returns the next set, made of the best ones so far where there are any; nothing where none is
  /// left.
  std::optional<ColumnSet> next(const std::vector<Individual>& parents) {
    for (std::int64_t attempt = 0; attempt < kMostAttempts; ++attempt) {
      // Parents that are alike have few children: later attempts are random.
      const bool breed = parents.size() > 1 && attempt < kMostAttempts / 2;
      ColumnSet set = tried_.empty() ? ColumnSet(columns_, true)
                      : breed        ? child(parents)
                                     : random_set();
      if (std::ranges::count(set, true) > 0 && tried_.insert(set).second) return set;
    }
    return std::nullopt;
  }

 private:
  std::uint64_t below(std::uint64_t count) {
    return (random_key(seed_, RandomStream::uniform, drawn_++) >> 11) % count;
  }
  bool coin() { return below(2) == 0; }
  ColumnSet random_set() {
    ColumnSet set(columns_);
    for (std::size_t i = 0; i < columns_; ++i) set[i] = coin();
    return set;
  }
  const ColumnSet& parent(const std::vector<Individual>& all) {
    const Individual& a = all[below(all.size())];
    const Individual& b = all[below(all.size())];
    return b.cost < a.cost ? b.used : a.used;
  }
  ColumnSet child(const std::vector<Individual>& parents) {
    const ColumnSet& a = parent(parents);
    const ColumnSet& b = parent(parents);
    ColumnSet set(columns_);
    for (std::size_t i = 0; i < columns_; ++i) {
      set[i] = coin() ? a[i] : b[i];
      if (below(columns_) == 0) set[i] = !set[i];
    }
    return set;
  }

  std::size_t columns_;
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
  std::set<ColumnSet> tried_ = {};
};

}  // namespace

bool forward_selection(std::size_t columns, std::int64_t most, const CostOfColumns& cost) {
  ColumnSet used(columns, false);
  double best = std::numeric_limits<double>::infinity();
  std::int64_t runs = 0;
  for (std::size_t step = 0; step < columns; ++step) {
    std::optional<std::size_t> added;
    for (std::size_t column = 0; column < columns; ++column) {
      if (used[column]) continue;
      if (runs++ == most) return true;
      ColumnSet tried = used;
      tried[column] = true;
      const std::optional<double> one = cost(tried);
      if (!one) return false;
      if (*one < best) {
        best = *one;
        added = column;
      }
    }
    if (!added) return true;
    used[*added] = true;
  }
  return true;
}

bool genetic_selection(std::size_t columns, std::int64_t most, std::uint64_t seed,
                       const CostOfColumns& cost) {
  Breeder breeder(columns, seed);
  std::vector<Individual> parents;
  std::vector<Individual> all;  // parents and their children, the best first
  for (std::int64_t run = 0; run < most; ++run) {
    const std::optional<ColumnSet> set = breeder.next(parents);
    if (!set) return true;
    const std::optional<double> one = cost(*set);
    if (!one) return false;
    all.insert(std::ranges::upper_bound(all, *one, {}, &Individual::cost), {*set, *one});
    if (all.size() < parents.size() + kPopulation) continue;
    all.resize(kPopulation);
    parents = all;
  }
  return true;
}

}  // namespace linnet::command
