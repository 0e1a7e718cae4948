// SPDX-License-Identifier: Apache-2.0
// What the real files say, where this machine has them; skipped where it has not.
#include <linnet/datasets.h>

#include <algorithm>
#include <cstdlib>

#include "data/contents.h"
#include "data/data_files.h"
#include "data/targets.h"
#include "datasets/fashion_mnist.h"
#include "datasets/texts.h"

namespace linnet::test {
namespace {

TEST(RealData, FashionMnistOfDebiansPackage) {
  const std::filesystem::path folder = fashion_mnist_source().packaged;
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const Splits pair = datasets::fashion_mnist("");
  EXPECT_EQ(pair.train.size(), 60000);
  EXPECT_EQ(pair.test.size(), 10000);
  EXPECT_EQ(sample_shape(pair.train), (Shape{28, 28, 1}));
  EXPECT_EQ(labels(pair.train)[0], 9);  // an ankle boot comes first
}

// The pinned check sums belong to the package's files, served here from their own folder.
TEST(RealData, FashionMnistPassesItsOwnCheckSums) {
  FashionMnistSource source = fashion_mnist_source();
  if (!std::filesystem::exists(source.packaged)) GTEST_SKIP() << source.packaged << " is not there";
  const TemporaryFolder folder;
  source.base_url = "file://" + source.packaged.string() + "/";
  source.packaged = folder / "none";
  EXPECT_EQ(read_fashion_mnist(folder / "cache", source).test.size(), 10000);
}

/// A folder of the shared data, or none.
std::filesystem::path shared_folder(const char* name) {
  const char* const named = std::getenv("LINNET_DATA");
  const std::filesystem::path beside =
      std::filesystem::path(__FILE__).parent_path() / "../../../shared/data";
  return (named != nullptr ? std::filesystem::path(named) : beside) / name;
}

TEST(RealData, Mnist) {
  const std::filesystem::path folder = shared_folder("mnist");
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << folder << " is not there; LINNET_DATA may name the folder above it";
  }
  const Splits pair = load_dataset(folder);
  EXPECT_EQ(pair.train.info().name, "mnist");
  EXPECT_EQ(pair.train.size(), 60000);
  EXPECT_EQ(pair.test.size(), 10000);
  EXPECT_EQ(classes(pair.train), 10);
  EXPECT_EQ(labels(pair.train)[0], 5);
  EXPECT_EQ(labels(pair.test)[0], 7);
}

TEST(RealData, Cifar10OfItsArchive) {
  const std::filesystem::path folder = shared_folder("cifar10");
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << folder << " is not there; LINNET_DATA may name the folder above it";
  }
  const TemporaryFolder cache;
  const Splits pair =
      datasets::load("cifar10", {.folders = {folder.parent_path()}, .cache = cache.path()});
  EXPECT_EQ(pair.train.size(), 50000);
  EXPECT_EQ(pair.test.size(), 10000);
  EXPECT_EQ(pair.train.classes()[9], "truck");
  EXPECT_EQ(std::ranges::count(labels_of(pair.test), 3), 1000);
  EXPECT_EQ(labels(pair.train)[0], 6);  // a frog comes first
}

// The words were counted once by a script that follows Keras's Tokenizer and pad_sequences; all
// 7,500,000 ids agreed.
TEST(RealData, Imdb) {
  const std::filesystem::path folder = shared_folder("imdb");
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << folder << " is not there; LINNET_DATA may name the folder above it";
  }
  const Splits imdb = load_texts(folder);
  const std::vector<std::string>& words = imdb.train.info().vocabulary;
  EXPECT_EQ(std::vector<std::string>(words.begin(), words.begin() + 8),
            (std::vector<std::string>{"the", "and", "a", "of", "to", "is", "br", "in"}));
  for (const Dataset* part : {&imdb.train, &imdb.test}) {
    EXPECT_EQ(part->size(), 25000);
    EXPECT_EQ(std::ranges::count(labels_of(*part), 1), 12500);
    EXPECT_NO_THROW(part->check_labels());
  }
}

}  // namespace
}  // namespace linnet::test
