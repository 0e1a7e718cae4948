// SPDX-License-Identifier: Apache-2.0
#include "datasets/open_images.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/counted.h"
#include "base/folder.h"
#include "data/image_source.h"
#include "data/image_transform.h"
#include "datasets/chest_xray.h"
#include "datasets/image_folder.h"
#include "datasets/image_table.h"
#include "datasets/load_dataset.h"
#include "formats/image_header.h"

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

/// Said where a file that can't be read ends a training.
constexpr std::string_view kAdvice =
    "; --on-bad-image skip (in Python on_bad_image=\"skip\") leaves such files out";

std::shared_ptr<ImageSource> source_of(const Part& part, const Shape& record,
                                       const DatasetOptions& options,
                                       std::string_view advice = kAdvice) {
  const ImageFit fit{.reading = part.info.images, .resize = options.size.rank() > 0};
  return std::make_shared<ImageSource>(part.files, record, fit, advice);
}

/// Leaves out the files that can't be read as records.
void drop_bad(Part& part, const Shape& record, const DatasetOptions& options) {
  drop(part, read_records(*source_of(part, record, options, ""), {}, options.threads));
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
        const Image image = read_image(file, part->info.images);
        return {image.height, image.width};
      } catch (const Error& error) {
        if (options.on_bad_image == OnBadImage::stop) {
          fail_again<DataError>(error, "{}{}", error.what(), kAdvice);
        }
      }
    }
  }
  fail<DataError>("no image of '{}' can be read", parts[0]->info.name);
}

/// What the headers of a data set's files say together.
struct Headers {
  std::int64_t grey = 0;
  std::int64_t colour = 0;
  std::vector<fs::path> wide = {};  ///< the training set's files whose samples have 16 bits
};

Headers headers_of(const std::vector<Part*>& parts, const DatasetOptions& options) {
  Headers all;
  for (const Part* part : parts) {
    const std::vector<ImageHeader> headers =
        image_headers(part->files, options.threads, part->info.images.exif);
    for (std::size_t i = 0; i < headers.size(); ++i) {
      if (headers[i].channels == 1) ++all.grey;
      if (headers[i].channels == 3) ++all.colour;
      if (headers[i].wide && part == parts[0]) all.wide.push_back(part->files[i]);
    }
  }
  return all;
}

void add_note(const std::vector<Part*>& parts, const std::string& note) {
  for (Part* part : parts) part->info.notes.push_back(note);
}

/// Colour if any image has it; a mixture is noted.
std::int64_t choose_channels(const std::vector<Part*>& parts, const Headers& headers) {
  const auto [grey, colour, wide] = headers;
  if (grey > 0 && colour > 0) {
    add_note(parts,
             fmt::format("{} of the {} images of '{}' {} grey, the others in colour; all "
                         "are read in colour, with 3 "
                         "channels (--channels 1, in Python channels=1, reads all as grey)",
                         grey, grey + colour, parts[0]->info.name, grey == 1 ? "is" : "are"));
  }
  return colour > 0 ? 3 : 1;
}

/// The files themselves as records of one number each: their largest sample.
class LargestSamples final : public RecordSource {
 public:
  explicit LargestSamples(const std::vector<fs::path>& files) : files_(files) {}
  std::int64_t size() const override { return std::ssize(files_); }
  DType dtype() const override { return DType::i32; }
  Shape record() const override { return {1}; }
  void read(std::int64_t index, std::span<std::byte> to) const override {
    const auto largest =
        static_cast<std::int32_t>(read_image(files_[static_cast<std::size_t>(index)]).largest);
    std::memcpy(to.data(), &largest, sizeof(largest));
  }

 private:
  const std::vector<fs::path>& files_;
};

