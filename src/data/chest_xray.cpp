// SPDX-License-Identifier: Apache-2.0
#include "data/chest_xray.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "data/image_transform.h"

namespace linnet {
namespace {

/// The size that all pictures must have: that of the first, over all parts.
struct FirstImage {
  std::filesystem::path path;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

void add_image(const XrayImage& entry, const XrayOptions& options, FirstImage& first,
               Dataset& data) {
  Image image = with_channels(read_image(entry.path), options.channels);
  if (options.size > 0) image = resize_image(image, options.size, options.size);
  if (first.path.empty()) first = {entry.path, image.height, image.width};
  require(image.height == first.height && image.width == first.width,
          "all images must have one size, but '{}' is {} x {} and '{}' is {} x {} "
          "(height x width); give a size to resize them to",
          first.path.string(), first.height, first.width, entry.path.string(), image.height,
          image.width);
  data.sample_shape = {image.height, image.width, image.channels};
  data.bytes.insert(data.bytes.end(), image.pixels.begin(), image.pixels.end());
  data.values.insert(data.values.end(), entry.findings.begin(), entry.findings.end());
}

}  // namespace

XrayParts load_chest_xray(const std::filesystem::path& folder, const XrayOptions& options) {
  require(options.channels == 1 || options.channels == 3,
          "X-ray images are read with 1 or 3 channels; got {}", options.channels);
  require(options.size >= 0, "the size of X-ray images must not be negative; got {}", options.size);
  const XrayIndex index = index_chest_xray(folder, options);
  XrayParts parts;
  FirstImage first;
  for (const auto& [entries, data] :
       {std::pair(&index.train, &parts.train), std::pair(&index.validation, &parts.validation),
        std::pair(&index.test, &parts.test)}) {
    data->name = "chest-xray";
    data->class_names = index.labels;
    data->value_shape = {static_cast<std::int64_t>(index.labels.size())};
    for (const XrayImage& entry : *entries) add_image(entry, options, first, *data);
  }
  // An empty part has the samples' shape too, so that all three fit one network.
  for (Dataset* data : {&parts.train, &parts.validation, &parts.test}) {
    data->sample_shape = {first.height, first.width, options.channels};
  }
  return parts;
}

}  // namespace linnet
