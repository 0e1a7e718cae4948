// SPDX-License-Identifier: Apache-2.0
#include "datasets/save_dataset.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/folder.h"
#include "data/targets.h"

namespace linnet {

void save_class_names(const Dataset& data, const StagedFolder& folder) {
  if (data.classes().empty()) return;
  std::string content;
  std::set<std::string> seen;
  for (const std::string& name : data.classes()) {
    // read_names() drops spaces at the ends.
    const bool holds = !name.empty() && name.find_first_of("\r\n") == std::string::npos &&
                       name.find_first_of(" \t") != 0 && !name.ends_with(' ') &&
                       !name.ends_with('\t');
    require(holds, "classes.txt cannot hold the class name '{}' of '{}'", name, data.info().name);
    require(seen.insert(name).second, "two classes of '{}' are called '{}'", data.info().name,
            name);
    content += name + '\n';
  }
  folder.write("classes.txt", content);
}

namespace {

/// A format names classes by their numbers where nobody did.
void number_classes(Splits& splits) {
  const std::span<const std::int32_t> train = labels_of(splits.train);
  const std::span<const std::int32_t> test = labels_of(splits.test);
  for (const std::span<const std::int32_t> labels : {train, test}) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      require(labels[i] >= 0 && labels[i] < kMostLabels,
              "label {} of sample {} in '{}' is outside [0, {})", labels[i], i,
              splits.train.info().name, kMostLabels);
    }
  }
  const auto names = numbered_names(std::max(classes_of(train), classes_of(test)));
  splits.train.set_classes(names);
  splits.test.set_classes(names);
}

void check_columns(const Dataset& data) {
  const std::string& name = data.info().name;
  require(data.inputs().size() <= 1 && data.targets().size() <= 1,
          "'{}' has several inputs or targets, which no format can hold", name);
  if (data.size() == 0) return;
  require(data.inputs().size() == 1 && data.targets().size() == 1,
          "'{}' has no {}, which every format needs", name,
          data.inputs().empty() ? "samples" : "targets");
  require(data.inputs()[0].source == nullptr && data.targets()[0].source == nullptr,
          "'{}' is read from files batch by batch; load it into memory to write it", name);
  require(data.weights().elements() == 0 && data.folds().elements() == 0 &&
              !data.inputs()[0].has_lengths() && !data.targets()[0].has_lengths(),
          "'{}' has weights, folds or lengths, which no format can hold", name);
}

/// The test set's records are written as the training set's.
void check_parts(const Splits& splits) {
  if (splits.test.size() == 0) return;
  const std::string& name = splits.train.info().name;
  require(splits.test.classes() == splits.train.classes(),
          "the sets of '{}' have different classes", name);
  for (const auto& [train, test] :
       {std::pair(&splits.train.inputs()[0], &splits.test.inputs()[0]),
        std::pair(&splits.train.targets()[0], &splits.test.targets()[0])}) {
    require(train->dtype() == test->dtype() && train->record() == test->record(),
            "the column '{}' of '{}' is {} {} for training but {} {} for testing", train->name,
            name, to_string(train->dtype()), to_string(train->record()), to_string(test->dtype()),
            to_string(test->record()));
  }
}

}  // namespace

void save_dataset(const Splits& given, const std::filesystem::path& folder, SaveFormat format,
                  const SaveOptions& options) {
  for (const Dataset* part : {&given.train, &given.test}) check_columns(*part);
  require(given.train.size() > 0, "'{}' has no training samples to write", given.train.info().name);
  Splits splits = given;
  if (splits.train.classes().empty() && splits.test.classes().empty()) number_classes(splits);
  for (const Dataset* part : {&splits.train, &splits.test}) part->check_labels();
  check_parts(splits);
  StagedFolder staged(folder);
  switch (format) {
    case SaveFormat::idx: save_idx(splits, staged, options); break;
    case SaveFormat::cifar: save_cifar(splits, staged, options); break;
    case SaveFormat::images: save_images(splits, staged, options); break;
    case SaveFormat::npy: save_npy(splits, staged, options); break;
  }
  staged.commit();
}

}  // namespace linnet
