// SPDX-License-Identifier: Apache-2.0
#include "datasets/image_folder.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/folder.h"
#include "base/join.h"
#include "base/utf8.h"
#include "datasets/validation_names.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

std::string ending_of(const fs::path& path) {
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

bool holds_images(const fs::path& folder) {
  return std::ranges::any_of(list_folder(folder).files, is_image_name);
}

bool holds_classes(const fs::path& tree) {
  return std::ranges::any_of(list_folder(tree).folders, holds_images);
}

/// The trees of a root. A class may be called "train": then it holds images, not classes.
struct Trees {
  fs::path train;
  std::optional<fs::path> validation = {};
  std::optional<fs::path> test = {};
  std::vector<fs::path> left_out = {};  ///< test and validation sets without classes
};

Trees find_trees(const fs::path& root) {
  std::error_code error;
  const fs::path train = root / "train";
  if (!fs::is_directory(train, error) || !holds_classes(train)) return {.train = root};
  Trees trees{.train = train};
  // Images without classes, to be predicted, measure nothing.
  const auto labelled = [&](std::string_view name) {
    const fs::path tree = root / name;
    if (!fs::is_directory(tree, error)) return false;
    const bool classes = holds_classes(tree);
    if (!classes) trees.left_out.push_back(tree);
    return classes;
  };
  if (labelled("test")) trees.test = root / "test";
  std::optional<fs::path>& held_out = trees.test ? trees.validation : trees.test;
  for (const std::string_view name : kValidationNames) {
    if (!held_out && labelled(name)) held_out = root / name;
  }
  return trees;
}

std::vector<std::string> class_names(const fs::path& root, const std::vector<fs::path>& folders) {
  std::vector<std::string> found;
  for (const fs::path& folder : folders) {
    found.push_back(folder.filename().string());
    require<DataError>(
        is_utf8(found.back()),
        "the name of the class folder '{}' is not UTF-8, which a model file needs; rename it",
        escaped(folder.string()));
  }
  const fs::path list = root / "classes.txt";
  if (!is_file(list)) return found;
  std::vector<std::string> names = read_class_names(list);
  for (const std::string& name : found) {
    require<DataError>(std::find(names.begin(), names.end(), name) != names.end(),
                       "'{}' does not name the class folder '{}'", list.string(), name);
  }
  return names;
}

/// What lies in class folders and is not read.
struct LeftOut {
  std::int64_t files = 0;
  std::set<std::string> endings;
  std::vector<fs::path> folders;
};

void add_class(const fs::path& folder, std::int32_t label, std::vector<ImageFile>& files,
               LeftOut& left_out) {
  const std::size_t before = files.size();
  const Listing listing = list_folder(folder);
  for (const fs::path& path : listing.files) {
    if (is_image_name(path)) {
      files.push_back({path, label});
    } else if (is_unread_image_name(path)) {
      ++left_out.files;
      left_out.endings.insert(ending_of(path));
    }
  }
  require<DataError>(files.size() > before,
                     "the class folder '{}' holds no images (*.png, *.jpg, *.bmp, *.webp, *.tif)",
                     folder.string());
  std::ranges::copy_if(listing.folders, std::back_inserter(left_out.folders),
                       [](const fs::path& inner) { return holds_images(inner); });
}

std::vector<std::string> notes_on(const LeftOut& left_out, const fs::path& root) {
  std::vector<std::string> notes;
  if (left_out.files > 0) {
    notes.push_back(
        fmt::format("{} of '{}' {} left out ({}): only PNG, JPEG, BMP, WebP and TIFF are read",
                    counted(left_out.files, "image"), root.string(),
                    left_out.files == 1 ? "is" : "are", join(left_out.endings, ", ")));
  }
  if (!left_out.folders.empty()) {
    const std::size_t count = left_out.folders.size();
    notes.push_back(
        fmt::format("the images in '{}'{} are left out: only those straight in a class "
                    "folder are read",
                    left_out.folders[0].string(),
                    count > 1 ? fmt::format(" and {} more folders", count - 1) : ""));
  }
  return notes;
}

/// The folders in the order of their classes.
void add_classes(const std::vector<fs::path>& folders, const std::vector<std::string>& names,
                 std::vector<ImageFile>& files, LeftOut& left_out) {
  for (std::size_t c = 0; c < names.size(); ++c) {
    const auto folder = std::find_if(folders.begin(), folders.end(), [&](const fs::path& path) {
      return path.filename().string() == names[c];
    });
    if (folder != folders.end()) {
      add_class(*folder, static_cast<std::int32_t>(c), files, left_out);
    }
  }
}

/// Adds the images of a tree whose classes are those of the training set.
void add_held_out(const fs::path& tree, const fs::path& train,
                  const std::vector<std::string>& names, std::vector<ImageFile>& files,
                  LeftOut& left_out) {
  std::vector<fs::path> folders = list_folder(tree).folders;
  std::erase_if(folders, [](const fs::path& folder) { return !holds_images(folder); });
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename().string();
    require<DataError>(std::ranges::find(names, name) != names.end(),
                       "the class '{}' of '{}' is not one of those of '{}'", name, tree.string(),
                       train.string());
  }
  add_classes(folders, names, files, left_out);
}

}  // namespace

bool is_image_name(const fs::path& path) {
  constexpr std::array<std::string_view, 8> kEndings{".png", ".jpg",  ".jpeg", ".jfif",
                                                     ".bmp", ".webp", ".tif",  ".tiff"};
  return std::ranges::find(kEndings, ending_of(path)) != kEndings.end();
}

bool is_unread_image_name(const fs::path& path) {
  constexpr std::array<std::string_view, 12> kOthers{".avif", ".gif", ".heic", ".heif",
                                                     ".jfif", ".jp2", ".ppm",  ".svg",
                                                     ".ico",  ".jxl", ".tga",  ".dng"};
  return std::ranges::find(kOthers, ending_of(path)) != kOthers.end();
}

bool holds_image_folders(const fs::path& root) {
  return holds_classes(root) || find_trees(root).train != root;
}

ImageIndex index_image_folders(const fs::path& root) {
  const Trees trees = find_trees(root);
  const std::vector<fs::path> folders = list_folder(trees.train).folders;
  ImageIndex index;
  index.name = folder_name(root);
  index.class_names = class_names(root, folders);
  LeftOut left_out;
  add_classes(folders, index.class_names, index.train, left_out);
  if (trees.validation) {
    add_held_out(*trees.validation, trees.train, index.class_names, index.validation, left_out);
  }
  if (trees.test) add_held_out(*trees.test, trees.train, index.class_names, index.test, left_out);
  index.notes = notes_on(left_out, root);
  for (const fs::path& tree : trees.left_out) {
    index.notes.push_back(
        fmt::format("'{}' is left out: it holds no class folders with images", tree.string()));
  }
  return index;
}

}  // namespace linnet
