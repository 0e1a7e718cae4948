// SPDX-License-Identifier: Apache-2.0
// Parts of data sets.
#include <linnet/dataset.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include "base/check.h"
#include "base/random.h"
#include "core/tensor_memory.h"
#include "data/targets.h"
#include "data/wrapped_source.h"

namespace linnet {
namespace {

/// Records [begin, begin + size) of another source.
class SourceRows final : public WrappedSource {
 public:
  SourceRows(std::shared_ptr<const RecordSource> source, std::int64_t begin, std::int64_t size)
      : WrappedSource(std::move(source)), begin_(begin), size_(size) {}
  std::int64_t size() const override { return size_; }
  void read_in_epoch(std::int64_t index, std::int64_t epoch,
                     std::span<std::byte> to) const override {
    source().read_in_epoch(begin_ + index, epoch, to);
  }

 private:
  std::int64_t begin_;
  std::int64_t size_;
};

/// Chosen records of another source.
class SourceTaken final : public WrappedSource {
 public:
  using Rows = std::shared_ptr<const std::vector<std::int64_t>>;
  SourceTaken(std::shared_ptr<const RecordSource> source, Rows rows)
      : WrappedSource(std::move(source)), rows_(std::move(rows)) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(rows_->size()); }
  void read_in_epoch(std::int64_t index, std::int64_t epoch,
                     std::span<std::byte> to) const override {
    source().read_in_epoch(rows_->at(static_cast<std::size_t>(index)), epoch, to);
  }

 private:
  Rows rows_;
};

Tensor taken(const Tensor& from, std::span<const std::int64_t> rows) {
  const auto count = static_cast<std::int64_t>(rows.size());
  Tensor to = uninitialized_tensor(from.dtype(), from.shape().with_batch(count));
  const std::size_t record =
      static_cast<std::size_t>(from.shape().sample().elements()) * size_of(from.dtype());
  std::byte* out = to.writable_bytes().data();
  for (const std::int64_t row : rows) {
    std::memcpy(out, from.bytes().data() + static_cast<std::size_t>(row) * record, record);
    out += record;
  }
  return to;
}

/// Returns the same data set of other records: `part` changes a column.
template <class Part>
Dataset changed(const Dataset& data, const Part& part) {
  std::vector<Column> inputs = data.inputs();
  std::vector<Column> targets = data.targets();
  for (std::vector<Column>* side : {&inputs, &targets}) {
    for (Column& column : *side) part(column);
  }
  return {std::move(inputs), std::move(targets)};
}

/// The rows of the files are other ones.
std::shared_ptr<const DatasetInfo> without_files(std::shared_ptr<const DatasetInfo> info) {
  if (info == nullptr || (info->samples_file.empty() && info->targets_file.empty())) return info;
  auto changed = std::make_shared<DatasetInfo>(*info);
  changed->samples_file.clear();
  changed->targets_file.clear();
  return changed;
}

/// Marks `count` of the samples in `of`.
void choose(std::span<const std::int64_t> of, std::uint64_t count, std::uint64_t key,
            std::vector<bool>& chosen) {
  if (count == 0) return;
  const Permutation rank(key, of.size());
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (rank(i) < count) chosen[static_cast<std::size_t>(of[i])] = true;
  }
}

std::int64_t rounded_share(double share, std::size_t samples) {
  return std::llround(share * static_cast<double>(samples));
}

/// Returns how many of each class: the whole part of its share, and one more for the largest
/// remainders, until `count` are reached; of equal ones the first.
std::vector<std::int64_t> counts_by_class(const std::vector<std::vector<std::int64_t>>& classes,
                                          double share, std::int64_t count) {
  std::vector<std::int64_t> counts;
  std::vector<double> remainders;
  for (const auto& samples : classes) {
    const double wanted = share * static_cast<double>(samples.size());
    counts.push_back(static_cast<std::int64_t>(wanted));
    remainders.push_back(wanted - std::floor(wanted));
    count -= counts.back();
  }
  std::vector<std::size_t> order(classes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(-remainders[i], i); });
  for (std::size_t i = 0; i < order.size() && count > 0; ++i, --count) ++counts[order[i]];
  return counts;
}

