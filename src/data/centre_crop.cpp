// SPDX-License-Identifier: Apache-2.0
#include <linnet/augment.h>

#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"
#include "core/tensor_memory.h"
#include "data/fit_images.h"
#include "data/targets.h"
#include "data/wrapped_source.h"

namespace linnet {
namespace {

/// Copies the middle of (H, W, C) elements of `size` bytes.
struct Middle {
  Shape from;
  Shape to;
  std::size_t size;

  void copy(const std::byte* in, std::byte* out) const {
    const std::size_t row = static_cast<std::size_t>(to[1] * to[2]) * size;
    for (std::int64_t y = 0; y < to[0]; ++y) {
      const std::int64_t at =
          ((y + (from[0] - to[0]) / 2) * from[1] + (from[1] - to[1]) / 2) * from[2];
      std::memcpy(out + static_cast<std::size_t>(y) * row, in + static_cast<std::size_t>(at) * size,
                  row);
    }
  }
};

class CroppedSource final : public WrappedSource {
 public:
  CroppedSource(std::shared_ptr<const RecordSource> source, Middle middle)
      : WrappedSource(std::move(source)), middle_(std::move(middle)) {}
  Shape record() const override { return middle_.to; }
  void read_in_epoch(std::int64_t index, std::int64_t epoch,
                     std::span<std::byte> to) const override {
    std::vector<std::byte> whole(static_cast<std::size_t>(middle_.from.elements()) * middle_.size);
    source().read_in_epoch(index, epoch, whole);
    middle_.copy(whole.data(), to.data());
  }

 private:
  Middle middle_;
};

Tensor crop_all(const Tensor& records, const Middle& middle) {
  const std::int64_t count = records.shape()[0];
  Tensor out = uninitialized_tensor(records.dtype(), middle.to.batched(count));
  const auto from = static_cast<std::size_t>(middle.from.elements()) * middle.size;
  const auto to = static_cast<std::size_t>(middle.to.elements()) * middle.size;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    middle.copy(records.bytes().data() + i * from, out.writable_bytes().data() + i * to);
  }
  return out;
}

}  // namespace

Dataset centre_crop(const Dataset& data, std::int64_t height, std::int64_t width) {
  require(!data.inputs().empty(), "the data set '{}' has no inputs to crop", data.info().name);
  return centre_crop_input(data, 0, height, width);
}

Dataset centre_crop_input(const Dataset& data, std::size_t index, std::int64_t height,
                          std::int64_t width) {
  Column column = data.inputs().at(index);
  const Shape from = column.record();
  require(from.rank() == 3 && column.dtype() != DType::i32 && height >= 1 && width >= 1 &&
              height <= from[0] && width <= from[1],
          "a crop of {} x {} cannot be taken from the samples {} {} of '{}'", height, width,
          to_string(column.dtype()), to_string(from), data.info().name);
  if (height == from[0] && width == from[1]) return data;
  const Middle middle{from, Shape{height, width, from[2]}, size_of(column.dtype())};
  if (column.source != nullptr) {
    column.source = std::make_shared<CroppedSource>(column.source, middle);
  } else {
    column.data = crop_all(column.data, middle);
  }
  return with_input(data, index, std::move(column));
}

}  // namespace linnet
