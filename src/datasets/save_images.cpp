// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "data/targets.h"
#include "datasets/save_dataset.h"
#include "formats/image.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

/// A folder of one name, that is listed again by list_folder().
void check_folder_name(const std::string& name, std::string_view data) {
  const bool good = !name.empty() && name.front() != '.' && name.size() <= 255 &&
                    name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
  require(good, "the class '{}' of '{}' cannot be the name of a folder", name, data);
}

Image sample_image(const Tensor& images, std::int64_t index) {
  const Shape& shape = images.shape();  // (N, height, width, channels)
  const Tensor image = images.rows(index, index + 1);
  const std::span<const std::uint8_t> pixels = image.as<std::uint8_t>();
  return {shape[1], shape[2], shape[3], {pixels.begin(), pixels.end()}};
}

}  // namespace

void save_images(const Splits& splits, const StagedFolder& folder, const SaveOptions& options) {
  const Dataset& train = splits.train;
  const std::string& data_name = train.info().name;
  const DType dtype = train.inputs()[0].dtype();
  const Shape record = train.inputs()[0].record();
  require(dtype == DType::u8 && record.rank() == 3 && (record[2] == 1 || record[2] == 3),
          "images are u8 of (height, width, 1 or 3); the samples of '{}' are {} {}", data_name,
          to_string(dtype), to_string(record));
  require(!labels_of(train).empty(),
          "the format images needs one label for each image; '{}' has values", data_name);
  for (const std::string& name : train.classes()) check_folder_name(name, data_name);
  const bool png = options.image_format == ImageFormat::png;
  const std::int64_t samples = train.size() + splits.test.size();
  const std::size_t digits = std::to_string(std::max(train.size(), splits.test.size()) - 1).size();
  std::int64_t done = 0;
  for (const auto& [part, name] :
       {std::pair(&splits.train, "train"), std::pair(&splits.test, "test")}) {
    std::set<std::int32_t> made;
    for (std::int64_t i = 0; i < part->size(); ++i) {
      const std::int32_t label = labels_of(*part)[static_cast<std::size_t>(i)];
      const fs::path where = fs::path(name) / part->classes()[static_cast<std::size_t>(label)];
      if (made.insert(label).second) folder.make_folder(where);
      const Image image = sample_image(part->inputs()[0].data, i);
      folder.write(where / fmt::format("{:0{}}.{}", i, digits, png ? "png" : "bmp"),
                   png ? encode_png(image) : encode_bmp(image));
      if (options.progress) options.progress(++done, samples);
    }
  }
  save_class_names(train, folder);
}

}  // namespace linnet
