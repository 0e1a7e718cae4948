// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace linnet {

/// Returns whether a name ends like an image's: .png, .jpg, .jpeg or .bmp, in small or capital
/// letters.
bool is_image_name(const std::filesystem::path& path);

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
  std::vector<std::string> notes;  ///< images that are left out
};

/// Images by class: root/class/*.{png,jpg,jpeg,bmp}, in a folder train/ beside test/ and val/ (also
/// valid/ or validation/; the test set where there is no test/), or straight under the root, which
/// is then all training set. Classes are the folders of the training set in order of their names,
/// or those that root/classes.txt names (one a line, in its order; a class may then be without a
/// folder); other files are passed over, of other images and of folders of images a note is made.
/// Opens no image. Throws Error for a class folder without images, a test class unknown to
/// training, and a folder that classes.txt does not name.
ImageIndex index_image_folders(const std::filesystem::path& root);

}  // namespace linnet
