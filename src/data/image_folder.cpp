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
#include "base/utf8.h"
#include "data/folder.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

bool holds_classes(const fs::path& tree) {
  for (const fs::path& folder : list_folder(tree).folders) {
    const Listing listing = list_folder(folder);
    if (std::any_of(listing.files.begin(), listing.files.end(), is_image_name)) return true;
  }
  return false;
}

/// The trees of a root. A class may be called "train": then it holds images, not classes.
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

void add_class(const fs::path& folder, std::int32_t label, std::vector<ImageFile>& files) {
  const std::size_t before = files.size();
  for (const fs::path& path : list_folder(folder).files) {
    if (is_image_name(path)) files.push_back({path, label});
  }
  require<DataError>(files.size() > before,
                     "the class folder '{}' holds no images (*.png, *.jpg, *.jpeg, *.bmp)",
                     folder.string());
}

/// The folders in the order of their classes.
void add_classes(const std::vector<fs::path>& folders, const std::vector<std::string>& names,
                 std::vector<ImageFile>& files) {
  for (std::size_t c = 0; c < names.size(); ++c) {
    const auto folder = std::find_if(folders.begin(), folders.end(), [&](const fs::path& path) {
      return path.filename().string() == names[c];
    });
    if (folder != folders.end()) add_class(*folder, static_cast<std::int32_t>(c), files);
  }
}

}  // namespace

bool is_image_name(const fs::path& path) {
  constexpr std::array<std::string_view, 4> kEndings{".png", ".jpg", ".jpeg", ".bmp"};
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
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
  add_classes(folders, index.class_names, index.train);
  if (!trees.test) return index;
  const std::vector<fs::path> test_folders = list_folder(*trees.test).folders;
  for (const fs::path& folder : test_folders) {
    const std::string name = folder.filename().string();
    require<DataError>(std::find(index.class_names.begin(), index.class_names.end(), name) !=
                           index.class_names.end(),
                       "the class '{}' of '{}' is not one of those of '{}'", name,
                       trees.test->string(), trees.train.string());
  }
  add_classes(test_folders, index.class_names, index.test);
  require<DataError>(!index.test.empty(), "'{}' holds no class folders", trees.test->string());
  return index;
}

}  // namespace linnet