/// Returns what becomes white of 16-bit samples; it is noted where the training set has some.
std::int64_t choose_white(const std::vector<Part*>& parts, const Headers& headers,
                          const DatasetOptions& options) {
  if (headers.wide.empty()) return white_for(std::numeric_limits<std::uint16_t>::max());
  std::vector<std::int32_t> largest(headers.wide.size());
  // A file that can't be read is named where the images are.
  read_records(LargestSamples(headers.wide), std::as_writable_bytes(std::span(largest)),
               options.threads);
  const std::int64_t white = white_for(std::ranges::max(largest));
  const std::int64_t count = std::ssize(headers.wide);
  add_note(parts, fmt::format("{} of '{}' {} 16 bits a sample, at most {}: 0 to {} becomes 0 to "
                              "255 (set white to choose the sample that becomes 255)",
                              counted(count, "training image"), parts[0]->info.name,
                              count == 1 ? "has" : "have", std::ranges::max(largest), white));
  return white;
}

/// `channels`: where the options do not say it; 0: what the images have.
Splits open_parts(Part train, Part validation, Part test, std::int64_t channels,
                  const DatasetOptions& options) {
  require(!options.white || (*options.white >= 0 && *options.white <= 65535),
          "expected a sample of 16-bit images that becomes white, from 1 to 65535, or 0; got {}",
          options.white.value_or(0));
  const std::vector<Part*> parts{&train, &validation, &test};
  for (Part* part : parts) {
    part->info.images = {.exif = options.exif.value_or(Exif::apply),
                         .white = options.white.value_or(0)};
  }
  const Shape size = size_of_images({&train, &validation, &test}, options);
  if (options.on_bad_image == OnBadImage::skip) {
    for (Part* part : parts) drop_bad(*part, Shape{size[0], size[1], 3}, options);
  }
  if (options.channels > 0) channels = options.channels;
  if (channels == 0 || !options.white) {
    const Headers headers = headers_of(parts, options);
    if (channels == 0) channels = choose_channels(parts, headers);
    if (!options.white) {
      const std::int64_t white = choose_white(parts, headers, options);
      for (Part* part : parts) part->info.images.white = white;
    }
  }
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

Splits open_image_table(const fs::path& folder, const DatasetOptions& options) {
  const ImageTable table = read_image_table(folder, options.targets);
  const Part empty{.files = {},
                   .width = table.width,
                   .info = {.name = folder_name(folder),
                            .classes = table.classes,
                            .notes = table.notes}};
  std::array<Part, 3> parts{empty, empty, empty};
  for (std::size_t i = 0; i < table.images.size(); ++i) {
    Part& part = parts[static_cast<std::size_t>(table.images[i].part)];
    part.files.push_back(table.images[i].path);
    if (table.width == 0) part.labels.push_back(table.labels[i]);
    const auto values = table.values.begin() + static_cast<std::ptrdiff_t>(i * table.width);
    part.values.insert(part.values.end(), values,
                       values + static_cast<std::ptrdiff_t>(table.width));
  }
  return open_parts(std::move(parts[0]), std::move(parts[1]), std::move(parts[2]), 0, options);
}

std::vector<std::string> bad_files_notes(const Splits& splits) {
  std::size_t count = 0;
  const std::string* first = nullptr;
  for (const Dataset* data : {&splits.train, &splits.validation, &splits.test}) {
    const std::vector<std::string>& bad = data->info().bad_files;
    if (first == nullptr && !bad.empty()) first = &bad[0];
    count += bad.size();
  }
  if (first == nullptr) return {};
  return {fmt::format("{} bad image file{} left out, the first: {}", count,
                      count == 1 ? " was" : "s were", *first)};
}

std::vector<fs::path> image_files_in(const fs::path& folder,
                                     const std::vector<std::string>& targets) {
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
  } else if (found.kind == DataKind::image_table) {
    add(read_image_table(found.folder, targets).images);
  } else if (found.kind == DataKind::chest_xray) {
    const XrayIndex index = index_chest_xray(found.folder);
    add(index.train);
    add(index.validation);
    add(index.test);
  }
  return files;
}

}  // namespace linnet
