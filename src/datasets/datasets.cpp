// SPDX-License-Identifier: Apache-2.0
#include <linnet/datasets.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/folder.h"
#include "base/join.h"
#include "data/subsample.h"
#include "datasets/fashion_mnist.h"
#include "datasets/load_dataset.h"
#include "describe/nearest.h"
#include "formats/tar.h"

namespace linnet::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kDigitsTrain = 20000;
constexpr std::int64_t kDigitsTest = 4000;
constexpr std::int64_t kRosenbrockFeatures = 1000;
constexpr std::int64_t kRosenbrockTrain = 32000;  // four batches of the published size
constexpr std::int64_t kRosenbrockTest = 8000;

/// Data without a licence to hand them on or to fetch them: the user has to have them.
struct KeptData {
  std::string_view name;
  std::string_view folder;  ///< in a place
  std::string_view files;   ///< what a user puts there
};
constexpr const char* kFashionMnist = "fashion-mnist";
constexpr std::string_view kCoarse = "cifar100-coarse";
constexpr std::array<KeptData, 6> kKeptData{
    {{"mnist", "mnist", "IDX files"},
     {"cifar10", "cifar10", "binary batches"},
     {"cifar100", "cifar100", "binary batches"},
     {kCoarse, "cifar100", "binary batches"},
     {"imdb", "imdb", "reviews (train.tsv and test.tsv, or the folders of aclImdb)"},
     {"chest-xray", "chest-xray", "images and Data_Entry_2017.csv"}}};

const KeptData* kept_data(const std::string& name) {
  const auto found = std::ranges::find(kKeptData, name, &KeptData::name);
  return found == kKeptData.end() ? nullptr : &*found;
}

bool is_made(const std::string& name) {
  return name == kFashionMnist || name == "digits" || name == "rosenbrock";
}

/// A link that leads nowhere, or a path that can't be followed, is said to be so.
bool is_there(const fs::path& path) {
  std::error_code error;
  const bool found = fs::exists(path, error);
  std::error_code none;
  if (!error && !found && fs::is_symlink(path, none)) {
    error = std::make_error_code(std::errc::no_such_file_or_directory);
  }
  require<DataError>(!error, "cannot read '{}': {}", path.string(), error.message());
  return found;
}

std::vector<fs::path> archives_in(const fs::path& folder) {
  std::vector<fs::path> archives;
  for (const fs::path& file : list_folder(folder).files) {
    if (is_tar_name(file)) archives.push_back(file);
  }
  return archives;
}

/// Two processes may unpack at once: the folder of the first one counts.
void unpack_once(const fs::path& archive, const fs::path& folder) {
  try {
    unpack_tar(archive, folder);
  } catch (const Error&) {
    if (!is_there(folder)) throw;
  }
}

fs::path unpacked(const std::vector<fs::path>& archives, const KeptData& data,
                  const Places& places) {
  const fs::path folder = archives[0].parent_path();
  require<DataError>(archives.size() == 1,
                     "'{}' holds {} archives and no data set; unpack one of them there",
                     folder.string(), archives.size());
  require<DataError>(!places.cache.empty(),
                     "'{}' holds the archive '{}', and there is no cache folder to unpack it into",
                     folder.string(), archives[0].filename().string());
  fs::path target = places.cache / data.folder;
  if (target == folder) target /= "unpacked";
  if (!is_there(target)) unpack_once(archives[0], target);
  return target;
}

[[noreturn]] void fail_missing(const KeptData& data, const Places& places) {
  const fs::path place = !places.cache.empty()     ? places.cache
                         : !places.folders.empty() ? places.folders.front()
                                                   : fs::path();
  const std::string others = "; the known data sets are " + join(names(), ", ");
  if (place.empty()) {
    fail<DataError>("{} was not found: name the folder of its {}{}", data.name, data.files, others);
  }
  const std::string folder = (place / data.folder).string();
  // A folder that is named by its path has the fine labels.
  require<DataError>(data.name != kCoarse, "{} was not found: put the {} of CIFAR-100 into '{}'{}",
                     data.name, data.files, folder, others);
  fail<DataError>("{} was not found: put its {} into '{}', or name their folder{}", data.name,
                  data.files, folder, others);
}

fs::path find_kept(const KeptData& data, const Places& places) {
  std::vector<fs::path> all = places.folders;
  if (!places.cache.empty()) all.push_back(places.cache);
  std::vector<fs::path> archives;
  fs::path other;  // a folder of something else: load_dataset() says what is wrong with it
  for (const fs::path& place : all) {
    const fs::path folder = place / data.folder;
    if (!is_there(folder)) continue;
    if (!is_folder(folder) || holds_dataset(folder)) return folder;
    if (archives.empty()) archives = archives_in(folder);
    if (other.empty()) other = folder;
  }
  if (!archives.empty()) return unpacked(archives, data, places);
  if (other.empty()) fail_missing(data, places);
  return other;
}

/// Returns the folder that fashion_mnist() may read first: one with its files, else the cache.
fs::path fashion_mnist_folder(const Places& places) {
  for (const fs::path& place : places.folders) {
    if (holds_fashion_mnist(place / kFashionMnist)) return place / kFashionMnist;
  }
  return places.cache;
}

/// Makes whole sets, and as many of Rosenbrock's points as `options` say.
Splits make(const std::string& name, const Places& places, const DatasetOptions& options) {
  if (name == "digits") return digits(kDigitsTrain, kDigitsTest, options.seed);
  if (name == kFashionMnist) return fashion_mnist(fashion_mnist_folder(places));
  const std::int64_t train = options.train_samples > 0 ? options.train_samples : kRosenbrockTrain;
  return rosenbrock(train, options.test ? kRosenbrockTest : 0, kRosenbrockFeatures, options.seed);
}

}  // namespace

std::vector<std::string> names() {
  std::vector<std::string> all{kFashionMnist, "digits"};
  for (const KeptData& data : kKeptData) all.emplace_back(data.name);
  all.emplace_back("rosenbrock");
  return all;
}

std::optional<fs::path> find(const std::string& name, const Places& places) {
  if (is_made(name)) return std::nullopt;
  if (is_there(name)) return name;
  const KeptData* kept = kept_data(name);
  if (kept != nullptr) return find_kept(*kept, places);
  const std::string near = nearest(name, names());
  const std::string all = listed(names());
  require(near.empty(),
          "'{}' is neither a folder nor a known data set; did you mean '{}', one of {}?", name,
          near, all);
  fail("'{}' is neither a folder nor a known data set; expected a folder, {}", name, all);
}

Splits load(const std::string& name, const Places& places, const DatasetOptions& options) {
  if (const std::optional<fs::path> folder = find(name, places)) {
    DatasetOptions asked = options;
    asked.coarse_labels = asked.coarse_labels || (name == kCoarse && *folder != fs::path(name));
    return load_dataset(*folder, asked);
  }
  require(options.size.rank() == 0, "only image files are resized; {} has none", name);
  require(options.channels == 0, "the channels can only be chosen for image files; {} has none",
          name);
  Splits splits = make(name, places, options);
  subsample(splits.train, options.train_samples);
  if (!options.test) splits.test = {};
  return splits;
}

}  // namespace linnet::datasets
