// SPDX-License-Identifier: Apache-2.0
// Columns whose records a function of the user's makes.
#include <linnet/dataset.h>

#include <exception>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "core/tensor_memory.h"

namespace linnet {
namespace {

class MappedSource final : public RecordSource {
 public:
  MappedSource(Column column, MapOptions options, Transform transform)
      : column_(std::move(column)), options_(options), transform_(std::move(transform)) {}

  std::int64_t size() const override { return column_.size(); }
  DType dtype() const override { return options_.dtype; }
  Shape record() const override { return options_.record; }
  void read(std::int64_t index, std::span<std::byte> to) const override {
    read_in_epoch(index, 0, to);
  }
  void read_in_epoch(std::int64_t index, std::int64_t epoch,
                     std::span<std::byte> to) const override {
    const Tensor from = record_of(index, epoch);
    Tensor made = Tensor::borrow_writable(options_.dtype, options_.record, to);
    const RecordPlace place{.row = index,
                            .epoch = epoch,
                            .key = random_key(options_.seed, RandomStream::augment,
                                              static_cast<std::uint64_t>(epoch),
                                              static_cast<std::uint64_t>(index))};
    try {
      transform_(from, made, place);
    } catch (const std::exception& error) {
      fail("the transform of the column '{}' failed at row {}: {}", column_.name, index,
           error.what());
    }
  }

 private:
  Tensor record_of(std::int64_t index, std::int64_t epoch) const {
    const Shape record = column_.record();
    if (column_.source == nullptr) return column_.data.rows(index, index + 1).reshaped(record);
    Tensor read = uninitialized_tensor(column_.dtype(), record);
    column_.source->read_in_epoch(index, epoch, read.writable_bytes());
    return read;
  }

  Column column_;
  MapOptions options_;
  Transform transform_;
};

}  // namespace

Dataset Dataset::map(std::string_view column, const MapOptions& options,
                     Transform transform) const {
  require(transform != nullptr, "the transform of the column '{}' is an empty function", column);
  const Column& mapped = this->column(column);
  const auto replaced = [&](std::vector<Column> columns) {
    for (Column& other : columns) {
      if (other.name != column) continue;
      other.data = {};
      other.source = std::make_shared<MappedSource>(mapped, options, transform);
    }
    return columns;
  };
  Dataset data(replaced(inputs()), replaced(targets()));
  data.info_ = info_;
  data.weights_ = weights_;
  return data;
}

}  // namespace linnet
