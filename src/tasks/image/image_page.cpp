// SPDX-License-Identifier: Apache-2.0
#include "tasks/image/image_page.h"

#include <fmt/format.h>

#include <string>

#include "base/shell_word.h"
#include "datasets/chest_xray.h"
#include "datasets/image_folder.h"
#include "datasets/image_table.h"
#include "datasets/load_dataset.h"
#include "describe/nearest.h"

namespace linnet {
namespace {

constexpr std::size_t kMostNamed = 8;  // of classes

/// What lies there, without the path; of images of one class alone a sentence more.
std::string found_in(const FoundData& found) {
  switch (found.kind) {
    case DataKind::images: {
      const ImageIndex index = index_image_folders(found.folder);
      const std::size_t images = index.train.size() + index.validation.size() + index.test.size();
      const std::string names = some_of(index.class_names, kMostNamed);
      if (index.class_names.size() < 2) {
        return fmt::format(
            "{} images of one class: {}. A training wants a folder for each of at least two "
            "classes.",
            images, names);
      }
      return fmt::format("{} images of {} classes{}: {}.", images, index.class_names.size(),
                         held_out_text(index.validation.size(), index.test.size()), names);
    }
    case DataKind::image_table: {
      const ImageTable table = read_image_table(found.folder, {});
      return fmt::format("{} images, whose {} '{}' says: {}.", table.images.size(),
                         table.width == 0 ? "classes" : "values", table.table.filename().string(),
                         some_of(table.classes, kMostNamed));
    }
    case DataKind::chest_xray: {
      const XrayIndex index = index_chest_xray(found.folder);
      return fmt::format("{} X-rays with {} labels: {}.",
                         index.train.size() + index.validation.size() + index.test.size(),
                         index.labels.size(), some_of(index.labels, kMostNamed));
    }
    default: return fmt::format("images ({} files).", to_string(found.kind));
  }
}

}  // namespace

TaskPage page_of_images(const std::string& path) {
  TaskPage page{.found = fmt::format("{} holds {}", path, found_in(find_dataset(path)))};
  auto& lines = page.commands;
  const std::string word = shell_word(path);
  lines.emplace_back("linnet data info " + word, "counts, sizes, and files that can't be read");
  if (page.found.ends_with("classes.")) return page;
  lines.emplace_back("linnet train " + word, "trains a small residual network on them");
  lines.emplace_back("linnet train " + word + " --from runs/OTHER --replace-head N",
                     "begins with a trained network, for N classes");
  page.add_use("new.jpg", "classes of new images");
  return page;
}

}  // namespace linnet
