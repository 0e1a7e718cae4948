// SPDX-License-Identifier: Apache-2.0
#include "datasets/survey.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/folder.h"
#include "base/memory.h"
#include "core/dims.h"
#include "data/image_transform.h"
#include "data/targets.h"
#include "datasets/chest_xray.h"
#include "datasets/cifar.h"
#include "datasets/image_folder.h"
#include "datasets/image_table.h"
#include "datasets/load_dataset.h"
#include "formats/idx.h"
#include "formats/packed.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

/// Gathers a ValueRange; bytes by how often each occurs, which is exact.
class Meter {
 public:
  void add(std::span<const std::uint8_t> values) {
    for (const std::uint8_t value : values) ++times_[value];
  }
  template <class T>
  void add(std::span<const T> values) {
    for (const T value : values) add_one(static_cast<double>(value), 1);
  }

  ValueRange range() {
    for (std::size_t value = 0; value < times_.size(); ++value) {
      if (times_[value] > 0) add_one(static_cast<double>(value), std::exchange(times_[value], 0));
    }
    ValueRange range{.count = count_, .not_finite = not_finite_};
    if (count_ == not_finite_) return range;
    const auto finite = static_cast<double>(count_ - not_finite_);
    range.least = least_;
    range.most = most_;
    range.mean = mean_;
    range.std_dev = std::sqrt(squares_ / finite);
    return range;
  }

 private:
  /// Welford's running mean and sum of squared differences, for `times` equal values at once.
  void add_one(double value, std::int64_t times) {
    count_ += times;
    if (!std::isfinite(value)) {
      not_finite_ += times;
      return;
    }
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
    const double step = value - mean_;
    const auto weight = static_cast<double>(times);
    mean_ += step * weight / static_cast<double>(count_ - not_finite_);
    squares_ += weight * step * (value - mean_);
  }

  std::array<std::int64_t, 256> times_{};
  std::int64_t count_ = 0;
  std::int64_t not_finite_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
  double mean_ = 0;
  double squares_ = 0;
};

void add(const Tensor& elements, Meter& meter) {
  switch (elements.dtype()) {
    case DType::u8: return meter.add(elements.as<std::uint8_t>());
    case DType::i32: return meter.add(elements.as<std::int32_t>());
    default: return meter.add(elements.as<float>());
  }
}

/// Surveys the first input and the first target.
PartSurvey survey_part(const std::string& name, const Dataset& data) {
  PartSurvey part;
  part.name = name;
  part.samples = data.size();
  if (!data.inputs().empty()) {
    const Column& samples = data.inputs()[0];
    part.shapes[dims_of(samples.record())] = data.size();
    part.dtype = samples.dtype();
    part.bytes = samples.data.bytes().size();
    Meter meter;
    add(samples.data, meter);
    part.samples_range = meter.range();
  }
  part.samples_by_class.resize(data.classes().size());
  if (!data.classes().empty()) {
    for (const std::int32_t label : labels_of(data)) {
      ++part.samples_by_class.at(static_cast<std::size_t>(label));
    }
  }
  const std::span<const float> values = values_of(data);
  if (values.empty()) return part;
  Meter meter;
  meter.add(values);
  part.values_range = meter.range();
  part.value_shape = value_shape_of(data);
  const std::size_t width = data.classes().size();
  if (part.value_shape.elements() == std::ssize(data.classes())) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] > 0.5F) ++part.samples_by_class[i % width];
    }
  } else {
    part.samples_by_class.clear();
  }
  return part;
}

/// An image and the classes that it counts for.
struct Entry {
  fs::path path;
  std::vector<std::size_t> classes;
};

struct Entries {
  std::string part;
  std::vector<Entry> files;
  std::vector<float> values = {};  ///< of all files, where they are no labels
};

std::vector<Entries> entries_of(const ImageIndex& index) {
  std::vector<Entries> parts{{"train", {}}, {"validation", {}}, {"test", {}}};
  const std::array files{&index.train, &index.validation, &index.test};
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (const ImageFile& file : *files[p]) {
      parts[p].files.push_back({file.path, {static_cast<std::size_t>(file.label)}});
    }
  }
  return parts;
}

std::vector<Entries> entries_of(const XrayIndex& index) {
  std::vector<Entries> parts{{"train", {}}, {"validation", {}}, {"test", {}}};
  const std::array images{&index.train, &index.validation, &index.test};
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (const XrayImage& image : *images[p]) {
      Entry entry{image.path, {}};
      for (std::size_t c = 0; c < image.findings.size(); ++c) {
        if (image.findings[c] != 0) entry.classes.push_back(c);
      }
      parts[p].files.push_back(std::move(entry));
    }
  }
  return parts;
}

/// Whether its values, if it has some, are all 0 or 1.
bool are_labels(const ImageTable& table) {
  return std::ranges::all_of(table.values, [](float value) { return value == 0 || value == 1; });
}

