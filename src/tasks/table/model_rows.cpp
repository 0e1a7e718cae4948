// SPDX-License-Identifier: Apache-2.0
#include "tasks/table/model_rows.h"

#include <fmt/format.h>
#include <linnet/table_transform.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "tasks/task.h"

namespace linnet {
namespace {

/// As TableTransform reads labels: a last dot may be more than the model knows.
bool knows(const std::vector<std::string>& classes, std::string_view label) {
  if (std::ranges::count(classes, label) > 0) return true;
  return label.ends_with('.') && std::ranges::count(classes, label.substr(0, label.size() - 1)) > 0;
}

/// Returns the places of the targets; none of a novelty, and where the file lacks one, which the
/// model says itself.
std::vector<std::size_t> targets_in(const Table& table, const TableTransform& transform) {
  std::vector<std::size_t> places;
  if (transform.target_kind() == TableTarget::novelty) return places;
  for (const std::string& target : transform.targets()) {
    const auto column = std::ranges::find(table.columns(), target, &TableColumn::name);
    if (column == table.columns().end()) return {};
    places.push_back(static_cast<std::size_t>(column - table.columns().begin()));
  }
  return places;
}

}  // namespace

ModelRows measurable_rows(const std::filesystem::path& file, const std::string& sheet,
                          const Model& model, bool force) {
  const TableTransform& transform = model.table();
  ModelRows rows;
  Table all = read_sheet(file, transform.reading(), sheet, rows.notes);
  const std::vector<std::size_t> targets = targets_in(all, transform);
  const std::vector<std::string> classes = force ? transform.classes() : std::vector<std::string>();
  std::vector<std::int64_t> kept;
  std::int64_t without = 0;
  std::int64_t unknown = 0;
  for (std::int64_t row = 0; row < all.rows(); ++row) {
    if (std::ranges::any_of(targets, [&](std::size_t at) { return all.missing(row, at); })) {
      ++without;
    } else if (!classes.empty() && !targets.empty() && !knows(classes, all.text(row, targets[0]))) {
      ++unknown;
    } else {
      kept.push_back(row);
    }
  }
  if (without > 0) {
    rows.notes.push_back(fmt::format("{} rows without a target are left out", without));
  }
  if (unknown > 0) {
    rows.notes.push_back(
        fmt::format("{} rows with labels that the model does not know are left out", unknown));
  }
  require<DataError>(!kept.empty(), "'{}' has no row {}", file.string(),
                     unknown > 0 ? "with a label of the model" : "with a target");
  rows.table =
      kept.size() == static_cast<std::size_t>(all.rows()) ? std::move(all) : all.take(kept);
  rows.numbers = std::move(kept);
  for (std::int64_t& number : rows.numbers) ++number;
  return rows;
}

}  // namespace linnet
