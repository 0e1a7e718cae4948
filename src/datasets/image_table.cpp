// SPDX-License-Identifier: Apache-2.0
#include "datasets/image_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "base/counted.h"
#include "base/decimal.h"
#include "base/folder.h"
#include "base/utf8.h"
#include "datasets/image_folder.h"
#include "datasets/texts.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 3;
constexpr std::size_t kNamed = 3;         // missing files that a message names
constexpr std::size_t kMostClasses = 20;  // so many different whole numbers are classes

constexpr std::array<std::string_view, 11> kFileColumns{"file",  "file_name",  "filename",
                                                        "image", "image_name", "image_path",
                                                        "path",  "img",        "image_id",
                                                        "id",    "name"};

/// Where each name of an image leads; an empty path: to several.
using Names = std::map<std::string, fs::path>;

void add_name(const std::string& name, const fs::path& path, Names& names) {
  const auto [found, added] = names.emplace(name, path);
  if (!added && found->second != path) found->second.clear();
}

void find_images(const fs::path& root, const fs::path& folder, int depth, Names& names) {
  const Listing listing = list_folder(folder);
  for (const fs::path& path : listing.files) {
    if (!is_image_name(path)) continue;
    add_name(path.lexically_relative(root).generic_string(), path, names);
    add_name(path.filename().string(), path, names);
    add_name(path.stem().string(), path, names);
  }
  for (const fs::path& inner : listing.folders) {
    if (depth < kDeepest) find_images(root, inner, depth + 1, names);
  }
}

std::optional<std::size_t> file_column(const std::vector<std::string>& columns) {
  for (const std::string_view name : kFileColumns) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (lower_ascii(columns[c]) == name) return c;
    }
  }
  return std::nullopt;
}

bool holds_images(const fs::path& folder) {
  return std::ranges::any_of(list_folder(folder).files, is_image_name);
}

std::optional<fs::path> find_table(const fs::path& folder) {
  const Listing listing = list_folder(folder);
  const auto inner = std::ranges::count_if(listing.folders, holds_images);
  if (inner == 0 && std::ranges::none_of(listing.files, is_image_name)) return std::nullopt;
  const auto names_images = [](const fs::path& path) { return file_column(csv_columns(path)); };
  for (const std::string_view name : {"labels.csv", "metadata.csv", "train.csv"}) {
    // Without classes, the table is meant; reading it says what it lacks.
    const bool meant = inner <= 1 && name == "labels.csv";
    if (is_file(folder / name) && (meant || names_images(folder / name))) return folder / name;
  }
  std::optional<fs::path> found;
  for (const fs::path& path : listing.files) {
    if (lower_ascii(path.extension().string()) != ".csv") continue;
    if (found || inner > 1) return std::nullopt;
    found = path;
  }
  return found && names_images(*found) ? found : std::nullopt;
}

