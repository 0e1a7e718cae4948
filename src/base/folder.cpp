// SPDX-License-Identifier: Apache-2.0
#include "base/folder.h"

#include <algorithm>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "base/utf8.h"

namespace linnet {
namespace fs = std::filesystem;

namespace {

/// Hidden files, and what a Mac adds to archives, are nobody's data.
bool is_hidden(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') || name == "__MACOSX";
}

/// Links to folders are not followed: they may lead back.
void add_files_below(const fs::path& folder, std::vector<fs::path>& files) {
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (is_hidden(entry->path())) continue;
    std::error_code ignored;
    if (entry->symlink_status(ignored).type() == fs::file_type::directory) {
      add_files_below(entry->path(), files);
    } else if (!fs::is_directory(entry->path(), ignored)) {
      files.push_back(entry->path());
    }
  }
  require<DataError>(!error, "cannot read '{}': {}", folder.string(), error.message());
}

struct Line {
  std::size_t number;  // from 1
  std::string text;
};

/// Returns the lines that hold anything, without spaces at both ends.
std::vector<Line> read_lines(const fs::path& path) {
  constexpr std::string_view kSpace = " \t\r";
  const std::string content = read_file(path);
  std::vector<Line> lines;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < content.size();) {
    const std::size_t end = std::min(content.find('\n', begin), content.size());
    std::string_view line = std::string_view(content).substr(begin, end - begin);
    line.remove_prefix(std::min(line.find_first_not_of(kSpace), line.size()));
    line = line.substr(0, line.find_last_not_of(kSpace) + 1);
    ++number;
    if (!line.empty()) lines.push_back({number, std::string(line)});
    begin = end + 1;
  }
  return lines;
}

}  // namespace

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  add_files_below(folder, files);
  std::sort(files.begin(), files.end());
  return files;
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  require<DataError>(!error, "cannot read '{}': {}", path.string(), error.message());
  return type == fs::file_type::directory;
}

Listing list_folder(const fs::path& folder) {
  Listing listing;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path& path = entry->path();
    if (is_hidden(path)) continue;
    // A dangling link is listed as a file, so that reading it says what is wrong.
    std::error_code ignored;
    (fs::is_directory(path, ignored) ? listing.folders : listing.files).push_back(path);
  }
  require<DataError>(!error, "cannot read '{}': {}", folder.string(), error.message());
  std::sort(listing.folders.begin(), listing.folders.end());
  std::sort(listing.files.begin(), listing.files.end());
  return listing;
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_directory(path, error);
}

std::string folder_name(const fs::path& folder) {
  std::error_code error;
  fs::path whole = fs::weakly_canonical(folder, error);
  if (error) whole = folder.lexically_normal();
  const fs::path name = whole.has_filename() ? whole.filename() : whole.parent_path().filename();
  return name.empty() ? folder.string() : name.string();
}

std::vector<std::string> read_names(const fs::path& path) {
  std::vector<std::string> names;
  for (Line& line : read_lines(path)) names.push_back(std::move(line.text));
  return names;
}

std::vector<std::string> read_class_names(const fs::path& path) {
  std::vector<std::string> names;
  std::map<std::string, std::size_t> lines;  // of the names so far
  for (Line& line : read_lines(path)) {
    require<DataError>(
        is_utf8(line.text),
        "line {} of '{}' names the class '{}', which is not UTF-8; convert the file to UTF-8",
        line.number, path.string(), escaped(line.text));
    const auto [before, first] = lines.emplace(line.text, line.number);
    require<DataError>(first, "'{}' names the class '{}' twice, in lines {} and {}", path.string(),
                       line.text, before->second, line.number);
    names.push_back(std::move(line.text));
  }
  return names;
}

std::vector<std::string> numbered_names(std::int64_t classes) {
  std::vector<std::string> names;
  for (std::int64_t c = 0; c < classes; ++c) names.push_back(std::to_string(c));
  return names;
}

}  // namespace linnet
