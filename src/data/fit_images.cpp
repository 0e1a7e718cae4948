// SPDX-License-Identifier: Apache-2.0
#include "data/fit_images.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "data/image_transform.h"
#include "data/targets.h"
#include "data/wrapped_source.h"

namespace linnet {
namespace {

void resize(std::span<const std::uint8_t> from, const Shape& sample, const Shape& input,
            std::span<std::uint8_t> to) {
  const Image image{sample[0], sample[1], sample[2], {from.begin(), from.end()}};
  std::ranges::copy(resize_image(image, input[0], input[1]).pixels, to.begin());
}

class ResizedSource final : public WrappedSource {
 public:
  ResizedSource(std::shared_ptr<const RecordSource> source, const Shape& input)
      : WrappedSource(std::move(source)), sample_(this->source().record()), input_(input) {}
  Shape record() const override { return input_; }
  void read_in_epoch(std::int64_t index, std::int64_t epoch,
                     std::span<std::byte> to) const override {
    std::vector<std::uint8_t> whole(static_cast<std::size_t>(sample_.elements()));
    source().read_in_epoch(index, epoch, std::as_writable_bytes(std::span(whole)));
    resize(whole, sample_, input_, {reinterpret_cast<std::uint8_t*>(to.data()), to.size()});
  }

 private:
  Shape sample_;
  Shape input_;
};

Column resized(Column column, const Shape& input) {
  if (column.source != nullptr) {
    column.source = std::make_shared<ResizedSource>(column.source, input);
    return column;
  }
  const Shape sample = column.record();
  const auto from = static_cast<std::size_t>(sample.elements());
  const auto to = static_cast<std::size_t>(input.elements());
  const auto count = static_cast<std::size_t>(column.size());
  const std::span<const std::uint8_t> pixels = column.data.as<std::uint8_t>();
  std::vector<std::uint8_t> out(count * to);
  for (std::size_t i = 0; i < count; ++i) {
    resize(pixels.subspan(i * from, from), sample, input, std::span(out).subspan(i * to, to));
  }
  column.data = Tensor(std::move(out), input.batched(column.size()));
  return column;
}

enum class Fit : std::uint8_t { none, crop, resize };

Fit fit_of(const Dataset& data, const Shape& input, std::size_t index) {
  if (data.size() == 0 || index >= data.inputs().size()) return Fit::none;
  const Column& column = data.inputs()[index];
  const Shape sample = column.record();
  const bool images = sample.rank() == 3 && input.rank() == 3 && sample[2] == input[2];
  if (!images || sample == input || column.dtype() == DType::i32) return Fit::none;
  if (sample[0] >= input[0] && sample[1] >= input[1]) return Fit::crop;
  return column.dtype() == DType::u8 ? Fit::resize : Fit::none;
}

}  // namespace

Dataset fit_images(Dataset data, const Shape& input, std::size_t index) {
  if (fit_of(data, input, index) == Fit::crop) {
    return centre_crop_input(data, index, input[0], input[1]);
  }
  return resize_smaller(std::move(data), input, index);
}

Dataset resize_smaller(Dataset data, const Shape& input, std::size_t index) {
  if (fit_of(data, input, index) != Fit::resize) return data;
  return with_input(data, index, resized(data.inputs()[index], input));
}

}  // namespace linnet
