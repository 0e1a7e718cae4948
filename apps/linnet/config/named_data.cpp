// SPDX-License-Identifier: Apache-2.0
#include "config/named_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <string_view>

#include "base/check.h"
#include "data/load_dataset.h"
#include "data/rosenbrock.h"
#include "data/subsample.h"
#include "describe/nearest.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kDigitsTrain = 20000;
constexpr std::int64_t kDigitsTest = 4000;
constexpr std::int64_t kRosenbrockFeatures = 1000;
constexpr std::int64_t kRosenbrockTrain = 32000;  // four batches of the published size
constexpr std::int64_t kRosenbrockTest = 8000;

LoadedData fashion_mnist(std::uint64_t seed) {
  try {
    return {load_fashion_mnist(cache_folder()), ""};
  } catch (const Error& error) {
    return {make_digits(kDigitsTrain, kDigitsTest, seed),
            fmt::format("Fashion-MNIST is unavailable ({}); training on {} drawn digits instead",
                        error.what(), kDigitsTrain)};
  }
}

/// Data that carries no licence to hand it on or to fetch it: the user has to have it.
struct KeptData {
  std::string_view name;
  std::string_view folder;  // in the cache folder
  std::string_view files;   // what a user puts there
};
constexpr std::string_view kCoarse = "cifar100-coarse";
constexpr std::array<KeptData, 5> kKeptData{
    {{"cifar10", "cifar10", "binary batches"},
     {"cifar100", "cifar100", "binary batches"},
     {kCoarse, "cifar100", "binary batches"},
     {"imdb", "imdb", "reviews (train.tsv and test.tsv, or the folders of aclImdb)"},
     {"chest-xray", "chest-xray", "images and Data_Entry_2017.csv"}}};

const KeptData* kept_data(const std::string& name) {
  const auto found = std::find_if(kKeptData.begin(), kKeptData.end(),
                                  [&](const KeptData& data) { return data.name == name; });
  return found == kKeptData.end() ? nullptr : found;
}

/// A link that leads nowhere, or a path that can't be followed, is said to be so.
bool is_there(const fs::path& path) {
  std::error_code error;
  const bool found = fs::exists(path, error);
  std::error_code none;
  if (!error && !found && fs::is_symlink(path, none)) {
    error = std::make_error_code(std::errc::no_such_file_or_directory);
  }
  require(!error, "cannot read '{}': {}", path.string(), error.message());
  return found;
}

bool is_made(const std::string& name) {
  return name.empty() || name == "fashion-mnist" || name == "digits" || name == "rosenbrock";
}

/// Whole; Rosenbrock's points are drawn as they are asked for, as many as one likes.
LoadedData make_data(const std::string& name, const DatasetOptions& options) {
  const std::uint64_t seed = options.seed;
  if (name == "digits") return {make_digits(kDigitsTrain, kDigitsTest, seed), ""};
  if (name == "rosenbrock") {
    const std::int64_t train = options.train_samples > 0 ? options.train_samples : kRosenbrockTrain;
    const std::int64_t test = options.test ? kRosenbrockTest : 0;
    return {make_rosenbrock(train, test, kRosenbrockFeatures, seed), ""};
  }
  return fashion_mnist(seed);
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

std::optional<DataKind> kind_of(const std::string& name) {
  try {
    const std::optional<fs::path> folder = data_folder(name);
    return folder ? std::optional(find_dataset(*folder).kind) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // load_data() says what is wrong
  }
}

}  // namespace

fs::path cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return fs::path(cache) / "linnet";
  }
  const char* home = std::getenv("HOME");
  std::error_code none;  // neither: there is no cache
  const fs::path base =
      home != nullptr && *home != '\0' ? fs::path(home) : fs::temp_directory_path(none);
  return base.empty() ? fs::path() : base / ".cache" / "linnet";
}

const std::vector<std::string>& data_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"fashion-mnist", "digits"};
    for (const KeptData& data : kKeptData) all.emplace_back(data.name);
    all.emplace_back("rosenbrock");
    return all;
  }();
  return names;
}

std::optional<fs::path> data_folder(const std::string& name) {
  if (is_made(name)) return std::nullopt;
  if (is_there(name)) return name;
  const KeptData* kept = kept_data(name);
  if (kept == nullptr) {
    const std::string near = did_you_mean(name, data_names());
    fail("'{}' is neither a folder nor a known data set{}", name,
         near.empty() ? "; expected a folder, " + listed(data_names()) : near);
  }
  const fs::path cache = cache_folder();
  require(!cache.empty(),
          "{} is not here, and there is no cache folder: give the folder of its {} by --data", name,
          kept->files);
  const fs::path folder = cache / kept->folder;
  if (is_there(folder)) return folder;
  // A folder that --data names has the fine labels.
  require(name != kCoarse, "{} is not here: put the {} of CIFAR-100 into '{}'", name, kept->files,
          folder.string());
  fail("{} is not here: give the folder of its {} by --data, or put them into '{}'", name,
       kept->files, folder.string());
}

bool holds_image_files(const std::string& name) {
  const std::optional<DataKind> kind = kind_of(name);
  return kind == DataKind::images || kind == DataKind::chest_xray;
}

bool holds_texts(const std::string& name) { return kind_of(name) == DataKind::imdb; }

LoadedData load_data(const std::string& name, const DatasetOptions& options) {
  const std::optional<fs::path> folder = data_folder(name);
  if (!folder) {
    require(options.size.rank() == 0, "only image files are resized; {} is none",
            name.empty() ? "fashion-mnist" : name);
    require(options.channels == 0, "only image files have channels to choose; {} is none",
            name.empty() ? "fashion-mnist" : name);
    LoadedData made = make_data(name, options);
    subsample(made.splits.train, options.train_samples);
    if (!options.test) made.splits.test = {};
    return made;
  }
  DatasetOptions asked = options;
  asked.coarse_labels = name == kCoarse && *folder != fs::path(name);
  try {
    LoadedData data{load_dataset(*folder, asked), ""};
    data.note = bad_files_note(data.splits);
    for (const std::string& note : data.splits.train.info().notes) {
      data.note += (data.note.empty() ? "" : "; ") + note;
    }
    return data;
  } catch (const std::bad_alloc&) {
    fail(
        "out of memory while reading the data in '{}': the samples do not fit beside the program; "
        "image files need less with --streamed or a smaller --image-size",
        folder->string());
  }
}

LoadedData load_data(const std::string& name, std::uint64_t seed) {
  return load_data(name, DatasetOptions{.seed = seed});
}

}  // namespace linnet::command
