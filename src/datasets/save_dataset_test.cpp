// SPDX-License-Identifier: Apache-2.0
// Writing data sets, reading arrays of NumPy, and the way there and back through every format.
#include "datasets/save_dataset.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "data/contents.h"
#include "data/data_files.h"
#include "datasets/npy_folder.h"

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
  // Not in the order of the alphabet, and more than the labels in use.
  DatasetInfo info{.name = "array"};
  for (std::int64_t c = 0; c < classes; ++c) {
    info.classes.push_back(fmt::format("class {}", (c + 7) % classes));
  }
  return {{{"image", Tensor(std::move(bytes), shape.batched(count))}},
          {{"label", Tensor(std::move(labels))}},
          std::move(info)};
}

Splits images_of(const Shape& shape, std::int64_t classes = 10) {
  return {.train = samples(23, shape, classes, 1), .test = samples(11, shape, classes, 99)};
}

void expect_same(const Dataset& got, const Dataset& wanted) {
  EXPECT_EQ(sample_shape(got), sample_shape(wanted));
  EXPECT_EQ(got.inputs()[0].dtype(), wanted.inputs()[0].dtype());
  EXPECT_EQ(bytes(got), bytes(wanted));
  EXPECT_EQ(floats(got), floats(wanted));
  EXPECT_EQ(ids(got), ids(wanted));
  EXPECT_EQ(labels(got), labels(wanted));
  EXPECT_EQ(values(got), values(wanted));
  EXPECT_EQ(got.classes(), wanted.classes());
}

/// Class by class, and within each in the order given: what a tree of folders does to it.
Dataset by_class(const Dataset& data) {
  const std::vector<std::int32_t> own = labels(data);
  std::vector<std::int64_t> order(own.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {},
                    [&](std::int64_t i) { return std::pair(own[static_cast<std::size_t>(i)], i); });
  return data.take(order);
}

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

template <class T>
fs::path npy(const TemporaryFolder& folder, const char* name, const Shape& shape,
             std::vector<T> values) {
  write_npy(folder / name, Tensor(std::move(values), shape));
  return folder / name;
}

TEST(SaveDataset, IdxToNpyToIdxIsTheSameFiles) {
  const TemporaryFolder folder;
  const Splits pair = images_of({3, 4, 1}, 12);
  save_dataset(pair, folder / "one", SaveFormat::idx);
  const Splits idx = load_dataset(folder / "one");
  expect_same(idx.train, pair.train);
  expect_same(idx.test, pair.test);
  save_dataset(idx, folder / "two", SaveFormat::npy);
  const Splits npy = load_dataset(folder / "two");
  expect_same(npy.train, pair.train);
  expect_same(npy.test, pair.test);
  EXPECT_EQ(entries(folder.path()), 2U) << "nothing but what was asked for";
}

TEST(SaveDataset, IdxToImagesToNpyToIdxKeepsEveryBitByClass) {
  const TemporaryFolder folder;
  const Splits pair = images_of({3, 5, 1}, 12);
  for (const ImageFormat format : {ImageFormat::png, ImageFormat::bmp}) {
    const fs::path base = folder / (format == ImageFormat::png ? "png" : "bmp");
    save_dataset(pair, base / "idx", SaveFormat::idx);
    save_dataset(load_dataset(base / "idx"), base / "images", SaveFormat::images,
                 {.image_format = format});
    save_dataset(load_dataset(base / "images"), base / "npy", SaveFormat::npy);
    save_dataset(load_dataset(base / "npy"), base / "again", SaveFormat::idx);
    const Splits again = load_dataset(base / "again");
    expect_same(again.train, by_class(pair.train));
    expect_same(again.test, by_class(pair.test));
  }
}

TEST(SaveDataset, CifarThereAndBack) {
  for (const std::int64_t classes : {10, 100}) {
    const TemporaryFolder folder;
    const Splits pair = images_of({32, 32, 3}, classes);
    save_dataset(pair, folder / "cifar", SaveFormat::cifar);
    const Splits read = load_dataset(folder / "cifar");
    expect_same(read.train, pair.train);
    expect_same(read.test, pair.test);
    EXPECT_EQ(entries(folder / "cifar"), classes == 10 ? 7U : 3U);
  }
}

TEST(SaveDataset, ColoursStayColours) {
  const TemporaryFolder folder;
  Splits pair = images_of({2, 2, 3}, 3);
  for (Dataset* part : {&pair.train, &pair.test}) {
    Tensor pixels = part->inputs()[0].data;
    std::ranges::fill(pixels.as_writable<std::uint8_t>(), std::uint8_t{9});  // grey to the eye
  }
  for (const ImageFormat format : {ImageFormat::png, ImageFormat::bmp}) {
    const fs::path target = folder / (format == ImageFormat::png ? "png" : "bmp");
    save_dataset(pair, target, SaveFormat::images, {.image_format = format});
    EXPECT_EQ(sample_shape(load_dataset(target).train), (Shape{2, 2, 3}));
  }
}

