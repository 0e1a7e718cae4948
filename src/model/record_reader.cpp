// SPDX-License-Identifier: Apache-2.0
#include "model/record_reader.h"

#include <cstring>
#include <exception>

#include "base/check.h"
#include "ops/gather_batch/record_index.h"

namespace linnet {
namespace {

/// A sample a task; the first exception in the samples' order counts, not in that of time.
class ReadBatch final : public StagedWork {
 public:
  ReadBatch(const std::vector<StepData::Part>& parts, const RecordIndex& index, std::uint64_t epoch,
            std::uint64_t count, std::span<std::byte* const> to)
      : parts_(parts),
        index_(index),
        epoch_(static_cast<std::int64_t>(epoch)),
        to_(to),
        errors_(count) {}

  std::uint64_t stages() const override { return 1; }
  std::uint32_t tasks(std::uint64_t /*stage*/) const override {
    return static_cast<std::uint32_t>(errors_.size());
  }
  void run(std::uint64_t /*stage*/, std::uint32_t task, int /*thread*/) override {
    const auto record = static_cast<std::int64_t>(index_(task));
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (parts_[p].source == nullptr) continue;
      const std::size_t bytes = parts_[p].record.bytes();
      try {
        parts_[p].source->read_in_epoch(record, epoch_, std::span(to_[p] + task * bytes, bytes));
      } catch (...) {
        errors_[task] = std::current_exception();
        return;
      }
    }
  }
  void rethrow() const {
    for (const std::exception_ptr& error : errors_) {
      if (error != nullptr) std::rethrow_exception(error);
    }
  }

 private:
  const std::vector<StepData::Part>& parts_;
  const RecordIndex& index_;
  std::int64_t epoch_;
  std::span<std::byte* const> to_;
  std::vector<std::exception_ptr> errors_;
};

}  // namespace

void RecordReader::read(const StepInfo& first, bool shuffle, std::uint64_t position,
                        std::uint64_t count, std::span<std::byte* const> to) const {
  StepInfo step = first;
  step.position += position;
  const RecordIndex index(step, shuffle);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t from = index(static_cast<std::int64_t>(i));
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (parts_[p].source != nullptr) continue;
      const std::size_t bytes = parts_[p].record.bytes();
      std::memcpy(to[p] + i * bytes, parts_[p].bytes.data() + from * bytes, bytes);
    }
  }
  if (team_ == nullptr) return;
  ReadBatch work(parts_, index, first.epoch, count, to);
  team_->run(work, Signals::delivered);
  work.rethrow();
}

}  // namespace linnet
