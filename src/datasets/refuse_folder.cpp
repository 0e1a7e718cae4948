// SPDX-License-Identifier: Apache-2.0
#include "datasets/refuse_folder.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/counted.h"
#include "base/folder.h"
#include "datasets/image_folder.h"
#include "formats/tar.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

bool is_table_file(const fs::path& path) {
  constexpr std::array<std::string_view, 4> kEndings{".csv", ".tsv", ".tab", ".xlsx"};
  const bool packed = path.extension() == ".gz" || path.extension() == ".xz";
  const std::string ending = (packed ? path.stem() : path.filename()).extension().string();
  return std::ranges::find(kEndings, ending) != kEndings.end();
}

/// Returns a folder of images at least two levels below; empty: there is none.
fs::path deeper_images(const Listing& listing, int levels = 3) {
  for (const fs::path& inner : listing.folders) {
    const Listing below = list_folder(inner);
    for (const fs::path& folder : below.folders) {
      if (std::ranges::any_of(list_folder(folder).files, is_image_name)) return folder;
    }
    const fs::path deeper = levels > 0 ? deeper_images(below, levels - 1) : fs::path();
    if (!deeper.empty()) return deeper;
  }
  return {};
}

/// Returns the image files in a folder and in its folders that are of kinds which nothing reads.
std::vector<fs::path> unread_images(const Listing& listing) {
  std::vector<fs::path> found;
  const auto add = [&](const std::vector<fs::path>& files) {
    std::ranges::copy_if(files, std::back_inserter(found), is_unread_image_name);
  };
  add(listing.files);
  for (const fs::path& inner : listing.folders) add(list_folder(inner).files);
  return found;
}

}  // namespace

void refuse_folder(const fs::path& path) {
  const Listing listing = list_folder(path);
  const auto archive = std::ranges::find_if(listing.files, is_tar_name);
  require<DataError>(archive == listing.files.end(),
                     "'{}' holds no data set but the archive '{}'; unpack it first", path.string(),
                     archive == listing.files.end() ? "" : archive->filename().string());
  const auto images = std::ranges::count_if(listing.files, is_image_name);
  require<DataError>(images == 0,
                     "'{}' holds {} images, but no folder for each class; expected such folders "
                     "or a table labels.csv with the columns file and label",
                     path.string(), images);
  const fs::path deeper = deeper_images(listing);
  require<DataError>(deeper.empty(),
                     "the images of '{}' lie deeper than its class folders, e.g. in '{}'; "
                     "name the folder that holds the class folders, such as '{}', or move the "
                     "images up into them",
                     path.string(), deeper.string(), deeper.parent_path().string());
  const std::vector<fs::path> unread = unread_images(listing);
  require<DataError>(unread.empty(),
                     "'{}' holds {} of kinds that are not read, e.g. '{}'; convert them to PNG or "
                     "JPEG",
                     path.string(), counted(unread.size(), "image"),
                     unread.empty() ? "" : unread[0].string());
  const auto table = std::ranges::find_if(listing.files, is_table_file);
  require<DataError>(table == listing.files.end(),
                     "'{}' is a folder with {}, not a data set; name one of them, e.g. '{}', or "
                     "bring their rows together in one file",
                     path.string(),
                     counted(std::ranges::count_if(listing.files, is_table_file), "table"),
                     table == listing.files.end() ? "" : table->string());
  fail<DataError>(
      "'{}' holds no data set; expected IDX files (train-images-idx3-ubyte, also .gz), CIFAR "
      "batches (data_batch_*.bin or train.bin), arrays (x_train.npy, y_train.npy), texts "
      "(train.tsv, also .gz and .xz, or class/*.txt), chest X-rays (Data_Entry_2017.csv, or "
      "labels.csv beside "
      "images) or folders of images by class (class/*.png, *.jpg, *.bmp, *.webp, *.tif), the "
      "folders also under train/, val/ and test/",
      path.string());
}

}  // namespace linnet
