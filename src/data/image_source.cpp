// SPDX-License-Identifier: Apache-2.0
#include "data/image_source.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/check.h"
#include "base/thread_team.h"
#include "data/image_transform.h"

namespace linnet {

ImageSource::ImageSource(std::vector<std::filesystem::path> files, Shape record, ImageFit fit,
                         std::string_view advice)
    : files_(std::move(files)), record_(std::move(record)), fit_(fit), advice_(advice) {
  require(record_.rank() == 3 && record_[0] > 0 && record_[1] > 0 &&
              (record_[2] == 1 || record_[2] == 3),
          "expected images (height, width, 1 or 3); got {}", to_string(record_));
}

void read_image_sample(const std::filesystem::path& path, const Shape& record, const ImageFit& fit,
                       std::span<std::byte> to) {
  put_image_sample(read_image(path, fit.reading), path, record, fit, to);
}

void put_image_sample(Image image, const std::filesystem::path& path, const Shape& record,
                      const ImageFit& fit, std::span<std::byte> to) {
  // Greys are written three times last: the same bytes, in less memory.
  const bool grey = image.channels == 1;
  if (!grey) image = with_channels(std::move(image), record[2]);
  if (fit.shorter_side > 0) {
    image = centre_of_resized(image, fit.shorter_side, record[0], record[1]);
  } else if (image.height != record[0] || image.width != record[1]) {
    require<DataError>(
        fit.resize,
        "'{}' is {} x {}; expected {} x {} (height x width); set a size to resize images to",
        path.string(), image.height, image.width, record[0], record[1]);
    image = resize_image(image, record[0], record[1]);
  }
  if (grey) image = with_channels(std::move(image), record[2]);
  LINNET_ASSERT(to.size() == image.pixels.size());
  std::memcpy(to.data(), image.pixels.data(), to.size());
}

void ImageSource::read(std::int64_t index, std::span<std::byte> to) const {
  try {
    read_image_sample(files_.at(static_cast<std::size_t>(index)), record_, fit_, to);
  } catch (const Error& error) {
    if (advice_.empty()) throw;
    fail_again<DataError>(error, "{}{}", error.what(), advice_);
  }
}

std::vector<std::pair<std::int64_t, std::string>> read_records(const RecordSource& source,
                                                               std::span<std::byte> to,
                                                               int threads) {
  constexpr std::int64_t kBlock = 16;
  const std::size_t bytes =
      static_cast<std::size_t>(source.record().elements()) * size_of(source.dtype());
  std::mutex mutex;
  std::vector<std::pair<std::int64_t, std::string>> bad;
  const auto read_block = [&](std::uint32_t block) {
    std::vector<std::byte> dropped(to.empty() ? bytes : 0);
    const std::int64_t begin = block * kBlock;
    for (std::int64_t i = begin; i < std::min(begin + kBlock, source.size()); ++i) {
      try {
        source.read(i, to.empty() ? std::span(dropped)
                                  : to.subspan(static_cast<std::size_t>(i) * bytes, bytes));
      } catch (const Error& error) {
        const std::lock_guard lock(mutex);
        bad.emplace_back(i, error.what());
      }
    }
  };
  ThreadTeam team(threads);
  const auto blocks = static_cast<std::uint32_t>((source.size() + kBlock - 1) / kBlock);
  run_tasks(team, blocks, read_block, Signals::delivered);
  std::sort(bad.begin(), bad.end());
  return bad;
}

}  // namespace linnet
