// SPDX-License-Identifier: Apache-2.0
#include "data/image_folder.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "data/folder.h"
#include "data/image.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

bool is_image(const fs::path& path) {
  constexpr std::array<std::string_view, 4> kEndings{".png", ".jpg", ".jpeg", ".bmp"};
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

bool holds_classes(const fs::path& tree) {
  for (const fs::path& folder : list_folder(tree).folders) {
    const Listing listing = list_folder(folder);
    if (std::any_of(listing.files.begin(), listing.files.end(), is_image)) return true;
  }
  return false;
}

/// The trees of a root. A class may be called "train": then it holds pictures, not classes.
struct Trees {
  fs::path train;
  std::optional<fs::path> test;
};

Trees find_trees(const fs::path& root) {
  std::error_code error;
  const fs::path train = root / "train";
  if (!fs::is_directory(train, error) || !holds_classes(train)) return {root, std::nullopt};
  for (const std::string_view name : {"test", "val"}) {
    const fs::path test = root / name;
    if (fs::is_directory(test, error)) return {train, test};
  }
  return {train, std::nullopt};
}

/// Grey pictures written three times; pixels are (..., 1) and become (..., 3).
std::vector<std::uint8_t> as_rgb(const std::vector<std::uint8_t>& grey) {
  std::vector<std::uint8_t> rgb;
  rgb.reserve(grey.size() * 3);
  for (const std::uint8_t pixel : grey) rgb.insert(rgb.end(), 3, pixel);
  return rgb;
}

/// Gathers pictures of one size; both parts of a pair share one, so that they agree.
class Collector {
 public:
  void add(const fs::path& path, std::int32_t label, Dataset& data) {
    Image image = decode_image(read_file(path), path);
    if (first_.empty()) {
      first_ = path;
      height_ = image.height;
      width_ = image.width;
    }
    require(image.height == height_ && image.width == width_,
            "all images must have one size, but '{}' is {} x {} and '{}' is {} x {} "
            "(height x width)",
            first_.string(), height_, width_, path.string(), image.height, image.width);
    // The first colour picture turns all grey ones so far into colour.
    if (image.channels > data.sample_shape[-1]) data.bytes = as_rgb(data.bytes);
    if (image.channels < data.sample_shape[-1]) image.pixels = as_rgb(image.pixels);
    data.sample_shape = {height_, width_, std::max(image.channels, data.sample_shape[-1])};
    data.bytes.insert(data.bytes.end(), image.pixels.begin(), image.pixels.end());
    data.labels.push_back(label);
  }

 private:
  fs::path first_;
  std::int64_t height_ = 0;
  std::int64_t width_ = 0;
};

void add_class(const fs::path& folder, std::int32_t label, Collector& collector, Dataset& data) {
  const std::size_t before = data.labels.size();
  for (const fs::path& path : list_folder(folder).files) {
    if (is_image(path)) collector.add(path, label, data);
  }
  require(data.labels.size() > before,
          "the class folder '{}' holds no images (*.png, *.jpg, *.jpeg, *.bmp)", folder.string());
}

}  // namespace

bool holds_image_folders(const fs::path& root) {
  return holds_classes(root) || find_trees(root).train != root;
}

DatasetPair load_image_folders(const fs::path& root) {
  const Trees trees = find_trees(root);
  const std::vector<fs::path> folders = list_folder(trees.train).folders;
  DatasetPair pair;
  for (Dataset* part : {&pair.train, &pair.test}) {
    part->name = folder_name(root);
    part->sample_shape = {0, 0, 1};
    for (const fs::path& folder : folders) part->class_names.push_back(folder.filename().string());
  }
  Collector collector;
  for (std::size_t c = 0; c < folders.size(); ++c) {
    add_class(folders[c], static_cast<std::int32_t>(c), collector, pair.train);
  }
  if (trees.test) {
    const std::vector<std::string>& names = pair.train.class_names;
    for (const fs::path& folder : list_folder(*trees.test).folders) {
      const auto found = std::find(names.begin(), names.end(), folder.filename().string());
      require(found != names.end(), "the class '{}' of '{}' is not among those of '{}'",
              folder.filename().string(), trees.test->string(), trees.train.string());
      add_class(folder, static_cast<std::int32_t>(found - names.begin()), collector, pair.test);
    }
    require(pair.test.size() > 0, "'{}' holds no class folders", trees.test->string());
  }
  const std::int64_t channels = std::max(pair.train.sample_shape[-1], pair.test.sample_shape[-1]);
  for (Dataset* part : {&pair.train, &pair.test}) {
    if (part->sample_shape[-1] < channels) part->bytes = as_rgb(part->bytes);
    part->sample_shape = {pair.train.sample_shape[0], pair.train.sample_shape[1], channels};
    part->validate();
  }
  return pair;
}

}  // namespace linnet
