// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace linnet {

/// Returns whether a name ends like an image's: .png, .jpg, .jpeg, .jfif, .bmp, .webp, .tif
/// or .tiff, in small or capital letters.
bool is_image_name(const std::filesystem::path& path);
/// Returns whether a file is named as an image of a kind that is not read.
bool is_unread_image_name(const std::filesystem::path& path);

/// Returns whether a folder holds folders of images, or a train/ folder that does.
bool holds_image_folders(const std::filesystem::path& root);

struct ImageFile {
  std::filesystem::path path;
  std::int32_t label = 0;
};

struct ImageIndex {
  std::string name;
  std::vector<std::string> class_names;
  std::vector<ImageFile> train;
  std::vector<ImageFile> validation;
  std::vector<ImageFile> test;
  std::vector<std::string> notes;  ///< on what is left out
};

/// Images by class: root/class/*.{png,jpg,bmp,webp,tif}, in a folder train/ beside test/ and val/
/// (also valid/ or validation/; the test set where there is no test/), or straight under the root,
/// which is then all training set. Classes are the folders of the training set in order of their
/// names, or those that root/classes.txt names (one a line, in its order; a class may then be
/// without a folder). Other files are passed over; `notes` name images of other kinds, images in
/// folders within class folders, and a validation folder beside test/ that has no class folders.
/// Opens no image. Throws Error for a class folder without images, a test class unknown to
/// training, and a folder that classes.txt does not name.
ImageIndex index_image_folders(const std::filesystem::path& root);

}  // namespace linnet