std::vector<std::vector<std::int64_t>> samples_by_class(const Dataset& data) {
  const std::span<const std::int32_t> labels = labels_of(data);
  require(!labels.empty(), "the data set '{}' has no labels; a stratified split needs labels",
          data.info().name);
  std::map<std::int32_t, std::vector<std::int64_t>> samples;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    samples[labels[i]].push_back(static_cast<std::int64_t>(i));
  }
  std::vector<std::vector<std::int64_t>> classes;
  for (auto& [label, own] : samples) classes.push_back(std::move(own));
  return classes;
}

}  // namespace

Dataset Dataset::rows(std::int64_t begin, std::int64_t end) const {
  require(0 <= begin && begin <= end && end <= size(),
          "the data set '{}' of {} samples has no samples [{}, {})", info().name, size(), begin,
          end);
  Dataset part = changed(*this, [&](Column& column) {
    if (column.source == nullptr) {
      column.data = column.data.rows(begin, end);
      if (column.exact.elements() > 0) column.exact = column.exact.rows(begin, end);
    } else {
      column.source = std::make_shared<SourceRows>(column.source, begin, end - begin);
    }
    if (column.has_lengths()) column.lengths = column.lengths.rows(begin, end);
  });
  if (weights().elements() > 0) part.set_weights(weights().rows(begin, end));
  if (folds().elements() > 0) part.set_folds(folds().rows(begin, end));
  part.info_ = begin == 0 ? info_ : without_files(info_);
  return part;
}

Dataset Dataset::take(std::span<const std::int64_t> rows) const {
  for (const std::int64_t row : rows) {
    require(0 <= row && row < size(), "the data set '{}' of {} samples has no sample {}",
            info().name, size(), row);
  }
  SourceTaken::Rows kept;
  Dataset part = changed(*this, [&](Column& column) {
    if (column.has_lengths()) column.lengths = taken(column.lengths, rows);
    if (column.source == nullptr) {
      column.data = taken(column.data, rows);
      if (column.exact.elements() > 0) column.exact = taken(column.exact, rows);
      return;
    }
    if (kept == nullptr) {
      kept = std::make_shared<const std::vector<std::int64_t>>(rows.begin(), rows.end());
    }
    column.source = std::make_shared<SourceTaken>(column.source, kept);
  });
  if (weights().elements() > 0) part.set_weights(taken(weights(), rows));
  if (folds().elements() > 0) part.set_folds(taken(folds(), rows));
  part.info_ = without_files(info_);
  return part;
}

std::pair<Dataset, Dataset> Dataset::split(double share, const SplitOptions& options) const {
  require(share >= 0 && share < 1, "the share of a split must lie in [0, 1); got {}", share);
  const auto samples = static_cast<std::size_t>(size());
  const std::int64_t count = rounded_share(share, samples);
  require(count < size() || share == 0,
          "a share of {} of the {} samples of '{}' leaves one set empty", share, samples,
          info().name);
  if (count == 0) return {*this, take({})};
  std::vector<bool> chosen(samples);
  if (options.stratify) {
    const auto classes = samples_by_class(*this);
    const std::vector<std::int64_t> counts = counts_by_class(classes, share, count);
    for (std::size_t c = 0; c < classes.size(); ++c) {
      choose(classes[c], static_cast<std::uint64_t>(counts[c]),
             random_key(options.seed, RandomStream::split, c + 1), chosen);
    }
  } else {
    std::vector<std::int64_t> all(samples);
    std::iota(all.begin(), all.end(), 0);
    choose(all, static_cast<std::uint64_t>(count), random_key(options.seed, RandomStream::split),
           chosen);
  }
  std::vector<std::int64_t> others;
  std::vector<std::int64_t> part;
  for (std::size_t i = 0; i < samples; ++i) {
    (chosen[i] ? part : others).push_back(static_cast<std::int64_t>(i));
  }
  return {take(others), take(part)};
}

}  // namespace linnet
