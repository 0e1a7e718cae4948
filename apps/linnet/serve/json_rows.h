// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "serve/json_sections.h"

namespace linnet::command {

/// Reads "rows": an array of objects of columns, as the text of a table with a header. Values of
/// columns that the model does not know are passed over.
class JsonRows final : public JsonSection {
 public:
  /// `most`: rows.
  JsonRows(std::vector<std::string> columns, std::size_t most);

  void value(const JsonEvent& event) override;
  void key(std::string_view name, int depth) override;
  void close(int depth) override;

  std::size_t rows() const { return rows_; }
  std::string take() { return std::move(text_); }

 private:
  void add_row();

  std::vector<std::string> columns_;
  std::unordered_map<std::string_view, std::size_t> places_;  // of columns_
  std::size_t most_;
  std::size_t rows_ = 0;
  std::string text_;
  std::vector<std::optional<std::string>> fields_;  // of the row, as they stand in the text
  std::vector<std::string> others_;  // names in the row that are no columns, for messages
  std::optional<std::size_t> current_;
};

}  // namespace linnet::command
