// SPDX-License-Identifier: Apache-2.0
// Columns whose records a function of the user's makes.
#include <linnet/dataset.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/check.h"
#include "base/finite.h"
#include "base/random.h"
#include "core/tensor_memory.h"

namespace linnet {
namespace {

class MappedSource final : public RecordSource {
 public:
  MappedSource(Column column, MapOptions options, Transform transform)
      : column_(std::move(column)), options_(options), transform_(std::move(transform)) {
    if (column_.source == nullptr) column_.data = read_only(column_.data);
  }

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
      if (made.bytes().data() != to.data()) take_over(made, to);
    } catch (const std::exception& error) {
      fail<DataError>("the transform of the column '{}' failed at row {}: {}", column_.name, index,
                      error.what());
    }
    if (options_.dtype == DType::f32) check_finite(index, to);
  }

 private:
  /// A transform that reads `from` can't write into the data set by a copy of it.
  static Tensor read_only(const Tensor& tensor) {
    return Tensor::borrow(tensor.dtype(), tensor.shape(), tensor.bytes(),
                          std::make_shared<const Tensor>(tensor));
  }

  /// Handles `to = result` in a transform, which makes `to` another Tensor.
  void take_over(const Tensor& made, std::span<std::byte> to) const {
    require<DataError>(made.dtype() == options_.dtype && made.shape() == options_.record,
                       "it made `to` {} {}; expected {} {}", to_string(made.dtype()),
                       to_string(made.shape()), to_string(options_.dtype),
                       to_string(options_.record));
    std::ranges::copy(made.to_host().bytes(), to.begin());
  }

  /// Throws Error for NaN or infinity, of a sequence with a length in the steps that count.
  void check_finite(std::int64_t index, std::span<const std::byte> record) const {
    std::span values(reinterpret_cast<const float*>(record.data()), record.size() / sizeof(float));
    if (column_.has_lengths()) {
      const std::int32_t length =
          column_.lengths.as<std::int32_t>()[static_cast<std::size_t>(index)];
      values = values.first(values.size() / static_cast<std::size_t>(options_.record[0]) *
                            static_cast<std::size_t>(length));
    }
    const std::size_t bad = first_not_finite(values);
    if (bad == values.size()) return;
    fail<DataError>(
        "the transform of the column '{}' made {} of row {}, at element {} of its f32 {}",
        column_.name, values[bad], index, bad, to_string(options_.record));
  }

  Tensor record_of(std::int64_t index, std::int64_t epoch) const {
    const Shape record = column_.record();
    if (column_.source == nullptr) return column_.data.rows(index, index + 1).reshaped(record);
    Tensor read = uninitialized_tensor(column_.dtype(), record);
    column_.source->read_in_epoch(index, epoch, read.writable_bytes());
    return read_only(read);
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
  data.marks_ = marks_;
  return data;
}

}  // namespace linnet
