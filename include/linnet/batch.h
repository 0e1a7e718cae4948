// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

namespace linnet {
class Stepper;
}  // namespace linnet

LINNET_API_BEGIN
namespace linnet {

struct BatchOptions {
  std::int64_t size = 128;
  bool shuffle = true;
  bool drop_last = false;  ///< leaves out what is beyond the last whole batch

  bool operator==(const BatchOptions&) const = default;
};

/// A batch: samples of a data set, in the order in which a training goes through them.
/// Trainer::batches() makes it.
class Batch {
 public:
  std::int64_t size() const { return size_; }
  std::int64_t epoch() const { return epoch_; }        ///< of the training, from 1
  std::int64_t position() const { return position_; }  ///< of its first sample in the epoch
  const Dataset& data() const { return data_; }

  /// Its samples as a data set of their own, in the batch's order, before any augmentation:
  /// Dataset(batch).column("image").data, or model.value_of("dense_1", batch). Copies them where
  /// they are shuffled; what comes from a source is read when it is needed.
  operator Dataset() const;  // NOLINT(*-explicit-*): taken wherever data are

 private:
  friend class Trainer;
  friend class BatchRange;
  friend class Stepper;
  Batch(Dataset data, const BatchOptions& options, std::uint64_t seed, std::int64_t epoch,
        std::int64_t position, std::int64_t size)
      : data_(std::move(data)),
        options_(options),
        seed_(seed),
        epoch_(epoch),
        position_(position),
        size_(size) {}
  Dataset data_;
  BatchOptions options_;
  std::uint64_t seed_;  ///< of the order
  std::int64_t epoch_;
  std::int64_t position_;
  std::int64_t size_;
};

/// The batches of one epoch, for `for (const Batch& batch : trainer.batches(data))`: an input
/// range. Its iterators are good as long as it is.
class BatchRange {
 public:
  class Iterator {
   public:
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;
    using reference = Batch;
    using pointer = void;
    using iterator_category = std::input_iterator_tag;
    Iterator() = default;
    Batch operator*() const;
    Iterator& operator++();
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return position_ == other.position_; }

   private:
    friend class BatchRange;
    Iterator(const BatchRange* range, std::int64_t position) : range_(range), position_(position) {}
    const BatchRange* range_ = nullptr;
    std::int64_t position_ = 0;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, end_}; }

 private:
  friend class Trainer;
  BatchRange(Dataset data, const BatchOptions& options, std::uint64_t seed, std::int64_t epoch);
  Dataset data_;
  BatchOptions options_;
  std::uint64_t seed_;
  std::int64_t epoch_;
  std::int64_t end_;
};

}  // namespace linnet
LINNET_API_END
