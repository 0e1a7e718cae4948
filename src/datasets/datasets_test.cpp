// SPDX-License-Identifier: Apache-2.0
#include <linnet/datasets.h>

#include <algorithm>

#include "data/contents.h"
#include "data/data_files.h"
#include "data/tar_file.h"
#include "data/xz_file.h"

namespace linnet::test {
namespace {

std::string cifar_record(char label) {
  std::string record(3073, '\1');
  record[0] = label;
  return record;
}

/// An archive of `train` and one test image.
std::string cifar_archive(int train) {
  std::string records;
  for (int i = 0; i < train; ++i) records += cifar_record('\2');
  return tar_entry("data_batch_1.bin", records) + tar_entry("test_batch.bin", cifar_record('\3')) +
         kTarEnd;
}

constexpr const char* kKnown =
    "; the known data sets are fashion-mnist, digits, mnist, cifar10, cifar100, cifar100-coarse, "
    "imdb, chest-xray, rosenbrock";

TEST(Datasets, NamesAreFoldersInPlacesInTheirOrder) {
  const TemporaryFolder folder;
  const datasets::Places places{.folders = {folder / "none", folder / "one"},
                                .cache = folder / "cache"};
  EXPECT_EQ(error_of([&] { datasets::find("imdb", places); }),
            "imdb was not found: put its reviews (train.tsv and test.tsv, or the folders of "
            "aclImdb) into " +
                quoted(folder / "cache/imdb") + ", or name their folder" + kKnown);
  EXPECT_EQ(error_of([&] { datasets::find("mnist"); }),
            std::string("mnist was not found: name the folder of its IDX files") + kKnown);
  folder.write("cache/imdb/train.tsv", "1\tgood film\n0\tbad film\n");
  folder.write("cache/imdb/test.tsv", "1\tgood film\n");
  EXPECT_EQ(datasets::find("imdb", places), folder / "cache/imdb");
  EXPECT_EQ(datasets::load("imdb", places).train.size(), 2);
  folder.write("one/imdb/train.tsv", "1\tgood film\n");
  EXPECT_EQ(datasets::find("imdb", places), folder / "one/imdb");
}

TEST(Datasets, PathsStandForThemselves) {
  const TemporaryFolder folder;
  write_mnist(folder, "cifar10/");
  const std::string path = (folder / "cifar10").string();
  EXPECT_EQ(datasets::find(path), path);
  EXPECT_EQ(datasets::load(path).train.size(), 6);
  EXPECT_EQ(error_of([&] { datasets::find("mnits"); }),
            "'mnits' is neither a folder nor a known data set; did you mean 'mnist', one of "
            "fashion-mnist, digits, mnist, cifar10, cifar100, cifar100-coarse, imdb, chest-xray or "
            "rosenbrock?");
}

TEST(Datasets, ArchivesAreUnpackedIntoTheCacheOnce) {
  const TemporaryFolder folder;
  const auto archive = folder.write("data/cifar10/c.tar.xz", xz(cifar_archive(5)));
  EXPECT_EQ(error_of([&] { datasets::find("cifar10", {.folders = {folder / "data"}}); }),
            quoted(folder / "data/cifar10") +
                " holds the archive 'c.tar.xz', and there is no "
                "cache folder to unpack it into");
  EXPECT_EQ(error_of([&] { load_dataset(folder / "data/cifar10"); }),
            quoted(folder / "data/cifar10") +
                " holds no data set but the archive 'c.tar.xz'; unpack it first");
  const datasets::Places places{.folders = {folder / "data"}, .cache = folder / "cache"};
  EXPECT_EQ(datasets::find("cifar10", places), folder / "cache/cifar10");
  folder.write("data/cifar10/c.tar.xz", "damaged, and not read again");
  EXPECT_EQ(datasets::load("cifar10", places).train.size(), 5);
  EXPECT_EQ(labels(datasets::load("cifar10", places).test), (std::vector<std::int32_t>{3}));
  folder.write("data/cifar10/d.tar", "");
  EXPECT_EQ(error_of([&] {
              datasets::find("cifar10", {.folders = {folder / "data"}, .cache = folder / "new"});
            }),
            quoted(folder / "data/cifar10") +
                " holds 2 archives and no data set; unpack one of them there");
}

TEST(Datasets, AnArchiveInTheCacheIsUnpackedBesideItself) {
  const TemporaryFolder folder;
  folder.write("cache/cifar10/c.tar", cifar_archive(2));
  const datasets::Places places{.cache = folder / "cache"};
  EXPECT_EQ(datasets::find("cifar10", places), folder / "cache/cifar10/unpacked");
  EXPECT_EQ(datasets::load("cifar10", places).train.size(), 2);
}

TEST(Datasets, MadeDataFollowTheOptions) {
  const Splits few = datasets::load("digits", {}, {.seed = 3, .train_samples = 50, .test = false});
  EXPECT_EQ(few.train.size(), 50);
  EXPECT_EQ(few.test.size(), 0);
  EXPECT_EQ(few.train.info().name, "digits");
  EXPECT_EQ(error_of([] {
              datasets::load("digits", {}, {.size = {8, 8}});
            }),
            "only image files are resized; digits has none");
  const std::vector<std::string> names = datasets::names();
  EXPECT_EQ(names.front(), "fashion-mnist");
  EXPECT_TRUE(std::ranges::find(names, "cifar100-coarse") != names.end());
}

TEST(Datasets, AFolderOfFashionMnistCountsBeforeItsPackage) {
  const TemporaryFolder folder;
  const auto idx = [](const std::string& dims, std::int64_t bytes) {
    return std::string("\0\0\x08", 3) + static_cast<char>(dims.size() / 4) + dims +
           std::string(static_cast<std::size_t>(bytes), '\1');
  };
  const std::string one("\0\0\0\1", 4);
  const datasets::Places places{.folders = {folder / "first", folder / "second"}};
  folder.write("first/fashion-mnist/t10k-images-idx3-ubyte", "incomplete");
  for (const char* part : {"train", "t10k"}) {
    folder.write(fmt::format("second/fashion-mnist/{}-images-idx3-ubyte", part),
                 idx(one + one + one, 1));
    folder.write(fmt::format("second/fashion-mnist/{}-labels-idx1-ubyte", part), idx(one, 1));
  }
  const Splits splits = datasets::load("fashion-mnist", places);
  EXPECT_EQ(splits.train.size(), 1);
  EXPECT_EQ(splits.train.info().name, "fashion-mnist");
  EXPECT_EQ(splits.train.classes()[1], "Trouser");
}

TEST(Datasets, CoarseLabelsAreANameOfTheirOwn) {
  const TemporaryFolder folder;
  for (const char* file : {"train.bin", "test.bin"}) {
    folder.write(fmt::format("cifar100/{}", file), fmt::format("\7{}", cifar_record('\5')));
  }
  const datasets::Places places{.folders = {folder.path()}};
  EXPECT_EQ(labels(datasets::load("cifar100", places).train), (std::vector<std::int32_t>{5}));
  EXPECT_EQ(labels(datasets::load("cifar100-coarse", places).train),
            (std::vector<std::int32_t>{7}));
}

}  // namespace
}  // namespace linnet::test
