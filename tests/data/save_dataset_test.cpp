// SPDX-License-Identifier: Apache-2.0
// Writing data sets, reading arrays of NumPy, and the way there and back through every format.
#include "data/save_dataset.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "data/data_files.h"
#include "data/npy_folder.h"
#include "io/npy.h"

namespace linnet::test {
namespace {

namespace fs = std::filesystem;

/// Samples with pixels of their own; labels go round, so that classes are mixed.
Dataset samples(std::int64_t count, const Shape& shape, std::int64_t classes, int first) {
  std::vector<std::uint8_t> bytes;
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t e = 0; e < shape.elements(); ++e) {
      bytes.push_back(static_cast<std::uint8_t>(first + i * 31 + e * 7 + e / 5));
    }
    labels.push_back(static_cast<std::int32_t>((i * 5 + 2) % classes));
  }
  Dataset data = make_dataset(shape, bytes, labels);
  data.class_names.clear();
  // Not in the order of the alphabet, and more than the labels in use.
  for (std::int64_t c = 0; c < classes; ++c) {
    data.class_names.push_back(fmt::format("class {}", (c + 7) % classes));
  }
  return data;
}

DatasetPair pictures(const Shape& shape, std::int64_t classes = 10) {
  return {samples(23, shape, classes, 1), samples(11, shape, classes, 99)};
}

void expect_same(const Dataset& got, const Dataset& wanted) {
  EXPECT_EQ(got.sample_shape, wanted.sample_shape);
  EXPECT_EQ(got.sample_dtype, wanted.sample_dtype);
  EXPECT_EQ(got.bytes, wanted.bytes);
  EXPECT_EQ(got.floats, wanted.floats);
  EXPECT_EQ(got.ids, wanted.ids);
  EXPECT_EQ(got.labels, wanted.labels);
  EXPECT_EQ(got.values, wanted.values);
  EXPECT_EQ(got.class_names, wanted.class_names);
}

/// Class by class, and within each in the order given: what a tree of folders makes of it.
Dataset by_class(const Dataset& data) {
  std::vector<std::size_t> order(data.labels.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return data.labels[a] < data.labels[b]; });
  Dataset sorted = data;
  sorted.bytes.clear();
  const auto width = static_cast<std::ptrdiff_t>(data.sample_shape.elements());
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted.labels[i] = data.labels[order[i]];
    const auto first = data.bytes.begin() + static_cast<std::ptrdiff_t>(order[i]) * width;
    sorted.bytes.insert(sorted.bytes.end(), first, first + width);
  }
  return sorted;
}

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

template <class T>
fs::path npy(const TemporaryFolder& folder, const char* name, DType dtype, const Shape& shape,
             const std::vector<T>& values) {
  write_npy(folder / name, dtype, shape, std::as_bytes(std::span(values)));
  return folder / name;
}

TEST(SaveDataset, IdxToNpyToIdxIsTheSameFiles) {
  const TemporaryFolder folder;
  const DatasetPair pair = pictures({3, 4, 1}, 12);
  save_dataset(pair, folder / "one", SaveFormat::idx);
  const DatasetPair idx = load_dataset(folder / "one");
  expect_same(idx.train, pair.train);
  expect_same(idx.test, pair.test);
  save_dataset(idx, folder / "two", SaveFormat::npy);
  const DatasetPair npy = load_dataset(folder / "two");
  expect_same(npy.train, pair.train);
  expect_same(npy.test, pair.test);
  EXPECT_EQ(entries(folder.path()), 2U) << "nothing but what was asked for";
}

TEST(SaveDataset, IdxToImagesToNpyToIdxKeepsEveryBitByClass) {
  const TemporaryFolder folder;
  const DatasetPair pair = pictures({3, 5, 1}, 12);
  for (const PictureFormat picture : {PictureFormat::png, PictureFormat::bmp}) {
    const fs::path base = folder / (picture == PictureFormat::png ? "png" : "bmp");
    save_dataset(pair, base / "idx", SaveFormat::idx);
    save_dataset(load_dataset(base / "idx"), base / "images", SaveFormat::images,
                 {.picture = picture});
    save_dataset(load_dataset(base / "images"), base / "npy", SaveFormat::npy);
    save_dataset(load_dataset(base / "npy"), base / "again", SaveFormat::idx);
    const DatasetPair again = load_dataset(base / "again");
    expect_same(again.train, by_class(pair.train));
    expect_same(again.test, by_class(pair.test));
  }
}

