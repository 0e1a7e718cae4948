// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/folder.h"
#include "base/random.h"
#include "base/utf8.h"
#include "datasets/chest_xray.h"
#include "datasets/image_folder.h"
#include "datasets/image_table.h"
#include "formats/csv.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 14> kLabels{
    "Atelectasis", "Cardiomegaly",       "Consolidation", "Edema",        "Effusion",
    "Emphysema",   "Fibrosis",           "Hernia",        "Infiltration", "Mass",
    "Nodule",      "Pleural_Thickening", "Pneumonia",     "Pneumothorax"};
constexpr std::string_view kHealthy = "No Finding";

struct Row {
  XrayImage image;  // its path is the file's name alone
  std::optional<TablePart> part;
};

struct Table {
  std::vector<std::string> labels;
  std::vector<Row> rows;
};

std::optional<fs::path> find_entries(const fs::path& folder) {
  for (const std::string_view name : {"Data_Entry_2017.csv", "Data_Entry_2017_v2020.csv"}) {
    if (is_file(folder / name)) return folder / name;
  }
  return std::nullopt;
}

std::size_t column(const CsvTable& table, std::string_view name, const fs::path& path) {
  const std::optional<std::size_t> found = table.find(name);
  require<DataError>(found.has_value(), "'{}' has no column '{}'; its columns are {}",
                     path.string(), name, fmt::join(table.columns, ", "));
  return *found;
}

std::vector<std::uint8_t> findings_of(std::string_view text, std::size_t line,
                                      const fs::path& path) {
  std::vector<std::uint8_t> findings(kLabels.size(), 0);
  while (true) {
    const std::size_t end = std::min(text.find('|'), text.size());
    const std::string_view name = text.substr(0, end);
    const auto found = std::find(kLabels.begin(), kLabels.end(), name);
    require<DataError>(found != kLabels.end() || name == kHealthy,
                       "line {} of '{}' has the unknown label '{}'; expected {} or {}", line,
                       path.string(), name, fmt::join(kLabels, ", "), kHealthy);
    if (found != kLabels.end()) findings[static_cast<std::size_t>(found - kLabels.begin())] = 1;
    if (end == text.size()) return findings;
    text.remove_prefix(end + 1);
  }
}

Table read_entries(const fs::path& path) {
  const CsvTable csv = read_csv(path);
  const std::size_t file = column(csv, "Image Index", path);
  const std::size_t labels = column(csv, "Finding Labels", path);
  const std::size_t patient = column(csv, "Patient ID", path);
  Table table{{kLabels.begin(), kLabels.end()}, {}};
  for (std::size_t i = 0; i < csv.rows.size(); ++i) {
    const std::vector<std::string>& row = csv.rows[i];
    table.rows.push_back(
        {{row[file], row[patient], findings_of(row[labels], csv.lines[i], path)}, std::nullopt});
  }
  return table;
}

/// The columns of these names are facts about the patient; the labels are all others.
bool is_fact(std::string_view name) {
  constexpr std::array<std::string_view, 6> kFacts{"file", "split", "patient",
                                                   "age",  "sex",   "view"};
  return std::find(kFacts.begin(), kFacts.end(), name) != kFacts.end();
}

Table read_labels(const fs::path& path) {
  const CsvTable csv = read_csv(path);
  const std::size_t file = column(csv, "file", path);
  const std::size_t patient = column(csv, "patient", path);
  const std::optional<std::size_t> split = csv.find("split");
  Table table;
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < csv.columns.size(); ++c) {
    const std::string& name = csv.columns[c];
    if (is_fact(name)) continue;
    require<DataError>(
        is_utf8(name),
        "column {} of '{}' is called '{}', which is not UTF-8; convert the file to UTF-8", c + 1,
        path.string(), escaped(name));
    require<DataError>(std::find(table.labels.begin(), table.labels.end(), name) ==
                           table.labels.end(),
                       "'{}' has two columns '{}'", path.string(), name);
    table.labels.push_back(name);
    columns.push_back(c);
  }
  require<DataError>(!columns.empty(), "'{}' has no column of labels", path.string());
  for (std::size_t i = 0; i < csv.rows.size(); ++i) {
    const std::vector<std::string>& row = csv.rows[i];
    Row entry{{row[file], row[patient], {}}, std::nullopt};
    for (const std::size_t c : columns) {
      require<DataError>(row[c] == "0" || row[c] == "1",
                         "line {} of '{}' has '{}' for {}; expected 0 or 1", csv.lines[i],
                         path.string(), row[c], csv.columns[c]);
      entry.image.findings.push_back(row[c] == "1" ? 1 : 0);
    }
    if (split) entry.part = table_part_of(row[*split], csv.lines[i], path);
    table.rows.push_back(std::move(entry));
  }
  return table;
}

