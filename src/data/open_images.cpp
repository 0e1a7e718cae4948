// SPDX-License-Identifier: Apache-2.0
#include "data/open_images.h"

#include <algorithm>
#include <string>

#include "base/check.h"
#include "data/chest_xray.h"
#include "data/image_folder.h"
#include "data/image_header.h"
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

std::shared_ptr<ImageSource> source_of(const Part& part, const Shape& record,
                                       const DatasetOptions& options) {
  return std::make_shared<ImageSource>(part.files, record, options.size.rank() > 0);
}

/// Leaves out the files that can't be read as records.
void drop_bad(Part& part, const Shape& record, const DatasetOptions& options) {
  const auto bytes = static_cast<std::size_t>(record.elements());
  drop(part, read_records(*source_of(part, record, options), bytes, {}, options.threads));
}

/// Gives a part its samples.
void open(Part& part, const Shape& record, const DatasetOptions& options) {
  const auto bytes = static_cast<std::size_t>(record.elements());
  const std::shared_ptr<ImageSource> source = source_of(part, record, options);
  part.data.sample_shape = record;
  if (options.streamed) {
    part.data.source = source;
  } else {
    const auto files = static_cast<std::int64_t>(part.files.size());
    part.data.bytes.resize(static_cast<std::size_t>(record.batched(files).elements()));
    const auto bad =
        read_records(*source, bytes, std::as_writable_bytes(std::span(part.data.bytes)),
                     options.threads);
    if (!bad.empty()) throw Error(bad[0].second);
  }
  part.data.validate();
}

/// (height, width): where the options do not say it, the first image that can be read does.
Shape size_of_images(const std::vector<const Part*>& parts, const DatasetOptions& options) {
  for (const Part* part : parts) {
    for (const fs::path& file : part->files) {
      if (options.size.rank() == 2) return options.size;
      try {
        const Image image = read_image(file);
        return {image.height, image.width};
      } catch (const Error&) {
        if (options.on_bad_image == OnBadImage::stop) throw;
      }
    }
  }
  fail("none of the images of '{}' can be read", parts[0]->data.name);
}

/// Colour if any image has it; a mixture is noted.
std::int64_t choose_channels(const std::vector<Part*>& parts, int threads) {
  ColourCount all;
  for (const Part* part : parts) {
    const ColourCount count = count_colours(part->files, threads);
    all.grey += count.grey;
    all.colour += count.colour;
  }
  if (all.grey > 0 && all.colour > 0) {
    const std::string note = fmt::format(
        "{} of the {} images of '{}' {} grey, the others in colour: all are read in colour, with 3 "
        "channels; set channels to 1 to read all as grey",
        all.grey, all.grey + all.colour, parts[0]->data.name, all.grey == 1 ? "is" : "are");
    for (Part* part : parts) part->data.notes.push_back(note);
  }
  return all.colour > 0 ? 3 : 1;
}

/// `channels`: where the options do not say it; 0: what the images have.
DatasetPair open_parts(Part train, Part test, Part validation, std::int64_t channels,
                       const DatasetOptions& options) {
  const std::vector<Part*> parts{&train, &validation, &test};
  const Shape size = size_of_images({&train, &validation, &test}, options);
  if (options.on_bad_image == OnBadImage::skip) {
    for (Part* part : parts) drop_bad(*part, Shape{size[0], size[1], 3}, options);
  }
  if (options.channels > 0) channels = options.channels;
  if (channels == 0) channels = choose_channels(parts, options.threads);
  for (Part* part : parts) open(*part, Shape{size[0], size[1], channels}, options);
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