TEST(SaveDataset, CifarThereAndBack) {
  for (const std::int64_t classes : {10, 100}) {
    const TemporaryFolder folder;
    const DatasetPair pair = pictures({32, 32, 3}, classes);
    save_dataset(pair, folder / "cifar", SaveFormat::cifar);
    const DatasetPair read = load_dataset(folder / "cifar");
    expect_same(read.train, pair.train);
    expect_same(read.test, pair.test);
    EXPECT_EQ(entries(folder / "cifar"), classes == 10 ? 7U : 3U);
  }
}

TEST(SaveDataset, ColoursStayColours) {
  const TemporaryFolder folder;
  DatasetPair pair = pictures({2, 2, 3}, 3);
  std::fill(pair.train.bytes.begin(), pair.train.bytes.end(), std::uint8_t{9});  // grey to the eye
  std::fill(pair.test.bytes.begin(), pair.test.bytes.end(), std::uint8_t{9});
  for (const PictureFormat picture : {PictureFormat::png, PictureFormat::bmp}) {
    const fs::path target = folder / (picture == PictureFormat::png ? "png" : "bmp");
    save_dataset(pair, target, SaveFormat::images, {.picture = picture});
    EXPECT_EQ(load_dataset(target).train.sample_shape, (Shape{2, 2, 3}));
  }
}

TEST(SaveDataset, NpyHoldsFloatsIdsAndValues) {
  const TemporaryFolder folder;
  DatasetPair floats;
  floats.train = make_dataset({2}, std::vector<float>{1, -2.5F, 3e-20F, 4}, Shape{1},
                              std::vector<float>{7, 8});
  save_dataset(floats, folder / "floats", SaveFormat::npy);
  expect_same(load_dataset(folder / "floats").train, floats.train);
  EXPECT_EQ(load_dataset(folder / "floats").test.size(), 0);
  DatasetPair ids;
  ids.train = make_dataset({3}, std::vector<std::int32_t>{0, 1, 70000, 0, 0, 1},
                           std::vector<std::int32_t>{1, 0});
  save_dataset(ids, folder / "ids", SaveFormat::npy);
  expect_same(load_dataset(folder / "ids").train, ids.train);
}

TEST(SaveDataset, NeverTakesTheNameOfWhatIsThere) {
  const TemporaryFolder folder;
  const DatasetPair pair = pictures({2, 2, 1});
  folder.write("full/x", "mine");
  EXPECT_EQ(error_of([&] { save_dataset(pair, folder / "full", SaveFormat::idx); }),
            quoted(folder / "full") + " is there already; name a folder that is not");
  EXPECT_EQ(entries(folder / "full"), 1U);
  fs::create_directory(folder / "empty");
  EXPECT_NO_THROW(save_dataset(pair, folder / "empty", SaveFormat::idx));
  EXPECT_NO_THROW(save_dataset(pair, folder / "deep/er/", SaveFormat::idx));
}