/// Puts whole paths in place of the names.
void locate(const fs::path& folder, const fs::path& csv, Table& table) {
  std::vector<std::string> names;
  for (const Row& row : table.rows) names.push_back(row.image.path.string());
  const std::vector<fs::path> paths = locate_images(folder, csv, names);
  for (std::size_t i = 0; i < paths.size(); ++i) table.rows[i].image.path = paths[i];
}

/// The rows of the official test list get their part; false where there are no lists.
bool apply_lists(const fs::path& folder, Table& table) {
  const fs::path train_list = folder / "train_val_list.txt";
  const fs::path test_list = folder / "test_list.txt";
  if (!is_file(train_list) && !is_file(test_list)) return false;
  const std::vector<std::string> train_names = read_names(train_list);
  const std::vector<std::string> test_names = read_names(test_list);
  const std::set<std::string> train(train_names.begin(), train_names.end());
  const std::set<std::string> test(test_names.begin(), test_names.end());
  for (Row& row : table.rows) {
    const std::string name = row.image.path.filename().string();
    const bool tests = test.contains(name);
    require<DataError>(tests != train.contains(name), "the image '{}' is in {} of '{}' and '{}'",
                       name, tests ? "both" : "neither", train_list.string(), test_list.string());
    if (tests) row.part = TablePart::test;
  }
  return true;
}

/// Rows without a part get one by their patient, at `train` and `validation` of `of` patients.
void split_patients(const XrayOptions& options, std::uint64_t train, std::uint64_t validation,
                    std::uint64_t of, Table& table) {
  // Numbers of different lengths rise as numbers do.
  const auto less = [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  };
  std::map<std::string, TablePart, decltype(less)> parts(less);
  for (const Row& row : table.rows) {
    if (!row.part) parts.emplace(row.image.patient, TablePart::test);
  }
  const std::uint64_t count = parts.size();
  const Permutation permutation(random_key(options.seed, RandomStream::split),
                                std::max<std::uint64_t>(count, 1));
  std::uint64_t index = 0;
  for (auto& [patient, part] : parts) {
    const std::uint64_t rank = options.order == PatientOrder::shuffled ? permutation(index) : index;
    if (rank < count * train / of) {
      part = TablePart::train;
    } else if (rank < count * (train + validation) / of) {
      part = TablePart::validation;
    }
    ++index;
  }
  for (Row& row : table.rows) {
    if (!row.part) row.part = parts.at(row.image.patient);
  }
}

}  // namespace

bool holds_chest_xray(const fs::path& folder) {
  if (find_entries(folder)) return true;
  if (!is_file(folder / "labels.csv")) return false;
  if (std::ranges::count(csv_columns(folder / "labels.csv"), "patient") == 0) return false;
  const Listing listing = list_folder(folder);
  if (std::any_of(listing.files.begin(), listing.files.end(), is_image_name)) return true;
  return std::any_of(listing.folders.begin(), listing.folders.end(), [](const fs::path& inner) {
    return inner.filename().string().starts_with("images");
  });
}

XrayIndex index_chest_xray(const fs::path& folder, const XrayOptions& options) {
  const std::optional<fs::path> entries = find_entries(folder);
  const fs::path csv = entries.value_or(folder / "labels.csv");
  Table table = entries ? read_entries(csv) : read_labels(csv);
  require<DataError>(!table.rows.empty(), "'{}' names no images", csv.string());
  locate(folder, csv, table);
  if (table.rows.front().part) {
    // The table has said it for every row.
  } else if (apply_lists(folder, table)) {
    split_patients(options, 7, 1, 8, table);
  } else {
    split_patients(options, 7, 1, 10, table);
  }
  XrayIndex index;
  index.labels = std::move(table.labels);
  for (Row& row : table.rows) {
    auto& part = *row.part == TablePart::train        ? index.train
                 : *row.part == TablePart::validation ? index.validation
                                                      : index.test;
    part.push_back(std::move(row.image));
  }
  return index;
}

}  // namespace linnet
