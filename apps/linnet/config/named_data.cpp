// SPDX-License-Identifier: Apache-2.0
#include "config/named_data.h"

#include <fmt/format.h>
#include <linnet/error.h>

#include <cstdlib>
#include <system_error>
#include <vector>

#include "base/join.h"
#include "data/open_images.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefault = "fashion-mnist";

/// Returns an environment variable; "" where it is not set.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
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
  std::vector<std::string> notes = bad_files_notes(data.splits);
  const std::vector<std::string>& more = data.splits.train.info().notes;
  notes.insert(notes.end(), more.begin(), more.end());
  data.note = join(notes, "; ");
  return data;
}

LoadedData load_data(const std::string& name, std::uint64_t seed) {
  return load_data(name, DatasetOptions{.seed = seed});
}

}  // namespace linnet::command
