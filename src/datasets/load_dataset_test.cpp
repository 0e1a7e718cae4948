// SPDX-License-Identifier: Apache-2.0
#include "datasets/load_dataset.h"

#include "base/folder.h"
#include "data/contents.h"
#include "data/image_files.h"

namespace linnet::test {
namespace {

std::string cifar_record() { return std::string(3073, '\1'); }

TEST(LoadDataset, KnowsIdxFiles) {
  const TemporaryFolder folder;
  write_mnist(folder);
  EXPECT_EQ(load_dataset(folder.path()).train.size(), 6);
  // A name that ends in a slash is still the folder's.
  EXPECT_EQ(load_dataset(folder.path() / "").train.info().name, "linnet-LoadDataset-KnowsIdxFiles");
}

TEST(LoadDataset, KnowsCifarAlsoOneFolderDeeper) {
  const TemporaryFolder folder;
  folder.write("cifar-10-batches-bin/data_batch_1.bin", cifar_record());
  folder.write("cifar-10-batches-bin/test_batch.bin", cifar_record());
  EXPECT_EQ(load_dataset(folder / "cifar-10-batches-bin").train.info().name, "cifar-10");
  EXPECT_EQ(load_dataset(folder.path()).train.info().name, "cifar-10");
}

TEST(LoadDataset, AsksWhichOfTwo) {
  const TemporaryFolder folder;
  write_mnist(folder, "one/");
  folder.write("two/data_batch_1.bin", cifar_record());
  EXPECT_EQ(error_of([&] { load_dataset(folder.path()); }),
            quoted(folder.path()) + " holds two data sets, 'one' and 'two'; name one of them");
}

TEST(LoadDataset, KnowsImages) {
  const TemporaryFolder folder;
  folder.write("train/a/1.bmp", bmp_header(1, 1, 24) + "abcd");
  folder.write("val/a/1.bmp", bmp_header(1, 1, 24) + "abcd");
  const Splits pair = load_dataset(folder.path());
  EXPECT_EQ(pair.train.size(), 1);
  EXPECT_EQ(pair.test.size(), 1);
}

TEST(LoadDataset, OptionsMustFitWhatIsThere) {
  const TemporaryFolder folder;
  write_mnist(folder);
  EXPECT_EQ(error_of([&] {
              load_dataset(folder.path(), {.size = {8, 8}});
            }),
            "only image files are resized; " + quoted(folder.path()) + " holds idx data");
  EXPECT_EQ(error_of([&] { load_dataset(folder.path(), {.coarse_labels = true}); }),
            "only CIFAR-100 has coarse labels; " + quoted(folder.path()) + " holds idx data");
}

TEST(LoadDataset, SaysWhatIsThereInstead) {
  const TemporaryFolder tables;
  tables.write("a.csv", "1,2");
  tables.write("b.tsv.gz", "");
  EXPECT_EQ(error_of([&] { load_dataset(tables.path()); }),
            quoted(tables.path()) +
                " is a folder with 2 tables, not a data set; name one of them, "
                "e.g. " +
                quoted(tables / "a.csv") + ", or bring their rows together in one file");
  const TemporaryFolder deeper;
  deeper.write("2023/cats/1.png", "");
  deeper.write("2024/dogs/1.png", "");
  EXPECT_EQ(error_of([&] { load_dataset(deeper.path()); }),
            "the images of " + quoted(deeper.path()) +
                " lie deeper than its class folders, e.g. in " + quoted(deeper / "2023/cats") +
                "; name the folder that holds the class folders, such as " +
                quoted(deeper / "2023") + ", or move the images up into them");
  const TemporaryFolder deepest;
  deepest.write("set/images/cats/1.png", "");
  deepest.write("set/images/.cache/1.png", "");
  EXPECT_NE(error_of([&] {
              load_dataset(deepest.path());
            }).find("such as " + quoted(deepest / "set/images")),
            std::string::npos);
  EXPECT_EQ(files_below(deepest.path()).size(), 1U) << "hidden files are left out";
  const TemporaryFolder others;
  others.write("cats/1.heic", "");
  others.write("dogs/1.AVIF", "");
  EXPECT_EQ(error_of([&] { load_dataset(others.path()); }),
            quoted(others.path()) + " holds 2 images of kinds that are not read, e.g. " +
                quoted(others / "cats/1.heic") + "; convert them to PNG or JPEG");
}

TEST(LoadDataset, SaysWhatItLookedFor) {
  const TemporaryFolder folder;
  folder.write("inner/data.csv", "1,2");
  EXPECT_EQ(error_of([&] { load_dataset(folder.path()); }),
            quoted(folder.path()) +
                " holds no data set; expected IDX files (train-images-idx3-ubyte, also .gz), CIFAR "
                "batches (data_batch_*.bin or train.bin), arrays (x_train.npy, y_train.npy), texts "
                "(train.tsv, also .gz and .xz, or class/*.txt), chest X-rays (Data_Entry_2017.csv, "
                "or labels.csv beside images) or folders of images by class (class/*.png, *.jpg, "
                "*.bmp, *.webp, *.tif), the folders also under train/, val/ and test/");
}

TEST(LoadDataset, NamesAPathThatIsMissingOrAFile) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { load_dataset(folder / "none"); }),
            std::string("cannot read ") + quoted(folder / "none") + ": No such file or directory");
  EXPECT_EQ(error_of([&] { load_dataset(folder.path()); }),
            quoted(folder.path()) + " holds no data set: the folder is empty");
  const auto file = folder.write("x.bin", "x");
  EXPECT_EQ(error_of([&] { load_dataset(file); }), quoted(file) + " is a file; expected a folder");
}

}  // namespace
}  // namespace linnet::test
