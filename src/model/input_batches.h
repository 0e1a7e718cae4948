// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/record_reader.h"
#include "model/step_graph.h"

namespace linnet {

/// One input of a data set, batch by batch as the program takes it.
class InputBatches {
 public:
  /// wanted: the type in which the program takes samples; empty: in their own.
  InputBatches(const StepData::Part& part, std::optional<DType> wanted, std::int64_t samples,
               std::int64_t batch)
      : part_(part), wanted_(wanted.value_or(part.record.dtype)), samples_(samples) {
    if (part_.source == nullptr) return;
    reader_.emplace(std::vector{part_}, std::make_shared<ThreadTeam>());
    read_.resize(static_cast<std::size_t>(std::min(batch, samples)) * part_.record.bytes());
  }

  /// Records [first, first + count); good until the next call.
  std::span<const std::byte> at(std::int64_t first, std::int64_t count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * part_.record.bytes();
    std::span<const std::byte> records = std::span(read_).first(reader_ ? bytes : 0);
    if (reader_) {
      const auto size = static_cast<std::uint64_t>(samples_);
      reader_->read({.samples = size}, false, static_cast<std::uint64_t>(first),
                    static_cast<std::uint64_t>(count), std::array{read_.data()});
    } else {
      records = part_.bytes.subspan(static_cast<std::size_t>(first) * part_.record.bytes(), bytes);
    }
    if (part_.record.dtype == wanted_) return records;
    const Shape shape = part_.record.shape.with_batch(count);
    wide_ = Tensor::borrow(part_.record.dtype, shape, records).to(wanted_);
    return wide_.bytes();
  }

 private:
  const StepData::Part& part_;
  DType wanted_;
  std::int64_t samples_;
  std::optional<RecordReader> reader_;  ///< of a source
  std::vector<std::byte> read_;
  Tensor wide_;
};

}  // namespace linnet
