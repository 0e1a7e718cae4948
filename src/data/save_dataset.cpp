// SPDX-License-Identifier: Apache-2.0
#include "data/save_dataset.h"

#include <set>
#include <string>

#include "base/check.h"

namespace linnet {

void save_class_names(const Dataset& data, const StagedFolder& folder) {
  if (data.class_names.empty()) return;
  std::string content;
  std::set<std::string> seen;
  for (const std::string& name : data.class_names) {
    // read_names() drops spaces at the ends.
    const bool holds = !name.empty() && name.find_first_of("\r\n") == std::string::npos &&
                       name.find_first_of(" \t") != 0 && !name.ends_with(' ') &&
                       !name.ends_with('\t');
    require(holds, "classes.txt can't hold the class name '{}' of '{}'", name, data.name);
    require(seen.insert(name).second, "two classes of '{}' are called '{}'", data.name, name);
    content += name + '\n';
  }
  folder.write("classes.txt", content);
}

void save_dataset(const DatasetPair& pair, const std::filesystem::path& folder, SaveFormat format,
                  const SaveOptions& options) {
  for (const Dataset* part : {&pair.train, &pair.test}) {
    part->validate();
    require(part->more_inputs.empty() && part->more_targets.empty(),
            "'{}' has several inputs or targets, which no format here holds", part->name);
  }
  require(pair.train.size() > 0, "'{}' has no training samples to write", pair.train.name);
  require(pair.test.size() == 0 || pair.test.class_names == pair.train.class_names,
          "the parts of '{}' have different classes", pair.train.name);
  StagedFolder staged(folder);
  switch (format) {
    case SaveFormat::idx: save_idx(pair, staged, options); break;
    case SaveFormat::cifar: save_cifar(pair, staged, options); break;
    case SaveFormat::images: save_images(pair, staged, options); break;
    case SaveFormat::npy: save_npy(pair, staged, options); break;
  }
  staged.commit();
}

}  // namespace linnet
