// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>
#include <linnet/loss.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {
class Model;
class Network;
}  // namespace linnet

/// Finds data sets by name, and makes data that need no files.
namespace linnet::datasets {

/// Names the folders in which data sets are found by name. The library reads no environment
/// variables: programs name the folders. The command `linnet` uses the environment variable
/// LINNET_DATA and its cache folder.
struct Places {
  /// Folders that hold data sets, each in a folder of its name: FOLDER/fashion-mnist, FOLDER/mnist,
  /// FOLDER/cifar10, FOLDER/cifar100, FOLDER/imdb, FOLDER/chest-xray. The first with one counts.
  std::vector<std::filesystem::path> folders = {};
  /// Folder for downloaded and unpacked data, e.g. CACHE/cifar10. It is searched after `folders`,
  /// but before their archives. Empty: none.
  std::filesystem::path cache = {};
};

/// Returns the names that load() knows: "fashion-mnist", "digits", "mnist", "cifar10", "cifar100",
/// "cifar100-coarse" (its 20 coarse labels), "imdb", "chest-xray" and "rosenbrock".
std::vector<std::string> names();

/// Returns the folder of a name or a path, or nothing for data that are generated or downloaded:
/// "fashion-mnist", "digits", "rosenbrock". A path that exists is returned, even if it has the name
/// of a data set. Where a name's folder holds a single archive (.tar, also packed as .gz or .xz)
/// and no data set, unpacks it into `places.cache` the first time. Throws Error for a name that is
/// neither a path nor known, with the nearest one; DataError for a data set that is in no folder,
/// saying where to put it, and for a damaged archive.
std::optional<std::filesystem::path> find(const std::string& name, const Places& places = {});

/// Returns the data set of a name or a path, as load_dataset() reads folders. Generated data sets
/// use `options.seed`: 20,000 and 4,000 digits(); 32,000 (or `options.train_samples`) and 8,000
/// points of rosenbrock() of 1,000 numbers. Throws as find() and load_dataset() do.
Splits load(const std::string& name, const Places& places = {}, const DatasetOptions& options = {});

/// Returns `options` with the size and the channels of the samples that `model` was trained on,
/// where `options` leave them open, so that load() reads the image files of `name` as that training
/// did. Data of other kinds need no such options. fit_samples() then applies the crop of the
/// training. Throws as find() does.
DatasetOptions options_for(const Model& model, const std::string& name, const Places& places = {},
                           DatasetOptions options = {});

/// Reads Fashion-MNIST (Xiao et al., 2017): images (28, 28, 1) u8, 60,000 for training, 10,000 for
/// test. Takes the files from `cache` if it holds them, else from Debian's package
/// dataset-fashion-mnist, else downloads them into `cache` and checks their SHA-256. Throws
/// DataError if none of these works; digits() needs no files.
Splits fashion_mnist(const std::filesystem::path& cache = {});

/// Makes images of the ten digits, (28, 28, 1) u8, drawn as strokes with random slant, size,
/// thickness, position and noise: `train` and `test` of them, each from 0 to 10,000,000. A function
/// of the seed. Throws Error for other numbers.
Splits digits(std::int64_t train, std::int64_t test, std::uint64_t seed);

/// Makes points x uniform in [-1, 1)^features with one value each: Rosenbrock's function (1960) in
/// its sum form, y = sum of 100 (x[i+1] - x[i]^2)^2 + (1 - x[i])^2, less the mean and divided by
/// the std of the training set. Summed in double, stored as f32. A function of the
/// seed: growing one split keeps its points, and no point is in both. Throws Error for fewer
/// than two features or a size that is negative or too large.
Splits rosenbrock(std::int64_t train, std::int64_t test, std::int64_t features, std::uint64_t seed);

/// Makes samples in the shape that `network` takes, for measurements without real data. They are a
/// function of the seed, and a training can lower `loss` on them. Images (H, W, C) of at least
/// 28x28 that become classes are drawn digits, centred and as large as whole pixels allow, in three
/// strengths of each colour; sequences of ids (T) that become classes have words that determine the
/// class; features that become one value are points of rosenbrock(). All else are normal numbers,
/// ids of equal frequency and lengths of sequences, of any shape and number of inputs; their
/// targets are what `loss` takes, classes, 0 and 1 or values, which follow from a sample's first
/// numbers and are the same at all its positions, and for kl_divergence equal shares. Throws Error
/// for a network of several outputs, and for ids that look up no table.
Dataset synthetic(const Network& network, Loss loss, std::int64_t samples, std::uint64_t seed);

}  // namespace linnet::datasets
LINNET_API_END