std::vector<Entries> entries_of(const ImageTable& table) {
  std::vector<Entries> parts{{"train", {}}, {"validation", {}}, {"test", {}}};
  const bool labels = are_labels(table);
  for (std::size_t i = 0; i < table.images.size(); ++i) {
    Entry entry{table.images[i].path, {}};
    if (table.width == 0) entry.classes.push_back(static_cast<std::size_t>(table.labels[i]));
    Entries& part = parts[static_cast<std::size_t>(table.images[i].part)];
    for (std::size_t c = 0; c < table.width; ++c) {
      const float value = table.values[i * table.width + c];
      if (!labels)
        part.values.push_back(value);
      else if (value == 1)
        entry.classes.push_back(c);
    }
    part.files.push_back(std::move(entry));
  }
  return parts;
}

/// Decodes one image after the other; nothing is kept but the figures.
void survey_images(const std::vector<Entries>& all, const SurveyProgress& progress,
                   Survey& survey) {
  std::int64_t files = 0;
  for (const Entries& entries : all) files += static_cast<std::int64_t>(entries.files.size());
  std::int64_t done = 0;
  std::int64_t wide = 0;
  std::int64_t largest = 0;
  for (const Entries& entries : all) {
    PartSurvey part;
    part.name = entries.part;
    part.samples_by_class.resize(survey.class_names.size());
    Meter meter;
    for (const Entry& entry : entries.files) {
      try {
        const Image image = read_image(entry.path, {.exif = Exif::apply, .white = 65535});
        ++part.samples;
        ++part.shapes[{image.height, image.width, image.channels}];
        part.bytes += image.pixels.size();
        meter.add(std::span(image.pixels));
        wide += image.largest > 0 ? 1 : 0;
        largest = std::max(largest, image.largest);
        for (const std::size_t c : entry.classes) ++part.samples_by_class[c];
      } catch (const Error& error) {
        survey.bad_files.push_back({entry.path, error.what()});
      }
      if (progress) progress(++done, files);
    }
    part.samples_range = meter.range();
    if (!entries.values.empty()) {
      Meter values;
      values.add(std::span<const float>(entries.values));
      part.values_range = values.range();
      part.value_shape = {std::ssize(entries.values) / std::ssize(entries.files)};
    }
    if (part.samples > 0) survey.parts.push_back(std::move(part));
  }
  if (wide == 0) return;
  survey.notes.push_back(
      fmt::format("{} {} 16 bits a sample, at most {}; a training makes 0 to {} bytes (--white "
                  "chooses another range)",
                  counted(wide, "image"), wide == 1 ? "has" : "have", largest, white_for(largest)));
}

/// Throws Error where the file can't be used alone.
void check_file(const fs::path& path, DataKind kind) {
  const std::string name = path.filename().string();
  if (name.ends_with(".npy")) {
    read_npy(path);
  } else if (name.find("-ubyte") != std::string::npos) {
    read_idx(path, name.find("idx3") != std::string::npos ? 3 : 1);
  } else if (kind == DataKind::cifar && name.ends_with(".bin")) {
    check_cifar_batch(path);
  } else if (name.ends_with(".xz") || name.ends_with(".gz")) {
    read_pieces(path, most_bytes(32), [](std::string_view) { return true; });
  }
}

void survey_arrays(const FoundData& found, const SurveyProgress& progress, Survey& survey) {
  const std::vector<fs::path> files = list_folder(found.folder).files;
  std::int64_t done = 0;
  for (const fs::path& path : files) {
    try {
      check_file(path, found.kind);
    } catch (const Error& error) {
      survey.bad_files.push_back({path, error.what()});
    }
    if (progress) progress(++done, static_cast<std::int64_t>(files.size()));
  }
  if (!survey.bad_files.empty()) return;
  try {
    Survey loaded = survey_dataset(load_dataset(found.folder));
    loaded.format = survey.format;
    survey = std::move(loaded);
  } catch (const Error& error) {
    survey.bad_files.push_back({found.folder, error.what()});
  }
}

}  // namespace

Survey survey_dataset(const fs::path& path, const SurveyProgress& progress) {
  const FoundData found = find_dataset(path);
  Survey survey;
  survey.name = folder_name(found.folder);
  survey.format = to_string(found.kind);
  if (found.kind == DataKind::images) {
    const ImageIndex index = index_image_folders(found.folder);
    survey.class_names = index.class_names;
    survey.notes = index.notes;
    survey_images(entries_of(index), progress, survey);
  } else if (found.kind == DataKind::image_table) {
    const ImageTable table = read_image_table(found.folder, {});
    if (are_labels(table)) survey.class_names = table.classes;
    survey.notes = table.notes;
    survey_images(entries_of(table), progress, survey);
  } else if (found.kind == DataKind::chest_xray) {
    const XrayIndex index = index_chest_xray(found.folder);
    survey.class_names = index.labels;
    survey_images(entries_of(index), progress, survey);
  } else {
    survey_arrays(found, progress, survey);
  }
  return survey;
}

Survey survey_dataset(const Splits& splits) {
  Survey survey;
  survey.name = splits.train.info().name;
  survey.format = "memory";
  survey.class_names = splits.train.classes();
  for (const auto& [name, part] :
       {std::pair("train", &splits.train), std::pair("validation", &splits.validation),
        std::pair("test", &splits.test)}) {
    part->check_labels();
    if (part->size() > 0) survey.parts.push_back(survey_part(name, *part));
  }
  return survey;
}

}  // namespace linnet
