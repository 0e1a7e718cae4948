// SPDX-License-Identifier: Apache-2.0
#include "config/named_data.h"

#include <fmt/format.h>
#include <linnet/error.h>

#include <cstdlib>
#include <sstream>
#include <system_error>
#include <vector>

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefault = "fashion-mnist";

/// Returns an environment variable; "" where it is not set.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Why some images are missing; empty where none is.
std::string bad_files_note(const Splits& splits) {
  std::size_t count = 0;
  const std::string* first = nullptr;
  for (const Dataset* data : {&splits.train, &splits.validation, &splits.test}) {
    const std::vector<std::string>& bad = data->info().bad_files;
    if (first == nullptr && !bad.empty()) first = &bad[0];
    count += bad.size();
  }
  if (first == nullptr) return "";
  return fmt::format("{} bad image file{} left out, the first: {}", count,
                     count == 1 ? " was" : "s were", *first);
}

}  // namespace

fs::path cache_folder() {
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty()) {
    return fs::path(cache) / "linnet";
  }
  const std::string home = variable("HOME");
  std::error_code none;  // neither: there is no cache
  const fs::path base = !home.empty() ? fs::path(home) : fs::temp_directory_path(none);
  return base.empty() ? fs::path() : base / ".cache" / "linnet";
}

datasets::Places data_places() {
  datasets::Places places{.cache = cache_folder()};
  if (const std::string folder = variable("LINNET_DATA"); !folder.empty()) {
    places.folders.emplace_back(folder);
  }
  return places;
}

void print_note(const std::string& note) {
  std::istringstream lines(note);
  for (std::string line; std::getline(lines, line);) fmt::print(stderr, "linnet: {}\n", line);
}

LoadedData load_data(const std::string& name, const DatasetOptions& options) {
  LoadedData data;
  try {
    data.splits = datasets::load(name.empty() ? kDefault : name, data_places(), options);
  } catch (const DataError& error) {
    if (!name.empty() && name != kDefault) throw;
    data.splits = datasets::load("digits", data_places(), options);
    data.note =
        fmt::format("Fashion-MNIST is unavailable ({}); training on {} drawn digits instead",
                    error.what(), data.splits.train.size());
    return data;
  }
  data.note = bad_files_note(data.splits);
  for (const std::string& note : data.splits.train.info().notes) {
    data.note += (data.note.empty() ? "" : "\n") + note;
  }
  return data;
}

LoadedData load_data(const std::string& name, std::uint64_t seed) {
  return load_data(name, DatasetOptions{.seed = seed});
}

}  // namespace linnet::command
