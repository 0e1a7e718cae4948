// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "data/image.h"
#include "data/save_dataset.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

/// A folder of one name, that is listed again by list_folder().
void check_folder_name(const std::string& name, std::string_view data) {
  const bool good = !name.empty() && name.front() != '.' && name.size() <= 255 &&
                    name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
  require(good, "the class '{}' of '{}' can't be the name of a folder", name, data);
}

Image sample_image(const Dataset& data, std::int64_t index) {
  Image image{data.sample_shape[0], data.sample_shape[1], data.sample_shape[2], {}};
  const std::uint8_t* first = data.bytes.data() + index * data.sample_shape.elements();
  image.pixels.assign(first, first + data.sample_shape.elements());
  return image;
}

}  // namespace

void save_images(const DatasetPair& pair, const StagedFolder& folder, const SaveOptions& options) {
  const Dataset& train = pair.train;
  require(train.sample_dtype == DType::u8 && train.sample_shape.rank() == 3 &&
              (train.sample_shape[2] == 1 || train.sample_shape[2] == 3),
          "pictures are u8 of (height, width, 1 or 3); the samples of '{}' are {} {}", train.name,
          to_string(train.sample_dtype), to_string(train.sample_shape));
  require(!train.labels.empty(),
          "a folder a class takes one label a picture; '{}' has values instead", train.name);
  for (const std::string& name : train.class_names) check_folder_name(name, train.name);
  const bool png = options.picture == PictureFormat::png;
  const std::int64_t samples = train.size() + pair.test.size();
  const std::size_t digits = std::to_string(std::max(train.size(), pair.test.size()) - 1).size();
  std::int64_t done = 0;
  for (const auto& [part, name] :
       {std::pair(&pair.train, "train"), std::pair(&pair.test, "test")}) {
    std::set<std::int32_t> made;
    for (std::int64_t i = 0; i < part->size(); ++i) {
      const std::int32_t label = part->labels[static_cast<std::size_t>(i)];
      const fs::path where = fs::path(name) / part->class_names[static_cast<std::size_t>(label)];
      if (made.insert(label).second) folder.make_folder(where);
      const Image image = sample_image(*part, i);
      folder.write(where / fmt::format("{:0{}}.{}", i, digits, png ? "png" : "bmp"),
                   png ? encode_png(image) : encode_bmp(image));
      if (options.progress) options.progress(++done, samples);
    }
  }
  save_class_names(train, folder);
}

}  // namespace linnet
