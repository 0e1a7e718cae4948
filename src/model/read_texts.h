// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/vocabulary.h"
#include "model/sample_list.h"

namespace linnet {

/// Reads the samples of a model that takes ids, as read_samples() says.
class TextCollector {
 public:
  /// Keeps references to both.
  TextCollector(const Model& model, const std::vector<std::string>& vocabulary)
      : model_(model), vocabulary_(vocabulary), list_(model.network().input_shape()) {}

  void add(const std::filesystem::path& path);
  Samples finish() const { return list_.samples(model_.network().input_names()[0]); }

 private:
  void add_folder(const std::filesystem::path& folder);
  /// As in the tables of a data set: the text stands after the last tab of a line.
  void add_table(const std::filesystem::path& path, std::string_view text);
  void add_text(std::string_view text, std::string name);
  void add_npy(const std::filesystem::path& path);

  const Model& model_;
  const std::vector<std::string>& vocabulary_;
  std::optional<Vocabulary> words_;
  SampleList list_;
};

}  // namespace linnet
