// SPDX-License-Identifier: Apache-2.0
#include <linnet/image_task.h>
#include <linnet/layers.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "data/targets.h"
#include "datasets/open_images.h"
#include "formats/image_header.h"
#include "tasks/image/image_defaults.h"
#include "tasks/split_task.h"

namespace linnet {
namespace {

constexpr std::int64_t kLongestSide = 128;                  // pixels of images that keep their size
constexpr std::int64_t kMostBytes = std::int64_t{2} << 30;  // of images in memory

/// Returns how the side of an image shrinks where `longest` becomes kLongestSide.
std::int64_t scaled(std::int64_t side, std::int64_t longest) {
  return std::max<std::int64_t>(1, (side * kLongestSide + longest / 2) / longest);
}

using Sizes = std::set<std::pair<std::int64_t, std::int64_t>>;

/// (): the images keep their size.
Shape size_for(const Sizes& sizes, std::vector<std::int64_t> shorter_sides) {
  if (sizes.empty()) return {};  // reading the first one says why
  if (sizes.size() == 1) {
    const auto [height, width] = *sizes.begin();
    const std::int64_t longest = std::max(height, width);
    if (longest <= kLongestSide) return {};
    return {scaled(height, longest), scaled(width, longest)};
  }
  const auto middle = shorter_sides.begin() + std::ssize(shorter_sides) / 2;
  std::ranges::nth_element(shorter_sides, middle);
  const std::int64_t side = std::min(kLongestSide, *middle);
  return {side, side};
}

/// The note is empty where the images keep their size.
std::pair<DatasetOptions, std::string> sized(const std::filesystem::path& folder,
                                             DatasetOptions options) {
  if (options.size.rank() > 0) return {options, ""};
  const std::vector<std::filesystem::path> files = image_files_in(folder, options.targets);
  Sizes sizes;
  std::vector<std::int64_t> shorter_sides;
  for (const ImageHeader& header :
       image_headers(files, options.threads, options.exif.value_or(Exif::apply))) {
    if (header.height <= 0 || header.width <= 0) continue;
    sizes.emplace(header.height, header.width);
    shorter_sides.push_back(std::min(header.height, header.width));
  }
  options.size = size_for(sizes, std::move(shorter_sides));
  if (options.size.rank() == 0) return {options, ""};
  const std::int64_t bytes =
      std::ssize(files) * options.size.elements() * (options.channels == 1 ? 1 : 3);
  options.streamed = options.streamed || bytes > kMostBytes;
  const auto [height, width] = *sizes.begin();
  return {options, fmt::format("images of {} are resized to {} x {}",
                               sizes.size() == 1 ? fmt::format("{} x {} pixels", height, width)
                                                 : fmt::format("{} sizes", sizes.size()),
                               options.size[0], options.size[1])};
}

/// Returns the number of outputs; classes of labels, or labels of images that may have several.
std::int64_t outputs_of(const Dataset& data) {
  const Shape sample = data.inputs().empty() ? Shape{} : data.inputs()[0].record();
  require<DataError>(
      sample.rank() == 3 && (sample[2] == 1 || sample[2] == 3) && !data.targets().empty(),
      "'{}' has samples of {}; expected images (height, width, 1 or 3) with classes: describe the "
      "network of other data",
      data.info().name, to_string(sample));
  const std::span<const std::int32_t> labels = labels_of(data);
  const Shape values = value_shape_of(data);
  require<DataError>(
      !labels.empty() || values.rank() == 1,
      "the images of '{}' have neither a class each nor values; expected one of them",
      data.info().name);
  if (labels.empty()) return values[0];
  const std::int64_t classes =
      data.classes().empty() ? classes_of(labels) : std::ssize(data.classes());
  require<DataError>(classes >= 2, "'{}' has {} class{}; expected at least 2 to tell apart",
                     data.info().name, classes, classes == 1 ? "" : "es");
  return classes;
}

/// Returns the last layer of a network of values, which makes numbers around 0 those of the
/// targets.
Normalize scaled_outputs(std::span<const float> values, std::int64_t width) {
  Normalize layer{.mean = {}, .std = {}, .scale = 1, .name = "units"};
  const auto step = static_cast<std::size_t>(width);
  require<DataError>(width <= 16, "the images have {} values each; expected at most 16", width);
  for (std::size_t c = 0; c < step; ++c) {
    double mean = 0;
    double squares = 0;
    double count = 0;
    for (std::size_t i = c; i < values.size(); i += step) {
      ++count;
      const double change = values[i] - mean;
      mean += change / count;
      squares += change * (values[i] - mean);
    }
    const double spread = squares > 0 ? std::sqrt(squares / count) : 1;
    layer.mean.push_back(-mean / spread);
    layer.std.push_back(1 / spread);
  }
  return layer;
}

}  // namespace

DatasetOptions image_files(const std::filesystem::path& folder, DatasetOptions options) {
  return sized(folder, std::move(options)).first;
}

ImageTask image_task(const Splits& data, const ImageTaskOptions& options) {
  const std::int64_t outputs = outputs_of(data.train);
  const bool classes = !labels_of(data.train).empty();
  const Shape sample = data.train.inputs()[0].record();
  const TaskShares shares{.validation = options.validation,
                          .test = options.test,
                          .stratify = options.stratify,
                          .seed = options.seed};
  ImageTask task{.data = split_for_task(data, shares), .network = image_network(sample, outputs)};
  const bool values = !classes && !is_multi_label(task.data.train);
  if (values) task.network.add(scaled_outputs(values_of(task.data.train), outputs));
  task.training = image_training(sample, task.data.train.size());
  if (classes) task.training.loss_options.label_smoothing = kClassSmoothing;
  if (values || !may_be_mirrored(task.data.train.classes())) task.training.augment.flip = 0;
  if (values) task.training.augment.rotate = 0;  // an angle changes with the image
  task.training.seed = options.seed;
  task.training.streamed = data.train.inputs()[0].source != nullptr;
  const std::string what = classes  ? fmt::format("one of {} classes", outputs)
                           : values ? counted(outputs, "value")
                                    : counted(outputs, "label");
  add_task_notes(task.notes, task.data, shares,
                 fmt::format("{} from images of {} x {} pixels in {}", what, sample[0], sample[1],
                             sample[2] == 1 ? "grey" : "colour"),
                 "images");
  return task;
}

ImageTask image_task(const std::filesystem::path& folder, const ImageTaskOptions& options) {
  DatasetOptions files = options.files;
  files.seed = options.seed;
  std::string note;
  std::tie(files, note) = sized(folder, std::move(files));
  const Splits data = load_dataset(folder, files);
  ImageTask task = image_task(data, options);
  std::vector<std::string> notes = bad_files_notes(data);
  notes.insert(notes.end(), data.train.info().notes.begin(), data.train.info().notes.end());
  if (!note.empty()) notes.push_back(note);
  task.notes.insert(task.notes.begin(), notes.begin(), notes.end());
  return task;
}

}  // namespace linnet
