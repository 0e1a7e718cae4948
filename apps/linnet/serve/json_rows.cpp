// SPDX-License-Identifier: Apache-2.0
#include "serve/json_rows.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "describe/nearest.h"
#include "report/csv.h"
#include "serve/request.h"

namespace linnet::command {
namespace {

// Names among which a misspelt column is looked for, and their bytes.
constexpr std::size_t kMostOthers = 100;
constexpr std::size_t kMostName = 256;

}  // namespace

JsonRows::JsonRows(std::vector<std::string> columns, std::size_t most)
    : columns_(std::move(columns)), most_(most), fields_(columns_.size()) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    places_.emplace(columns_[i], i);
    text_ += csv_quoted(columns_[i]) + (i + 1 < columns_.size() ? "," : "\n");
  }
}

void JsonRows::value(const JsonEvent& event) {
  if (event.depth == 0) {
    require(event.kind == JsonKind::array, "'rows' must be an array of objects; got {}",
            to_string(event.kind));
  } else if (event.depth == 1) {
    check_samples(++rows_, most_);
    require(event.kind == JsonKind::object, "row {}: expected an object of columns; got {}", rows_,
            to_string(event.kind));
  } else if (event.depth == 2 && current_) {
    require(event.kind != JsonKind::array && event.kind != JsonKind::object,
            "row {}, column '{}': expected a number, a string or null; got an {}", rows_,
            columns_[*current_], to_string(event.kind));
    fields_[*current_] = csv_quoted(std::string(event.text));
  }
}

void JsonRows::key(std::string_view name, int depth) {
  if (depth > 1) return;
  const auto at = places_.find(name);
  current_ = at == places_.end() ? std::nullopt : std::optional(at->second);
  if (!current_) {
    if (others_.size() < kMostOthers && name.size() <= kMostName) others_.emplace_back(name);
    return;
  }
  require(!fields_[*current_], "row {} names the column '{}' twice", rows_, name);
}

void JsonRows::close(int depth) {
  if (depth == 1) add_row();
}

void JsonRows::add_row() {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    require(fields_[i].has_value(), "row {} has no column '{}', from which the model learned{}",
            rows_, columns_[i], did_you_mean(columns_[i], others_));
    text_ += *fields_[i];
    text_ += i + 1 < fields_.size() ? ',' : '\n';
    fields_[i].reset();
  }
  others_.clear();
}

}  // namespace linnet::command
