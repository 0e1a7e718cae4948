// SPDX-License-Identifier: Apache-2.0
#include "data/image_source.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/check.h"
#include "base/thread_team.h"
#include "data/image_transform.h"

namespace linnet {
namespace {

/// Blocks of records, one stage of tasks; what is bad is collected.
class ReadAll final : public StagedWork {
 public:
  ReadAll(const RecordSource& source, std::span<std::byte> to)
      : source_(source),
        record_bytes_(static_cast<std::size_t>(source.record().elements()) *
                      size_of(source.dtype())),
        to_(to) {}

  std::uint64_t stages() const override { return 1; }
  std::uint32_t tasks(std::uint64_t /*stage*/) const override {
    return static_cast<std::uint32_t>((source_.size() + kBlock - 1) / kBlock);
  }
  void run(std::uint64_t /*stage*/, std::uint32_t task, int /*thread*/) override {
    std::vector<std::byte> dropped(to_.empty() ? record_bytes_ : 0);
    const std::int64_t begin = task * kBlock;
    for (std::int64_t i = begin; i < std::min(begin + kBlock, source_.size()); ++i) {
      try {
        source_.read(i, to_.empty() ? std::span(dropped)
                                    : to_.subspan(static_cast<std::size_t>(i) * record_bytes_,
                                                  record_bytes_));
      } catch (const Error& error) {
        const std::lock_guard lock(mutex_);
        bad_.emplace_back(i, error.what());
      }
    }
  }

  std::vector<std::pair<std::int64_t, std::string>> bad() {
    std::sort(bad_.begin(), bad_.end());
    return std::move(bad_);
  }

 private:
  static constexpr std::int64_t kBlock = 16;
  const RecordSource& source_;
  std::size_t record_bytes_;
  std::span<std::byte> to_;
  std::mutex mutex_;
  std::vector<std::pair<std::int64_t, std::string>> bad_;
};

}  // namespace

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
  ReadAll work(source, to);
  ThreadTeam(threads).run(work, Signals::delivered);
  return work.bad();
}

}  // namespace linnet
