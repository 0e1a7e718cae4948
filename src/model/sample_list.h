// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/samples.h>

#include <filesystem>
#include <string>
#include <vector>

namespace linnet {

/// Gathers samples of one shape from many files, and a name for each of them.
class SampleList {
 public:
  explicit SampleList(const Shape& sample) : sample_(sample) {}
  const Shape& sample() const { return sample_; }

  /// One sample, as (1, sample). Throws Error with its name for another shape.
  void add(Tensor sample, std::string name);
  /// All samples of a file, (N, sample), as "file[0]", "file[1]", ... Throws Error naming the file
  /// for another shape.
  void add(const std::filesystem::path& file, Tensor samples);

  /// Returns a data set of one input. Samples keep their type where all have the same, else they
  /// are f32.
  Samples samples(const std::string& input) const;

 private:
  void append(const std::string& source, Tensor samples);

  Shape sample_;
  std::vector<Tensor> pieces_ = {};
  std::vector<std::string> names_ = {};
};

}  // namespace linnet