TEST(SaveDataset, NpyHoldsFloatsIdsAndValues) {
  const TemporaryFolder folder;
  Splits floats;
  floats.train = testing::data_of(testing::records<float>({1, -2.5F, 3e-20F, 4}, {2}),
                                  testing::records<float>({7, 8}, {1}));
  save_dataset(floats, folder / "floats", SaveFormat::npy);
  expect_same(load_dataset(folder / "floats").train, floats.train);
  EXPECT_EQ(load_dataset(folder / "floats").test.size(), 0);
  Splits ids;
  ids.train = testing::data_of(testing::records<std::int32_t>({0, 1, 70000, 0, 0, 1}, {3}),
                               testing::records<std::int32_t>({1, 0}));
  save_dataset(ids, folder / "ids", SaveFormat::npy);
  ids.train.set_classes({"0", "1"});  // written so where nobody gave names
  expect_same(load_dataset(folder / "ids").train, ids.train);
}

TEST(SaveDataset, NumbersClassesWithoutNames) {
  const TemporaryFolder folder;
  Splits splits;
  splits.train = testing::data_of(testing::records<std::uint8_t>({1, 2, 3, 4}, {2, 1, 1}),
                                  testing::records<std::int32_t>({1, 0}));
  splits.test = testing::data_of(testing::records<std::uint8_t>({5, 6}, {2, 1, 1}),
                                 testing::records<std::int32_t>({2}));
  save_dataset(splits, folder / "images", SaveFormat::images);
  EXPECT_EQ(load_dataset(folder / "images").test.classes(),
            (std::vector<std::string>{"0", "1", "2"}));
  splits.test = testing::data_of(testing::records<std::uint8_t>({5, 6}, {2, 1, 1}),
                                 testing::records<std::int32_t>({-1}));
  EXPECT_EQ(error_of([&] { save_dataset(splits, folder / "x", SaveFormat::images); }),
            "label -1 of sample 0 in 'data' is outside [0, 1048576)");
}

