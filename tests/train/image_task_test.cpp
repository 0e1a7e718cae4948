// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/image_task.h>
#include <linnet/metrics.h>
#include <linnet/model.h>
#include <linnet/zoo.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <variant>

#include "base/files.h"
#include "data_sets.h"
#include "formats/image.h"
#include "message_of.h"
#include "temporary_folder.h"

namespace linnet::test {
namespace {

using linnet::testing::message_of;
using linnet::testing::TemporaryFolder;

/// A colour image whose left or right half is bright.
Image half(std::int64_t height, std::int64_t width, bool right, int seed) {
  Image image{.height = height, .width = width, .channels = 3, .pixels = {}};
  for (std::int64_t i = 0; i < height * width * 3; ++i) {
    const bool bright = (i / 3 % width >= width / 2) == right;
    image.pixels.push_back(static_cast<std::uint8_t>((bright ? 160 : 20) + (i * 7 + seed) % 50));
  }
  return image;
}

void write_photos(const std::filesystem::path& folder, int count, std::int64_t side,
                  bool sizes = false) {
  for (int i = 0; i < count; ++i) {
    const std::int64_t width = sizes ? side + i % 3 : side;
    const auto path = folder / (i % 2 == 0 ? "left" : "right");
    std::filesystem::create_directories(path);
    write_file_atomically(path / (std::to_string(i) + ".png"),
                          encode_png(half(side, width, i % 2 == 1, i)));
  }
}

TEST(ImageTask, LearnsAFolderAndPredictsAFile) {
  const TemporaryFolder folder;
  write_photos(folder / "photos", 60, 12);
  ImageTask task = image_task(folder / "photos", {.seed = 2});
  EXPECT_EQ(task.data.train.size(), 42);
  EXPECT_EQ(task.data.validation.size(), 6);
  EXPECT_EQ(task.data.test.size(), 12);
  EXPECT_EQ(task.network.input_shape(), (Shape{12, 12, 3}));
  EXPECT_TRUE(task.training.keep_best);
  EXPECT_EQ(task.training.augment.flip, 0);  // a flip changes the class of these
  task.training.epochs = 6;
  Model model(task.network, {.device = "cpu", .threads = 1});
  train(model, task.data, task.training);
  EXPECT_GT(evaluate_metrics(model, task.data.test).accuracy, 0.9);
  const Tensor image = load_image(folder / "photos/right/1.png", model);
  const Tensor by_file = model.predict_probabilities(image);
  EXPECT_GT(by_file.as<float>()[1], 0.8F);
  // The same as in a data set of the same files.
  const Dataset all = load_dataset(folder / "photos").train;
  const Tensor in_data = model.predict_probabilities(all);
  const auto row = in_data.rows(30, 31);  // the first of the second class
  EXPECT_NEAR(by_file.as<float>()[1], row.as<float>()[1], 1e-5F);
  // Logits of one image and of many may differ in their last bits: another engine convolves.
  const Tensor alone = model.predict(image);
  const Tensor among = model.predict(all).rows(30, 31);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(alone.as<float>()[i], among.as<float>()[i], 1e-4F * std::abs(among.as<float>()[i]));
  }
}

TEST(ImageTask, ASplitIsStratifiedAndFollowsTheSeed) {
  const TemporaryFolder folder;
  write_photos(folder / "photos", 40, 8);
  const auto labels_in = [&](const Dataset& data) {
    const auto labels = data.targets()[0].data.as<std::int32_t>();
    return std::ranges::count(labels, 1);
  };
  const ImageTask task = image_task(folder / "photos", {.seed = 1});
  EXPECT_EQ(labels_in(task.data.test), 4);
  EXPECT_EQ(labels_in(task.data.validation), 2);
  const auto pixels = [](const ImageTask& of) {
    const auto bytes = of.data.test.inputs()[0].data.as<std::uint8_t>();
    return std::vector<std::uint8_t>(bytes.begin(), bytes.end());
  };
  EXPECT_EQ(pixels(task), pixels(image_task(folder / "photos", {.seed = 1})));
  EXPECT_NE(pixels(task), pixels(image_task(folder / "photos", {.seed = 2})));
}

TEST(ImageTask, KeepsATestSetOfTheFolder) {
  const TemporaryFolder folder;
  write_photos(folder / "photos", 20, 8);
  std::filesystem::create_directories(folder / "both");
  std::filesystem::copy(folder / "photos", folder / "both/train",
                        std::filesystem::copy_options::recursive);
  std::filesystem::copy(folder / "photos", folder / "both/test",
                        std::filesystem::copy_options::recursive);
  const ImageTask task = image_task(folder / "both");
  EXPECT_EQ(task.data.test.size(), 20);
  EXPECT_EQ(task.data.validation.size(), 2);
  EXPECT_EQ(task.data.train.size(), 18);
}

TEST(ImageTask, ChoosesTheSizeOfImages) {
  const TemporaryFolder folder;
  write_photos(folder / "same", 4, 300);
  EXPECT_EQ(image_files(folder / "same").size, (Shape{128, 128}));
  write_photos(folder / "several", 6, 20, true);
  EXPECT_EQ(image_files(folder / "several").size, (Shape{20, 20}));
  EXPECT_EQ(image_files(folder / "several", {.size = {9, 9}}).size, (Shape{9, 9}));
  write_photos(folder / "small", 4, 30);
  EXPECT_EQ(image_files(folder / "small").size, Shape{});
  const ImageTask task = image_task(folder / "several", {.validation = 0, .test = 0});
  EXPECT_EQ(task.notes.at(0), "images of 3 sizes are resized to 20 x 20");
  EXPECT_EQ(task.notes.at(1),
            "learns one of 2 classes from images of 20 x 20 pixels in colour; 6 images train, 0 "
            "validate, 0 test");
}

TEST(ImageTask, SmallNetworksFitEverySize) {
  for (const std::int64_t side : {1, 3, 8, 28, 32, 64, 128, 224}) {
    const Network network = zoo::small_resnet({.sample = {side, side, 3}, .classes = 5});
    EXPECT_EQ(network.output_shape(), Shape{5});
    EXPECT_EQ(network.parameters(), 308650 - 5 * 129);
  }
}

/// Long schedules of few images, short ones of many; always to their end.
TEST(ImageTask, TheRecipeFollowsFromTheImages) {
  std::int64_t epochs = 1000;
  std::int64_t seen = 0;
  for (const std::int64_t images : {40, 600, 999, 1000, 4000, 20000, 60000, 1000000}) {
    const TrainingOptions training = image_training({32, 32, 3}, images);
    EXPECT_LE(training.epochs, epochs) << images;
    EXPECT_GE(training.epochs, 5) << images;
    EXPECT_EQ(training.patience, 0) << images;
    EXPECT_TRUE(training.keep_best);
    const auto* cycle = std::get_if<OneCycle>(&training.schedule);
    ASSERT_NE(cycle, nullptr);
    EXPECT_EQ(cycle->epochs, 0);
    EXPECT_LT(training.batch * 2, std::max<std::int64_t>(images, 33));
    EXPECT_GT(images * training.epochs, seen / 2) << images;
    seen = images * training.epochs;
    epochs = training.epochs;
  }
  EXPECT_EQ(image_training({32, 32, 3}, 600).augment,
            (Augment{.padding = 4, .reflect = true, .flip = 0.5}));
  EXPECT_EQ(image_training({28, 28, 1}, 600).augment,
            (Augment{.padding = 3, .reflect = true, .rotate = 10}));
  EXPECT_EQ(image_training({1, 1, 1}, 600).augment, (Augment{.padding = 1, .rotate = 10}));
}

TEST(ImageTask, MirrorsWhereClassesStay) {
  const TemporaryFolder folder;
  const auto flip = [&](const std::string& first, const std::string& second) {
    std::filesystem::remove_all(folder / "photos");
    write_photos(folder / "photos", 20, 8);
    std::filesystem::rename(folder / "photos/left", folder / "photos/first");
    std::filesystem::rename(folder / "photos/right", folder / "photos/second");
    std::filesystem::rename(folder / "photos/first", folder / "photos" / first);
    std::filesystem::rename(folder / "photos/second", folder / "photos" / second);
    return image_task(folder / "photos").training.augment.flip;
  };
  EXPECT_EQ(flip("cat", "dog"), 0.5);
  EXPECT_EQ(flip("cat", "7"), 0.5);
  EXPECT_EQ(flip("bright", "leftover"), 0.5);
  EXPECT_EQ(flip("0", "7"), 0);
  EXPECT_EQ(flip("a", "\xC3\xA4"), 0);
  EXPECT_EQ(flip("Turn_Left", "straight"), 0);
  EXPECT_EQ(flip("none", "right hand"), 0);
  const Dataset grey({{"image", Tensor(std::vector<std::uint8_t>(20 * 64), {20, 8, 8, 1})}},
                     {{"label", Tensor(std::vector<std::int32_t>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1,
                                                                 0, 1, 0, 1, 0, 1, 0, 1, 0, 1})}});
  const TrainingOptions of_grey = image_task({.train = grey}).training;
  EXPECT_EQ(of_grey.augment.flip, 0);
  EXPECT_EQ(of_grey.augment.rotate, 10);
  EXPECT_EQ(of_grey.loss_options.label_smoothing, 0.1);
  const Dataset values({{"image", Tensor(std::vector<std::uint8_t>(20 * 192), {20, 8, 8, 3})}},
                       {{"angle", Tensor(std::vector<float>(20, 0.5F), {20, 1})}});
  const TrainingOptions of_values = image_task({.train = values}).training;
  EXPECT_EQ(of_values.augment.flip, 0);
  EXPECT_EQ(of_values.loss_options.label_smoothing, 0);
}

