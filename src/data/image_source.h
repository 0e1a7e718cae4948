// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/image.h"

namespace linnet {

/// Describes how an image file becomes a sample, its size included.
struct ImageFit {
  ImageReading reading = {};
  bool resize = false;            ///< by resize_image(); else another size throws Error
  std::int64_t shorter_side = 0;  ///< above 0: by centre_of_resized() instead
};

/// Reads an image file as a sample of `record` (height, width, 1 or 3): decoded (read_image()), in
/// its channels (with_channels()), in its size. The one way for training, evaluation, prediction
/// and conversion.
void read_image_sample(const std::filesystem::path& path, const Shape& record, const ImageFit& fit,
                       std::span<std::byte> to);

/// Does the same for a decoded image; `path` is for messages.
void put_image_sample(Image image, const std::filesystem::path& path, const Shape& record,
                      const ImageFit& fit, std::span<std::byte> to);

/// Image files as records (height, width, channels) u8, each read and decoded when it is asked for.
/// Errors end with `advice`.
class ImageSource final : public RecordSource {
 public:
  ImageSource(std::vector<std::filesystem::path> files, Shape record, ImageFit fit,
              std::string_view advice = {});

  std::int64_t size() const override { return static_cast<std::int64_t>(files_.size()); }
  DType dtype() const override { return DType::u8; }
  Shape record() const override { return record_; }
  /// Throws Error naming the file: unreadable, damaged, or of another size.
  void read(std::int64_t index, std::span<std::byte> to) const override;

 private:
  std::vector<std::filesystem::path> files_;
  Shape record_;
  ImageFit fit_;
  std::string_view advice_;  // a literal
};

/// Reads all records of a source on `threads` threads (0: all processors) into `to`, record after
/// record. Returns index and reason of those that throw Error, in their order; their bytes are
/// undefined. `to` may be empty: then records are looked at and dropped.
std::vector<std::pair<std::int64_t, std::string>> read_records(const RecordSource& source,
                                                               std::span<std::byte> to,
                                                               int threads);

}  // namespace linnet
