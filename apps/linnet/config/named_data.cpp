// SPDX-License-Identifier: Apache-2.0
#include "config/named_data.h"

#include <fmt/format.h>
#include <linnet/error.h>

#include <sstream>
#include <vector>

#include "base/console.h"
#include "base/join.h"
#include "base/user_cache.h"
#include "datasets/open_images.h"
#include "report/print.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefault = "fashion-mnist";

/// Returns an environment variable; "" where it is not set.
std::string variable(const char* name) {
  const char* value = environment(name);
  return value == nullptr ? "" : value;
}

}  // namespace

fs::path cache_folder() { return user_cache(); }

datasets::Places data_places() {
  datasets::Places places{.cache = cache_folder()};
  if (const std::string folder = variable("LINNET_DATA"); !folder.empty()) {
    places.folders.emplace_back(folder);
  }
  return places;
}

void print_notes(const std::string& note) {
  std::istringstream lines(note);
  for (std::string line; std::getline(lines, line);) print_note("{}", line);
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
  data.note = join(notes, "\n");
  return data;
}

LoadedData load_data(const std::string& name, std::uint64_t seed) {
  return load_data(name, DatasetOptions{.seed = seed});
}

}  // namespace linnet::command
