// SPDX-License-Identifier: Apache-2.0
#include "data/open_images.h"

#include <algorithm>

#include "base/check.h"
#include "data/chest_xray.h"
#include "data/image_folder.h"
#include "data/image_source.h"
#include "data/image_transform.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

/// One part before its images are looked at; `part` has everything but its samples.
struct Part {
  std::vector<fs::path> files;
  Dataset data;
};

void drop(Part& part, const std::vector<std::pair<std::int64_t, std::string>>& bad) {
  const auto width = static_cast<std::size_t>(part.data.value_shape.elements());
  std::size_t next = 0;  // of bad
  std::size_t kept = 0;
  for (std::size_t i = 0; i < part.files.size(); ++i) {
    if (next < bad.size() && bad[next].first == static_cast<std::int64_t>(i)) {
      part.data.bad_files.push_back(bad[next++].second);
      continue;
    }
    part.files[kept] = part.files[i];
    if (!part.data.labels.empty()) part.data.labels[kept] = part.data.labels[i];
    for (std::size_t k = 0; k < width && !part.data.values.empty(); ++k) {
      part.data.values[kept * width + k] = part.data.values[i * width + k];
    }
    ++kept;
  }
  part.files.resize(kept);
  if (!part.data.labels.empty()) part.data.labels.resize(kept);
  if (!part.data.values.empty()) part.data.values.resize(kept * width);
}

/// Gives a part its samples.
void open(Part& part, const Shape& record, const DatasetOptions& options) {
  const bool resize = options.size.rank() > 0;
  const auto bytes = static_cast<std::size_t>(record.elements());
  const auto source = [&] { return std::make_shared<ImageSource>(part.files, record, resize); };
  part.data.sample_shape = record;
  if (options.on_bad_image == OnBadImage::skip) {
    drop(part, read_records(*source(), bytes, {}, options.threads));
  }
  if (options.streamed) {
    part.data.source = source();
  } else {
    const auto files = static_cast<std::int64_t>(part.files.size());
    part.data.bytes.resize(static_cast<std::size_t>(record.batched(files).elements()));
    const auto bad =
        read_records(*source(), bytes, std::as_writable_bytes(std::span(part.data.bytes)),
                     options.threads);
    if (!bad.empty()) throw Error(bad[0].second);
  }
  part.data.validate();
}

/// The first image that can be read says what all are like.
Shape record_of(const std::vector<const Part*>& parts, std::int64_t channels,
                const DatasetOptions& options) {
  for (const Part* part : parts) {
    for (const fs::path& file : part->files) {
      if (options.size.rank() == 2 && channels > 0) {
        return {options.size[0], options.size[1], channels};
      }
      try {
        const Image image = read_image(file);
        const bool sized = options.size.rank() == 2;
        return {sized ? options.size[0] : image.height, sized ? options.size[1] : image.width,
                channels > 0 ? channels : image.channels};
      } catch (const Error&) {
        if (options.on_bad_image == OnBadImage::stop) throw;
      }
    }
  }
  fail("none of the images of '{}' can be read", parts[0]->data.name);
}

DatasetPair open_parts(Part train, Part test, Part validation, std::int64_t channels,
                       const DatasetOptions& options) {
  const Shape record = record_of({&train, &validation, &test}, channels, options);
  for (Part* part : {&train, &validation, &test}) open(*part, record, options);
  return {std::move(train.data), std::move(test.data), std::move(validation.data)};
}

}  // namespace

DatasetPair open_image_folders(const fs::path& folder, const DatasetOptions& options) {
  const ImageIndex index = index_image_folders(folder);
  const auto part_of = [&](const std::vector<ImageFile>& files) {
    Part part;
    part.data.name = index.name;
    part.data.class_names = index.class_names;
    for (const ImageFile& file : files) {
      part.files.push_back(file.path);
      part.data.labels.push_back(file.label);
    }
    return part;
  };
  return open_parts(part_of(index.train), part_of(index.test), part_of({}), 0, options);
}

DatasetPair open_chest_xray(const fs::path& folder, const DatasetOptions& options) {
  const XrayIndex index = index_chest_xray(folder, {.seed = options.seed});
  const auto part_of = [&](const std::vector<XrayImage>& images) {
    Part part;
    part.data.name = "chest-xray";
    part.data.class_names = index.labels;
    part.data.value_shape = {static_cast<std::int64_t>(index.labels.size())};
    for (const XrayImage& image : images) {
      part.files.push_back(image.path);
      part.data.values.insert(part.data.values.end(), image.findings.begin(), image.findings.end());
    }
    return part;
  };
  return open_parts(part_of(index.train), part_of(index.test), part_of(index.validation), 3,
                    options);
}

}  // namespace linnet
