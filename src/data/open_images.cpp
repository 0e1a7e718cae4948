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
#include "data/load_dataset.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

/// A set before its images are looked at: files, and the target of each.
struct Part {
  std::vector<fs::path> files;
  std::vector<std::int32_t> labels = {};  ///< one a file, or:
  std::vector<float> values = {};         ///< `width` a file
  std::size_t width = 0;                  ///< 0: labels
  DatasetInfo info = {};
};

void drop(Part& part, const std::vector<std::pair<std::int64_t, std::string>>& bad) {
  std::size_t next = 0;  // of bad
  std::size_t kept = 0;
  for (std::size_t i = 0; i < part.files.size(); ++i) {
    if (next < bad.size() && bad[next].first == static_cast<std::int64_t>(i)) {
      part.info.bad_files.push_back(bad[next++].second);
      continue;
    }
    part.files[kept] = part.files[i];
    if (part.width == 0) part.labels[kept] = part.labels[i];
    for (std::size_t k = 0; k < part.width; ++k) {
      part.values[kept * part.width + k] = part.values[i * part.width + k];
    }
    ++kept;
  }
  part.files.resize(kept);
  part.labels.resize(part.width == 0 ? kept : 0);
  part.values.resize(kept * part.width);
}

std::shared_ptr<ImageSource> source_of(const Part& part, const Shape& record,
                                       const DatasetOptions& options) {
  return std::make_shared<ImageSource>(part.files, record,
                                       ImageFit{.resize = options.size.rank() > 0});
}

/// Leaves out the files that can't be read as records.
void drop_bad(Part& part, const Shape& record, const DatasetOptions& options) {
  drop(part, read_records(*source_of(part, record, options), {}, options.threads));
}

Dataset open(Part part, const Shape& record, const DatasetOptions& options) {
  const auto count = static_cast<std::int64_t>(part.files.size());
  const std::shared_ptr<ImageSource> source = source_of(part, record, options);
  Column images{.name = "image"};
  if (options.streamed) {
    images.source = source;
  } else {
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(record.batched(count).elements()));
    const auto bad =
        read_records(*source, std::as_writable_bytes(std::span(pixels)), options.threads);
    if (!bad.empty()) throw DataError(bad[0].second);
    images.data = Tensor(std::move(pixels), record.batched(count));
  }
  const auto width = static_cast<std::int64_t>(part.width);
  Column target =
      width == 0 ? Column{.name = "label", .data = Tensor(std::move(part.labels))}
                 : Column{.name = "value", .data = Tensor(std::move(part.values), {count, width})};
  return {{std::move(images)}, {std::move(target)}, std::move(part.info)};
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
  fail<DataError>("no image of '{}' can be read", parts[0]->info.name);
}

/// Colour if any image has it; a mixture is noted.
std::int64_t choose_channels(const std::vector<Part*>& parts, int threads) {
  std::int64_t grey = 0;
  std::int64_t colour = 0;
  for (const Part* part : parts) {
    for (const ImageHeader& header : image_headers(part->files, threads)) {
      if (header.channels == 1) ++grey;
      if (header.channels == 3) ++colour;
    }
  }
  if (grey > 0 && colour > 0) {
    const std::string note = fmt::format(
        "{} of the {} images of '{}' {} grey, the others in colour; all are read in colour, with 3 "
        "channels (set channels to 1 to read all as grey)",
        grey, grey + colour, parts[0]->info.name, grey == 1 ? "is" : "are");
    for (Part* part : parts) part->info.notes.push_back(note);
  }
  return colour > 0 ? 3 : 1;
}

/// `channels`: where the options do not say it; 0: what the images have.
Splits open_parts(Part train, Part validation, Part test, std::int64_t channels,
                  const DatasetOptions& options) {
  const std::vector<Part*> parts{&train, &validation, &test};
  const Shape size = size_of_images({&train, &validation, &test}, options);
  if (options.on_bad_image == OnBadImage::skip) {
    for (Part* part : parts) drop_bad(*part, Shape{size[0], size[1], 3}, options);
  }
  if (options.channels > 0) channels = options.channels;
  if (channels == 0) channels = choose_channels(parts, options.threads);
  const Shape record{size[0], size[1], channels};
  return {.train = open(std::move(train), record, options),
          .validation = open(std::move(validation), record, options),
          .test = open(std::move(test), record, options)};
}

}  // namespace

Splits open_image_folders(const fs::path& folder, const DatasetOptions& options) {
  const ImageIndex index = index_image_folders(folder);
  const auto part_of = [&](const std::vector<ImageFile>& files) {
    Part part{.files = {},
              .info = {.name = index.name, .classes = index.class_names, .notes = index.notes}};
    for (const ImageFile& file : files) {
      part.files.push_back(file.path);
      part.labels.push_back(file.label);
    }
    return part;
  };
  return open_parts(part_of(index.train), part_of(index.validation), part_of(index.test), 0,
                    options);
}

Splits open_chest_xray(const fs::path& folder, const DatasetOptions& options) {
  const XrayIndex index = index_chest_xray(folder, {.seed = options.seed});
  const auto part_of = [&](const std::vector<XrayImage>& images) {
    Part part{.files = {},
              .width = index.labels.size(),
              .info = {.name = "chest-xray", .classes = index.labels}};
    for (const XrayImage& image : images) {
      part.files.push_back(image.path);
      part.values.insert(part.values.end(), image.findings.begin(), image.findings.end());
    }
    return part;
  };
  return open_parts(part_of(index.train), part_of(index.validation), part_of(index.test), 3,
                    options);
}

std::vector<fs::path> image_files_in(const fs::path& folder) {
  const FoundData found = find_dataset(folder);
  std::vector<fs::path> files;
  const auto add = [&](const auto& images) {
    for (const auto& image : images) files.push_back(image.path);
  };
  if (found.kind == DataKind::images) {
    const ImageIndex index = index_image_folders(found.folder);
    add(index.train);
    add(index.validation);
    add(index.test);
  } else if (found.kind == DataKind::chest_xray) {
    const XrayIndex index = index_chest_xray(found.folder);
    add(index.train);
    add(index.validation);
    add(index.test);
  }
  return files;
}

}  // namespace linnet
