// SPDX-License-Identifier: Apache-2.0
#include <linnet/augment.h>

#include <cstring>

#include "base/check.h"

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

class CroppedSource final : public RecordSource {
 public:
  CroppedSource(std::shared_ptr<const RecordSource> source, Middle middle)
      : source_(std::move(source)), middle_(std::move(middle)) {}
  std::int64_t size() const override { return source_->size(); }
  void read(std::int64_t index, std::span<std::byte> to) const override {
    std::vector<std::byte> whole(static_cast<std::size_t>(middle_.from.elements()) * middle_.size);
    source_->read(index, whole);
    middle_.copy(whole.data(), to.data());
  }

 private:
  std::shared_ptr<const RecordSource> source_;
  Middle middle_;
};

template <class T>
std::vector<T> crop_all(const std::vector<T>& records, std::int64_t count, const Middle& middle) {
  std::vector<T> out(static_cast<std::size_t>(count * middle.to.elements()));
  for (std::int64_t i = 0; i < count && !records.empty(); ++i) {
    middle.copy(reinterpret_cast<const std::byte*>(records.data() + i * middle.from.elements()),
                reinterpret_cast<std::byte*>(out.data() + i * middle.to.elements()));
  }
  return out;
}

}  // namespace

Dataset centre_crop(const Dataset& data, std::int64_t height, std::int64_t width) {
  const Shape& from = data.sample_shape;
  require(from.rank() == 3 && data.sample_dtype != DType::i32 && height >= 1 && width >= 1 &&
              height <= from[0] && width <= from[1],
          "a crop of {} x {} can't be taken from the samples {} {} of '{}'", height, width,
          to_string(data.sample_dtype), to_string(from), data.name);
  const Middle middle{from, Shape{height, width, from[2]}, size_of(data.sample_dtype)};
  Dataset out = data;
  out.sample_shape = middle.to;
  if (data.source != nullptr) {
    out.source = std::make_shared<CroppedSource>(data.source, middle);
    return out;
  }
  if (data.sample_dtype == DType::u8) out.bytes = crop_all(data.bytes, data.size(), middle);
  if (data.sample_dtype == DType::f32) out.floats = crop_all(data.floats, data.size(), middle);
  return out;
}

}  // namespace linnet
