// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>
#include <linnet/samples.h>

#include <cstdint>
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
  /// Keeps references to both; of the options the vocabulary, the column and the sheet.
  TextCollector(const Model& model, const ReadOptions& options)
      : model_(model),
        vocabulary_(options.vocabulary),
        column_(options.text_column),
        sheet_(options.sheet),
        list_(model.network().input_shape()) {}

  void add(const std::filesystem::path& path);
  /// Adds a text that is its own name.
  void add_literal(const std::string& text);
  Samples finish() const;

 private:
  void add_folder(const std::filesystem::path& folder);
  /// As in the tables of a data set: the text stands after the last tab of a line.
  void add_table(const std::filesystem::path& path, std::string_view text);
  void add_column(const std::filesystem::path& path);
  void add_text(std::string_view text, std::string name);
  void add_npy(const std::filesystem::path& path);

  const Model& model_;
  const std::vector<std::string>& vocabulary_;
  const std::string& column_;
  const std::string& sheet_;
  std::vector<std::string> notes_;
  std::int64_t texts_ = 0;
  std::int64_t unknown_ = 0;  ///< texts of mostly unknown words
  std::string first_unknown_;
  std::optional<Vocabulary> words_;
  SampleList list_;
};

}  // namespace linnet