TEST(SaveDataset, LeavesNothingWhereItStops) {
  const TemporaryFolder folder;
  SaveOptions options;
  options.progress = [](std::int64_t done, std::int64_t) {
    if (done == 20) throw Error("enough");
  };
  EXPECT_EQ(error_of([&] {
              save_dataset(pictures({2, 2, 1}), folder / "x", SaveFormat::images, options);
            }),
            "enough");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(SaveDataset, SaysWhatAFormatCannotHold) {
  const TemporaryFolder folder;
  const auto refusal = [&](const DatasetPair& pair, SaveFormat format) {
    return error_of([&] { save_dataset(pair, folder / "x", format); });
  };
  DatasetPair floats;
  floats.train = make_dataset({2}, std::vector<float>{1, 2}, std::vector<std::int32_t>{0});
  EXPECT_EQ(
      refusal(floats, SaveFormat::idx),
      "IDX holds grey pictures, u8 of (height, width, 1); the samples of 'array' are f32 (2)");
  EXPECT_EQ(refusal(floats, SaveFormat::images),
            "pictures are u8 of (height, width, 1 or 3); the samples of 'array' are f32 (2)");
  EXPECT_EQ(refusal(pictures({2, 2, 3}), SaveFormat::cifar),
            "CIFAR's files hold u8 pictures of (32, 32, 3); the samples of 'array' are u8 "
            "(2, 2, 3)");
  EXPECT_EQ(refusal(pictures({32, 32, 3}, 11), SaveFormat::cifar),
            "CIFAR's files hold labels of 10 or of 100 classes; 'array' has 11 classes");
  DatasetPair slash = pictures({2, 2, 1}, 3);
  slash.train.class_names[1] = slash.test.class_names[1] = "a/b";
  EXPECT_EQ(refusal(slash, SaveFormat::images),
            "the class 'a/b' of 'array' can't be the name of a folder");
  slash.train.class_names[1] = slash.test.class_names[1] = slash.train.class_names[0];
  EXPECT_EQ(refusal(slash, SaveFormat::npy), "two classes of 'array' are called 'class 1'");
  EXPECT_EQ(refusal({}, SaveFormat::npy), "'' has no training samples to write");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(NpyFolder, TellsLabelsFromValues) {
  const TemporaryFolder folder;
  npy(folder, "x_train.npy", DType::u8, {2, 2, 3}, std::vector<std::uint8_t>(12, 5));
  npy(folder, "y_train.npy", DType::u8, {2, 1}, std::vector<std::uint8_t>{3, 0});
  const Dataset labels = load_npy_folder(folder.path()).train;
  EXPECT_EQ(labels.sample_shape, (Shape{2, 3, 1}));
  EXPECT_EQ(labels.labels, (std::vector<std::int32_t>{3, 0}));
  EXPECT_EQ(labels.classes(), 4);
  npy(folder, "y_train.npy", DType::f64, {2}, std::vector<double>{3, 0.5});
  const Dataset values = load_npy_folder(folder.path()).train;
  EXPECT_EQ(values.values, (std::vector<float>{3, 0.5F}));
  EXPECT_EQ(values.value_shape, (Shape{1}));
  npy(folder, "y_train.npy", DType::i32, {2, 2}, std::vector<std::int32_t>{1, 0, 0, 1});
  EXPECT_EQ(load_npy_folder(folder.path()).train.values, (std::vector<float>{1, 0, 0, 1}));
}

TEST(NpyFolder, NamesTheFileThatIsWrong) {
  const TemporaryFolder folder;
  const auto x = npy(folder, "x_train.npy", DType::f32, {2, 2}, std::vector<float>(4, 5));
  const auto y = folder / "y_train.npy";
  const auto refusal = [&] { return error_of([&] { load_npy_folder(folder.path()); }); };
  EXPECT_EQ(refusal(), "cannot read " + quoted(y) + ": No such file or directory");
  npy(folder, "y_train.npy", DType::i32, {3}, std::vector<std::int32_t>{1, 0, 1});
  EXPECT_EQ(refusal(), quoted(x) + " holds 2 samples but " + quoted(y) + " holds 3 targets");
  npy(folder, "y_train.npy", DType::i32, {2}, std::vector<std::int32_t>{1, -1});
  EXPECT_EQ(refusal(), "label -1 of record 1 in " + quoted(y) +
                           " is outside [0, 1048576); whole numbers are class indices, save "
                           "values as float32");
  EXPECT_EQ(load_dataset(folder.path(), {.ignored_label = -1}).train.classes(), 2);
  npy(folder, "y_train.npy", DType::i32, {2}, std::vector<std::int32_t>{1, 0});
  npy(folder, "x_test.npy", DType::f32, {1, 3}, std::vector<float>(3, 5));
  npy(folder, "y_test.npy", DType::i32, {1}, std::vector<std::int32_t>{0});
  EXPECT_EQ(refusal(), "the samples of " + quoted(folder.path()) +
                           " are (2) f32 for training but (3) f32 for testing");
  folder.write("x_train.npy", "no array");
  EXPECT_TRUE(refusal().starts_with("cannot read " + quoted(x) + ": it is no .npy file"));
  npy(folder, "x_train.npy", DType::f32, {2}, std::vector<float>(2, 5));
  EXPECT_EQ(refusal(), quoted(x) +
                           " has the shape (2); expected samples (N, ...) of at least one "
                           "dimension");
}

}  // namespace
}  // namespace linnet::test