std::optional<float> number_of(const std::string& text) {
  float value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = read_decimal(text.data(), end, value);
  if (error != std::errc{} || stopped != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// A table's columns and rows that are learned from.
struct Chosen {
  const CsvTable& csv;
  const fs::path& path;
  std::vector<std::size_t> columns = {};
  std::vector<std::size_t> rows = {};

  const std::string& field(std::size_t row, std::size_t column) const {
    return csv.rows[row][column];
  }
  bool all(bool (*holds)(const std::string& field)) const {
    return std::ranges::all_of(rows, [&](std::size_t row) {
      return std::ranges::all_of(columns,
                                 [&](std::size_t column) { return holds(field(row, column)); });
    });
  }
};

std::vector<std::size_t> target_columns(const CsvTable& csv, std::size_t file,
                                        const std::vector<std::string>& targets,
                                        const fs::path& path) {
  std::vector<std::size_t> columns;
  for (const std::string& target : targets) {
    const std::optional<std::size_t> found = csv.find(target);
    require<DataError>(found.has_value(), "'{}' has no column '{}'; its columns are {}",
                       path.string(), target, fmt::join(csv.columns, ", "));
    columns.push_back(*found);
  }
  for (std::size_t c = 0; c < csv.columns.size() && targets.empty(); ++c) {
    const std::string& name = csv.columns[c];
    if (c != file && name != "split" && !name.empty()) columns.push_back(c);
  }
  require<DataError>(!columns.empty(), "'{}' has no column of targets beside '{}'", path.string(),
                     csv.columns[file]);
  for (const std::size_t c : columns) {
    require<DataError>(
        is_utf8(csv.columns[c]),
        "column {} of '{}' is called '{}', which is not UTF-8; convert the file to UTF-8", c + 1,
        path.string(), escaped(csv.columns[c]));
    require<DataError>(std::ranges::count(csv.columns, csv.columns[c]) == 1,
                       "'{}' has two columns '{}'", path.string(), csv.columns[c]);
  }
  return columns;
}

bool makes_classes(const Chosen& chosen) {
  if (chosen.columns.size() > 1) return false;
  if (!chosen.all([](const std::string& field) { return number_of(field).has_value(); })) {
    return true;
  }
  std::set<float> different;
  for (const std::size_t row : chosen.rows) {
    const float value = *number_of(chosen.field(row, chosen.columns[0]));
    if (value != std::floor(value)) return false;
    if (different.insert(value).second && different.size() > kMostClasses) return false;
  }
  return true;
}

void read_classes(const Chosen& chosen, ImageTable& table) {
  LabelledTexts named;
  for (const std::size_t row : chosen.rows) {
    named.labels.push_back(chosen.field(row, chosen.columns[0]));
    require<DataError>(is_utf8(named.labels.back()),
                       "line {} of '{}' has the label '{}', which is not UTF-8",
                       chosen.csv.lines[row], chosen.path.string(),
                       escaped(named.labels.back().substr(0, 40)));
  }
  table.classes = label_names(named);
  require<DataError>(
      table.classes.size() <= kMostClasses || 2 * table.classes.size() <= named.labels.size(),
      "the column '{}' of '{}' has {} different words in {} rows, which are no classes",
      chosen.csv.columns[chosen.columns[0]], chosen.path.string(), table.classes.size(),
      named.labels.size());
  for (const std::string& label : named.labels) {
    const auto place = std::ranges::find(table.classes, label) - table.classes.begin();
    table.labels.push_back(static_cast<std::int32_t>(place));
  }
}

void read_values(const Chosen& chosen, ImageTable& table) {
  table.width = chosen.columns.size();
  for (const std::size_t c : chosen.columns) table.classes.push_back(chosen.csv.columns[c]);
  for (const std::size_t row : chosen.rows) {
    for (const std::size_t c : chosen.columns) {
      const std::optional<float> value = number_of(chosen.field(row, c));
      require<DataError>(
          value.has_value(),
          "line {} of '{}' has '{}' in the column '{}'; of several columns to learn each has to "
          "hold numbers: name those to learn with --target",
          chosen.csv.lines[row], chosen.path.string(), escaped(chosen.field(row, c).substr(0, 40)),
          chosen.csv.columns[c]);
      table.values.push_back(*value);
    }
  }
}

}  // namespace

TablePart table_part_of(const std::string& name, std::size_t line, const fs::path& path) {
  if (name == "train") return TablePart::train;
  if (name == "valid" || name == "val" || name == "validation") return TablePart::validation;
  require<DataError>(name == "test",
                     "line {} of '{}' has the split '{}'; expected train, valid or test", line,
                     path.string(), name);
  return TablePart::test;
}

std::vector<fs::path> locate_images(const fs::path& folder, const fs::path& table,
                                    const std::vector<std::string>& names) {
  Names found;
  find_images(folder, folder, 0, found);
  std::vector<fs::path> paths;
  std::vector<std::string> missing;
  std::size_t count = 0;
  for (const std::string& name : names) {
    std::string path = name;
    std::ranges::replace(path, '\\', '/');
    const auto image = found.find(fs::path(path).lexically_normal().generic_string());
    if (image == found.end()) {
      if (++count <= kNamed) missing.push_back(escaped(name.substr(0, 80)));
      continue;
    }
    require<DataError>(!image->second.empty(),
                       "'{}' names the image '{}', but several in its folder are called so: name "
                       "them by their paths in it",
                       table.string(), name);
    paths.push_back(image->second);
  }
  require<DataError>(count == 0,
                     "{} of the {} images that '{}' names are missing in its folder: {}{}", count,
                     names.size(), table.string(), fmt::join(missing, ", "),
                     count > kNamed ? ", ..." : "");
  return paths;
}

bool holds_image_table(const fs::path& folder) { return find_table(folder).has_value(); }

ImageTable read_image_table(const fs::path& folder, const std::vector<std::string>& targets) {
  const std::optional<fs::path> path = find_table(folder);
  require<DataError>(path.has_value(), "'{}' holds no table of images", folder.string());
  const CsvTable csv = read_csv(*path);
  const std::optional<std::size_t> named = file_column(csv.columns);
  require<DataError>(named.has_value(),
                     "'{}' has no column of the images' names, such as 'file'; its columns are {}",
                     path->string(), fmt::join(csv.columns, ", "));
  const std::size_t file = *named;
  const std::optional<std::size_t> split = csv.find("split");
  ImageTable table{.table = *path};
  Chosen chosen{csv, *path, target_columns(csv, file, targets, *path)};
  std::vector<std::string> names;
  for (std::size_t row = 0; row < csv.rows.size(); ++row) {
    const bool lacks = std::ranges::any_of(chosen.columns, [&](std::size_t column) {
      return csv.rows[row][column].empty();
    });
    if (lacks) continue;
    chosen.rows.push_back(row);
    names.push_back(csv.rows[row][file]);
  }
  require<DataError>(!names.empty(), "'{}' names no images", path->string());
  if (const std::size_t left_out = csv.rows.size() - names.size(); left_out > 0) {
    table.notes.push_back(fmt::format("{} of '{}' {} left out: a target is empty",
                                      counted(left_out, "row"), path->string(),
                                      left_out == 1 ? "is" : "are"));
  }
  const std::vector<fs::path> paths = locate_images(folder, *path, names);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::size_t row = chosen.rows[i];
    table.images.push_back(
        {paths[i],
         split ? table_part_of(csv.rows[row][*split], csv.lines[row], *path) : TablePart::train});
  }
  if (makes_classes(chosen)) {
    read_classes(chosen, table);
  } else {
    read_values(chosen, table);
  }
  return table;
}

}  // namespace linnet