TEST(SaveDataset, NeverTakesTheNameOfWhatIsThere) {
  const TemporaryFolder folder;
  const Splits pair = images_of({2, 2, 1});
  folder.write("full/x", "mine");
  EXPECT_EQ(error_of([&] { save_dataset(pair, folder / "full", SaveFormat::idx); }),
            quoted(folder / "full") + " exists; name a new folder");
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
              save_dataset(images_of({2, 2, 1}), folder / "x", SaveFormat::images, options);
            }),
            "enough");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(SaveDataset, SaysWhatAFormatCannotHold) {
  const TemporaryFolder folder;
  const auto refusal = [&](const Splits& pair, SaveFormat format) {
    return error_of([&] { save_dataset(pair, folder / "x", format); });
  };
  Splits floats;
  floats.train =
      testing::data_of(testing::records<float>({1, 2}, {2}), testing::records<std::int32_t>({0}));
  EXPECT_EQ(refusal(floats, SaveFormat::idx),
            "IDX holds grey images, u8 of (height, width, 1); the samples of 'data' are f32 (2)");
  EXPECT_EQ(refusal(floats, SaveFormat::images),
            "images are u8 of (height, width, 1 or 3); the samples of 'data' are f32 (2)");
  EXPECT_EQ(refusal(images_of({2, 2, 3}), SaveFormat::cifar),
            "CIFAR's files hold u8 images of (32, 32, 3); the samples of 'array' are u8 "
            "(2, 2, 3)");
  EXPECT_EQ(refusal(images_of({32, 32, 3}, 11), SaveFormat::cifar),
            "CIFAR's files hold labels of 10 or of 100 classes; 'array' has 11 classes");
  Splits slash = images_of({2, 2, 1}, 3);
  for (Dataset* part : {&slash.train, &slash.test}) part->set_classes({"class 1", "a/b", "c"});
  EXPECT_EQ(refusal(slash, SaveFormat::images),
            "the class 'a/b' of 'array' cannot be the name of a folder");
  slash.test.set_classes({"class 1", "c", "a/b"});
  EXPECT_EQ(refusal(slash, SaveFormat::npy), "the sets of 'array' have different classes");
  slash.test = samples(11, {3, 3, 1}, 3, 99);
  slash.train.set_classes(slash.test.classes());
  EXPECT_EQ(refusal(slash, SaveFormat::npy),
            "the column 'image' of 'array' is u8 (2, 2, 1) for training but u8 (3, 3, 1) for "
            "testing");
  Splits several;
  several.train = Dataset({{"a", Tensor(DType::f32, {1})}, {"b", Tensor(DType::f32, {1})}});
  EXPECT_EQ(refusal(several, SaveFormat::npy),
            "'data' has several inputs or targets, which no format can hold");
  several.train = Dataset({{"a", Tensor(DType::f32, {1})}});
  EXPECT_EQ(refusal(several, SaveFormat::npy), "'data' has no targets, which every format needs");
  EXPECT_EQ(refusal({}, SaveFormat::npy), "'data' has no training samples to write");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(NpyFolder, TellsLabelsFromValues) {
  const TemporaryFolder folder;
  npy(folder, "x_train.npy", {2, 2, 3}, std::vector<std::uint8_t>(12, 5));
  npy(folder, "y_train.npy", {2, 1}, std::vector<std::uint8_t>{3, 0});
  const Dataset whole = load_npy_folder(folder.path()).train;
  EXPECT_EQ(whole.inputs()[0].name, "x");
  EXPECT_EQ(whole.targets()[0].name, "label");
  EXPECT_EQ(sample_shape(whole), (Shape{2, 3, 1}));
  EXPECT_EQ(labels(whole), (std::vector<std::int32_t>{3, 0}));
  EXPECT_EQ(classes(whole), 4);
  npy(folder, "y_train.npy", {2}, std::vector<double>{3, 0.5});
  const Dataset real = load_npy_folder(folder.path()).train;
  EXPECT_EQ(real.targets()[0].name, "value");
  EXPECT_EQ(values(real), (std::vector<float>{3, 0.5F}));
  EXPECT_EQ(value_shape(real), (Shape{1}));
  npy(folder, "y_train.npy", {2, 2}, std::vector<std::int32_t>{1, 0, 0, 1});
  EXPECT_EQ(values(load_npy_folder(folder.path()).train), (std::vector<float>{1, 0, 0, 1}));
}

TEST(NpyFolder, TakesEveryTypeOfNumpy) {
  const TemporaryFolder folder;
  const Tensor numbers(std::vector<float>{0, 1, 1, 0}, {2, 2});
  npy(folder, "y_train.npy", {2}, std::vector<std::int64_t>{0, 1});
  for (const auto& [stored, read] : {std::pair(DType::f64, DType::f32),
                                     {DType::f16, DType::f32},
                                     {DType::i64, DType::i32},
                                     {DType::boolean, DType::u8}}) {
    write_npy(folder / "x_train.npy", numbers.to(stored));
    const Dataset data = load_npy_folder(folder.path()).train;
    EXPECT_EQ(data.inputs()[0].dtype(), read);
    EXPECT_TRUE(same_bits(data.inputs()[0].data.to(DType::f32), numbers)) << to_string(stored);
    EXPECT_EQ(labels(data), (std::vector<std::int32_t>{0, 1}));
  }
  write_npy(folder / "y_train.npy", Tensor(std::vector<float>{0, 1}).to(DType::boolean));
  EXPECT_EQ(labels(load_npy_folder(folder.path()).train), (std::vector<std::int32_t>{0, 1}));
  const auto x = npy(folder, "x_train.npy", {2, 1}, std::vector<std::int64_t>{0, 1LL << 31});
  EXPECT_EQ(error_of([&] { load_npy_folder(folder.path()); }),
            "cannot read " + quoted(x) + ": element 1 is 2147483648, which i32 cannot hold");
}

TEST(NpyFolder, NamesTheFileThatIsWrong) {
  const TemporaryFolder folder;
  const auto x = npy(folder, "x_train.npy", {2, 2}, std::vector<float>(4, 5));
  const auto y = folder / "y_train.npy";
  const auto refusal = [&] { return error_of([&] { load_npy_folder(folder.path()); }); };
  EXPECT_EQ(refusal(), "cannot read " + quoted(y) + ": No such file or directory");
  npy(folder, "y_train.npy", {3}, std::vector<std::int32_t>{1, 0, 1});
  EXPECT_EQ(refusal(), quoted(x) + " holds 2 samples but " + quoted(y) + " holds 3 targets");
  npy(folder, "y_train.npy", {2}, std::vector<std::int32_t>{1, -1});
  EXPECT_EQ(
      refusal(),
      "label -1 of record 1 in " + quoted(y) +
          " is outside [0, 1048576); whole numbers are class indices; save values as float32");
  EXPECT_EQ(classes(load_dataset(folder.path(), {.ignored_label = -1}).train), 2);
  npy(folder, "y_train.npy", {2}, std::vector<std::int32_t>{1, 0});
  npy(folder, "x_test.npy", {1, 3}, std::vector<float>(3, 5));
  npy(folder, "y_test.npy", {1}, std::vector<std::int32_t>{0});
  EXPECT_EQ(refusal(), "the samples of " + quoted(folder.path()) +
                           " are (2) f32 for training but (3) f32 for testing");
  npy(folder, "x_test.npy", {1, 2}, std::vector<float>(2, 5));
  npy(folder, "y_test.npy", {1}, std::vector<float>{0});
  EXPECT_EQ(refusal(), "the targets of " + quoted(folder.path()) +
                           " are labels for training but values for testing");
  folder.write("x_train.npy", "no array");
  EXPECT_TRUE(refusal().starts_with("cannot read " + quoted(x) + ": it is not an .npy file"));
  npy(folder, "x_train.npy", {2}, std::vector<float>(2, 5));
  EXPECT_EQ(refusal(), quoted(x) +
                           " has the shape (2); expected samples (N, ...) of at least one "
                           "dimension");
}

}  // namespace
}  // namespace linnet::test
