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

/// Says how Trainer::batches() forms batches. Defaults are FitOptions'.
struct BatchOptions {
  std::int64_t size = 128;  ///< samples of a batch, at least 1
  std::int64_t shards = 0;  ///< parts in which a step computes a batch: FitOptions::shards
  bool shuffle = true;      ///< shuffles the samples in each epoch, by TrainerOptions::seed
  bool drop_last = false;   ///< leaves out the samples after the last whole batch

  /// Returns whether all fields are equal.
  bool operator==(const BatchOptions&) const = default;
};

/// Refers to samples of a data set, in the order in which a training goes through them. It copies
/// no samples: a step gathers them on the device. Trainer::batches() makes it.
class Batch {
 public:
  /// Returns the number of samples; the last batch of an epoch may have fewer than the others.
  std::int64_t size() const { return size_; }
  /// Returns the epoch of the training, from 1.
  std::int64_t epoch() const { return epoch_; }
  /// Returns the position of the batch's first sample in the epoch, from 0.
  std::int64_t position() const { return position_; }
  /// Returns the data set whose samples these are.
  const Dataset& data() const { return data_; }

  /// Returns the samples as a data set of their own, in the batch's order, before any augmentation:
  /// Dataset(batch).column("image").data, or model.value_of("dense_1", batch). Copies shuffled
  /// samples; those of a source are read when they are needed.
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
  std::uint64_t seed_;  ///< seed of the order
  std::int64_t epoch_;
  std::int64_t position_;
  std::int64_t size_;
};

/// Holds the batches of one epoch, for `for (const Batch& batch : trainer.batches(data))`. An input
/// range, whose iterators are valid as long as it lives.
class BatchRange {
 public:
  /// Goes through the batches of an epoch; an input iterator.
  class Iterator {
   public:
    using value_type = Batch;                           ///< what it goes through
    using difference_type = std::ptrdiff_t;             ///< required of iterators
    using reference = Batch;                            ///< batches are made on access
    using pointer = void;                               ///< there is none
    using iterator_category = std::input_iterator_tag;  ///< its category
    /// Makes an iterator that belongs to no range.
    Iterator() = default;
    /// Returns the batch.
    Batch operator*() const;
    /// Goes to the next batch.
    Iterator& operator++();
    /// Goes to the next batch and returns the iterator as it was.
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    /// Returns whether both refer to the same batch of a range.
    bool operator==(const Iterator& other) const { return position_ == other.position_; }

   private:
    friend class BatchRange;
    Iterator(const BatchRange* range, std::int64_t position) : range_(range), position_(position) {}
    const BatchRange* range_ = nullptr;
    std::int64_t position_ = 0;
  };
  /// Returns the first batch's iterator.
  Iterator begin() const { return {this, 0}; }
  /// Returns the iterator after the last batch.
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
