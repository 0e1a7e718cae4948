// SPDX-License-Identifier: Apache-2.0
// What the real files say, where this machine has them; skipped where it has not.
#include <linnet/dataset.h>

#include <cstdlib>

#include "data/data_files.h"
#include "data/fashion_mnist.h"

namespace linnet::test {
namespace {

TEST(RealData, FashionMnistOfDebiansPackage) {
  const std::filesystem::path folder = fashion_mnist_source().packaged;
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const DatasetPair pair = load_fashion_mnist("");
  EXPECT_EQ(pair.train.size(), 60000);
  EXPECT_EQ(pair.test.size(), 10000);
  EXPECT_EQ(pair.train.sample_shape, (Shape{28, 28, 1}));
  EXPECT_EQ(pair.train.labels[0], 9);  // an ankle boot comes first
}

// The pinned check sums belong to the package's files, served here from their own folder.
TEST(RealData, FashionMnistPassesItsOwnCheckSums) {
  FashionMnistSource source = fashion_mnist_source();
  if (!std::filesystem::exists(source.packaged)) GTEST_SKIP() << source.packaged << " is not there";
  const TemporaryFolder folder;
  source.base_url = "file://" + source.packaged.string() + "/";
  source.packaged = folder / "none";
  EXPECT_EQ(load_fashion_mnist(folder / "cache", source).test.size(), 10000);
}

TEST(RealData, Mnist) {
  const char* const named = std::getenv("LINNET_DATA");
  const std::filesystem::path beside =
      std::filesystem::path(__FILE__).parent_path() / "../../../shared/data";
  const std::filesystem::path folder =
      (named != nullptr ? std::filesystem::path(named) : beside) / "mnist";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << folder << " is not there; LINNET_DATA may name the folder above it";
  }
  const DatasetPair pair = load_dataset(folder);
  EXPECT_EQ(pair.train.name, "mnist");
  EXPECT_EQ(pair.train.size(), 60000);
  EXPECT_EQ(pair.test.size(), 10000);
  EXPECT_EQ(pair.train.classes(), 10);
  EXPECT_EQ(pair.train.labels[0], 5);
  EXPECT_EQ(pair.test.labels[0], 7);
}

}  // namespace
}  // namespace linnet::test
