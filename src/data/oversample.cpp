// SPDX-License-Identifier: Apache-2.0
#include <linnet/oversample.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "data/targets.h"

namespace linnet {
namespace {

using Rows = std::vector<std::int64_t>;

constexpr std::uint64_t kRepetitions = 1;  // keys of splits have 0 there

/// Appends `missing` repetitions of a class's samples: all of them, so often as that goes, then
/// some.
void repeat(const Rows& samples, std::int64_t missing, std::uint64_t key, Rows& rows) {
  const auto count = std::ssize(samples);
  for (; missing >= count; missing -= count)
    rows.insert(rows.end(), samples.begin(), samples.end());
  if (missing == 0) return;
  const Permutation rank(key, samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (rank(i) < static_cast<std::uint64_t>(missing)) rows.push_back(samples[i]);
  }
}

}  // namespace

Dataset oversample(const Dataset& data, const OversampleOptions& options) {
  require(options.share > 0 && options.share <= 1,
          "expected a share of oversampling in (0, 1]; got {}", options.share);
  const std::span<const std::int32_t> labels = labels_of(data);
  require(!labels.empty() || data.size() == 0,
          "the data set '{}' has no classes, one label a sample; oversampling repeats samples of "
          "rare classes",
          data.info().name);
  std::map<std::int32_t, Rows> classes;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == options.ignore_index) continue;
    classes[labels[i]].push_back(static_cast<std::int64_t>(i));
  }
  std::int64_t most = 0;
  for (const auto& [label, samples] : classes) {
    most = std::max<std::int64_t>(most, std::ssize(samples));
  }
  const auto least =
      static_cast<std::int64_t>(std::ceil(options.share * static_cast<double>(most)));
  Rows rows(labels.size());
  std::iota(rows.begin(), rows.end(), 0);
  for (const auto& [label, samples] : classes) {
    const std::int64_t missing = least - std::ssize(samples);
    if (missing <= 0) continue;
    repeat(samples, missing,
           random_key(options.seed, RandomStream::split, static_cast<std::uint32_t>(label),
                      kRepetitions),
           rows);
  }
  return rows.size() == labels.size() ? data : data.take(rows);
}

}  // namespace linnet
