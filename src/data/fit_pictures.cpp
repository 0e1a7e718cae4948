// SPDX-License-Identifier: Apache-2.0
#include "data/fit_pictures.h"

#include <linnet/augment.h>

#include <algorithm>
#include <cstring>

#include "data/image_transform.h"

namespace linnet {
namespace {

void resize(std::span<const std::uint8_t> from, const Shape& sample, const Shape& input,
            std::span<std::uint8_t> to) {
  const Image image{sample[0], sample[1], sample[2], {from.begin(), from.end()}};
  std::ranges::copy(resize_image(image, input[0], input[1]).pixels, to.begin());
}

class ResizedSource final : public RecordSource {
 public:
  ResizedSource(std::shared_ptr<const RecordSource> source, Shape sample, Shape input)
      : source_(std::move(source)), sample_(std::move(sample)), input_(std::move(input)) {}
  std::int64_t size() const override { return source_->size(); }
  void read(std::int64_t index, std::span<std::byte> to) const override {
    std::vector<std::uint8_t> whole(static_cast<std::size_t>(sample_.elements()));
    source_->read(index, std::as_writable_bytes(std::span(whole)));
    resize(whole, sample_, input_, {reinterpret_cast<std::uint8_t*>(to.data()), to.size()});
  }

 private:
  std::shared_ptr<const RecordSource> source_;
  Shape sample_;
  Shape input_;
};

Dataset resized(Dataset data, const Shape& input) {
  const Shape sample = data.sample_shape;
  data.sample_shape = input;
  if (data.source != nullptr) {
    data.source = std::make_shared<ResizedSource>(data.source, sample, input);
    return data;
  }
  const auto from = static_cast<std::size_t>(sample.elements());
  const auto to = static_cast<std::size_t>(input.elements());
  const std::size_t count = data.bytes.size() / from;
  std::vector<std::uint8_t> bytes(count * to);
  for (std::size_t i = 0; i < count; ++i) {
    resize(std::span(data.bytes).subspan(i * from, from), sample, input,
           std::span(bytes).subspan(i * to, to));
  }
  data.bytes = std::move(bytes);
  return data;
}

}  // namespace

Dataset fit_pictures(Dataset data, const Shape& input) {
  const Shape& sample = data.sample_shape;
  const bool pictures = sample.rank() == 3 && input.rank() == 3 && sample[2] == input[2];
  if (!pictures || sample == input || data.size() == 0 || data.sample_dtype == DType::i32) {
    return data;
  }
  if (sample[0] >= input[0] && sample[1] >= input[1]) return centre_crop(data, input[0], input[1]);
  if (data.sample_dtype != DType::u8) return data;
  return resized(std::move(data), input);
}

}  // namespace linnet
