// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace linnet {

/// Elements looked at one by one; those that are no finite numbers are only counted.
struct ValueRange {
  std::int64_t count = 0;
  std::int64_t not_finite = 0;
  double least = 0;
  double most = 0;
  double mean = 0;
  double std_dev = 0;  ///< of the population
};

/// Describes one part of a data set.
struct PartSurvey {
  std::string name;  ///< "train", "validation" or "test"
  std::int64_t samples = 0;
  /// Samples of each shape; image files alone can have more than one.
  std::map<std::vector<std::int64_t>, std::int64_t> shapes;
  DType dtype = DType::u8;
  std::size_t bytes = 0;  ///< in memory
  /// Samples of each class; for values named by class, those where the value is above 0.5.
  std::vector<std::int64_t> samples_by_class;
  ValueRange samples_range;
  Shape value_shape;  ///< of a regression target
  ValueRange values_range;
};

struct BadFile {
  std::filesystem::path path;
  std::string reason;
};

struct Survey {
  std::string name;
  std::string format;  ///< as to_string(DataKind), or "memory"
  std::vector<std::string> class_names;
  std::vector<PartSurvey> parts;        ///< those that hold samples
  std::vector<BadFile> bad_files;       ///< in the order in which they were met
  std::vector<std::string> notes = {};  ///< on images that are left out
};

/// Told how many files of how many are read; what it throws ends the survey.
using SurveyProgress = std::function<void(std::int64_t done, std::int64_t files)>;

/// Reads everything that lies at `path` and does not stop at a file that can't be used: of images
/// the good ones are described, of arrays nothing, since they belong together. Throws Error where
/// there is no data set, or where what lists the files (a table, a folder of no class) is wrong.
Survey survey_dataset(const std::filesystem::path& path, const SurveyProgress& progress = {});

/// Does the same for a data set in memory.
Survey survey_dataset(const Splits& splits);

}  // namespace linnet