TEST(ImageTask, GreyImagesOfValuesKeepTheirAngles) {
  const Dataset grey({{"image", Tensor(std::vector<std::uint8_t>(20 * 64), {20, 8, 8, 1})}},
                     {{"angle", Tensor(std::vector<float>(20, 0.5F), {20, 1})}});
  EXPECT_EQ(image_task({.train = grey}).training.augment.rotate, 0);
}

TEST(ImageTask, DefaultNetworksFitEverySize) {
  for (const std::int64_t side : {1, 3, 8, 28, 32, 64, 115, 128, 224}) {
    const Dataset data({{"image", Tensor(std::vector<std::uint8_t>(
                                             static_cast<std::size_t>(4 * side * (side + 1))),
                                         {4, side, side + 1, 1})}},
                       {{"label", Tensor(std::vector<std::int32_t>{0, 1, 0, 1})}});
    const ImageTask task = image_task({.train = data}, {.validation = 0, .test = 0});
    EXPECT_EQ(task.network.output_shape(), Shape{2}) << side;
  }
}

TEST(ImageTask, SaysWhatItCannotLearn) {
  const TemporaryFolder folder;
  write_photos(folder / "photos", 20, 8);
  std::filesystem::remove_all(folder / "photos/right");
  EXPECT_EQ(message_of([&] { image_task(folder / "photos"); }),
            "'photos' has 1 class; expected at least 2 to tell apart");
  const Dataset points({{"x", Tensor(std::vector<float>(8), {4, 2})}},
                       {{"label", Tensor(std::vector<std::int32_t>(4))}});
  EXPECT_EQ(message_of([&] { image_task({.train = points}); }),
            "'data' has samples of (2); expected images (height, width, 1 or 3) with classes: "
            "describe the network of other data");
  EXPECT_EQ(message_of([&] {
              image_task(folder / "photos", {.validation = 0.5, .test = 0.5});
            }).substr(0, 20),
            "'photos' has 1 class");
}

TEST(ImageTask, TakesTheValidationFolderAndSaysWhatIsLeftOut) {
  const TemporaryFolder folder;
  write_photos(folder / "train", 20, 12);
  write_photos(folder / "val", 6, 12);
  write_photos(folder / "test", 4, 12);
  write_file_atomically(folder / "train/left/moving.gif", "GIF89a");
  const ImageTask task = image_task(folder.path());
  EXPECT_EQ(task.data.train.size(), 20);
  EXPECT_EQ(task.data.validation.size(), 6);
  EXPECT_EQ(task.data.test.size(), 4);
  EXPECT_EQ(task.notes.at(0),
            "1 image of '" + folder.path().string() +
                "' is left out (.gif): only PNG, JPEG, BMP, WebP and TIFF are read");
}

}  // namespace
}  // namespace linnet::test
