// SPDX-License-Identifier: Apache-2.0
// An image is the same sample, byte for byte, in training, evaluation, prediction and conversion.
#include <linnet/linnet.h>

#include "data/image_files.h"
#include "data/image_fixtures.h"
#include "data_sets.h"

namespace linnet::command {
namespace {

using test::TemporaryFolder;
namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;
using testing::first_input;

Bytes pixels_of(const Dataset& data) { return testing::vector_of<std::uint8_t>(first_input(data)); }
Shape sample_of(const Dataset& data) { return data.inputs()[0].record(); }

/// Files of two classes: sizes, formats, channels and EXIF orientations as photographs have them.
std::vector<std::string> write_images(const TemporaryFolder& folder) {
  const std::vector<std::pair<std::string, std::string>> files{
      {"images/a/1.png", encode_png(test::drawn_image(11, 17, 3))},
      {"images/a/2.png", encode_png(test::drawn_image(30, 9, 1))},
      {"images/a/3.jpg", test::image_fixture("turned.jpg")},
      {"images/a/4.png", test::image_fixture("rgba-16-gamma-20000.png")},
      {"images/b/1.bmp", encode_bmp(test::drawn_image(12, 12, 3))},
      {"images/b/2.jpg", test::image_fixture("turned-grey.jpg")},
      {"images/b/3.png", test::image_fixture("palette-4-alpha.png")}};
  std::vector<std::string> paths;
  for (const auto& [name, content] : files) paths.push_back(folder.write(name, content).string());
  return paths;
}

/// A model that was trained on `data` with a network that takes `input`.
Model trained(const Dataset& data, const Shape& input, bool crops) {
  Model model(Network(input, {Rescale{}, Flatten{}, Dense{.units = 2}}),
              {.device = "cpu", .threads = 1});
  TrainingOptions options{.epochs = 1, .batch = 4};
  options.augment.crop = crops;
  train(model, data, options);
  return model;
}

/// Returns what `linnet predict` asks the model about.
Bytes predicted(const std::vector<std::string>& paths, const Model& model) {
  const std::vector<fs::path> files(paths.begin(), paths.end());
  return pixels_of(read_samples(files, model, {.threads = 1}).data);
}

TEST(Samples, PredictionSeesWhatTrainingSaw) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_images(folder);
  for (const std::int64_t channels : {0, 1, 3}) {
    const Dataset data =
        load_dataset(folder / "images", {.size = {10, 12}, .channels = channels}).train;
    const Model model = trained(data, sample_of(data), false);
    EXPECT_EQ(sample_of(data)[2], channels == 1 ? 1 : 3);
    EXPECT_EQ(predicted(paths, model), pixels_of(data));
    EXPECT_EQ(predicted({(folder / "images").string()}, model), pixels_of(data));
    const Dataset streamed =
        load_dataset(folder / "images", {.streamed = true, .size = {10, 12}, .channels = channels})
            .train;
    Tensor read(DType::u8, first_input(data).shape());
    for (std::int64_t i = 0; i < std::ssize(paths); ++i) {
      streamed.inputs()[0].source->read(i, read.rows(i, i + 1).writable_bytes());
    }
    EXPECT_TRUE(same_bits(read, first_input(data)));
  }
}

TEST(Samples, PredictionCropsWhereEvaluationDoes) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_images(folder);
  const Dataset data = load_dataset(folder / "images", {.size = {10, 12}}).train;
  Model model = trained(data, {7, 8, 3}, true);
  model.save(folder / "model.safetensors");
  model = Model::load(folder / "model.safetensors", {.device = "cpu", .threads = 1});
  const Dataset evaluated = fit_samples(data, model);
  EXPECT_EQ(sample_of(evaluated), (Shape{7, 8, 3}));
  EXPECT_EQ(pixels_of(evaluated), pixels_of(centre_crop(data, 7, 8)));
  EXPECT_EQ(predicted(paths, model), pixels_of(evaluated));
  const std::vector<fs::path> files(paths.begin(), paths.end());
  EXPECT_EQ(pixels_of(load_images(files, model)), pixels_of(evaluated));
}

TEST(Samples, SmallerPicturesAreResizedToTheNetwork) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_images(folder);
  const Dataset data = load_dataset(folder / "images", {.size = {6, 5}}).train;
  Model model(Network({8, 8, 3}, {Flatten{}, Dense{.units = 2}}), {.device = "cpu", .threads = 1});
  TrainingOptions options{.epochs = 1, .batch = 4};
  options.augment.resized_crop = true;
  train(model, data, options);
  const Dataset evaluated = fit_samples(data, model);
  EXPECT_EQ(sample_of(evaluated), (Shape{8, 8, 3}));
  EXPECT_EQ(predicted(paths, model), pixels_of(evaluated));
  EXPECT_EQ(evaluate_metrics(model, evaluated).samples, 7);
}

/// What `linnet evaluate` loads.
TEST(Samples, OptionsForAModelLoadWhatItsTrainingSaw) {
  const TemporaryFolder folder;
  write_images(folder);
  const std::string images = (folder / "images").string();
  const Dataset data = load_dataset(images, {.size = {10, 12}, .channels = 1}).train;
  const Model model = trained(data, sample_of(data), false);
  EXPECT_EQ(pixels_of(datasets::load(images, {}, datasets::options_for(model, images)).train),
            pixels_of(data));
  const DatasetOptions asked = datasets::options_for(model, images, {}, {.size = {5, 5}});
  EXPECT_EQ(asked.size, (Shape{5, 5}));
  EXPECT_EQ(asked.channels, 1);
  save_dataset({.train = data}, folder / "arrays", SaveFormat::npy);
  const DatasetOptions arrays = datasets::options_for(model, (folder / "arrays").string());
  EXPECT_EQ(arrays.size.rank(), 0U);
  EXPECT_EQ(arrays.channels, 0);
}

TEST(Samples, ConversionWritesWhatTrainingSaw) {
  const TemporaryFolder folder;
  write_images(folder);
  const Splits pair = load_dataset(folder / "images", {.size = {10, 12}});
  save_dataset(pair, folder / "arrays", SaveFormat::npy);
  EXPECT_EQ(pixels_of(load_dataset(folder / "arrays").train), pixels_of(pair.train));
  save_dataset(pair, folder / "again", SaveFormat::images);
  EXPECT_EQ(pixels_of(load_dataset(folder / "again").train), pixels_of(pair.train));
}

TEST(Samples, OrientationIsAppliedEverywhere) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a/turned.jpg", test::image_fixture("turned.jpg")).string();
  const Splits pair = load_dataset(folder.path());
  EXPECT_EQ(sample_of(pair.train), (Shape{18, 21, 3}));  // stored as (21, 18, 3)
  const Model model = trained(pair.train, {18, 21, 3}, false);
  EXPECT_EQ(predicted({path}, model), pixels_of(pair.train));
}

TEST(Samples, ArraysOfTheTrainingsShapeAreCroppedAlike) {
  const TemporaryFolder folder;
  write_images(folder);
  const Splits pair = load_dataset(folder / "images", {.size = {10, 12}});
  save_dataset(pair, folder / "arrays", SaveFormat::npy);
  const std::string array = (folder / "arrays/x_train.npy").string();
  const Model cropped = trained(pair.train, {7, 8, 3}, true);
  EXPECT_EQ(predicted({array}, cropped), pixels_of(fit_samples(pair.train, cropped)));
  const Model other =
      trained(load_dataset(folder / "images", {.size = {7, 8}}).train, {7, 8, 3}, false);
  EXPECT_EQ(test::error_of([&] { predicted({array}, other); }),
            test::quoted(array) + " holds samples of (10, 12, 3), but the model takes (7, 8, 3)");
}

/// Texts as well: the table of a data set is encoded alike, and so is one text alone.
TEST(Samples, PredictionEncodesTextsAsTheDataSet) {
  const TemporaryFolder folder;
  const fs::path table =
      folder.write("texts/train.tsv", "1\tgood good film\n0\tbad Film, really\n");
  folder.write("texts/test.tsv", "0\tbad film\n");
  const Dataset data = load_dataset(folder / "texts").train;
  const std::int64_t steps = data.inputs()[0].record()[0];
  const Model model(Network({steps},
                            {Embedding{.vocabulary = 100, .features = 2}, Flatten{}, Dense{2}},
                            DType::i32),
                    {.device = "cpu", .threads = 1});
  const std::vector<fs::path> files{table};
  const Samples read = read_samples(files, model, {.vocabulary = data.info().vocabulary});
  EXPECT_TRUE(same_bits(first_input(read.data), first_input(data)));
  EXPECT_EQ(read.names, (std::vector<std::string>{table.string() + "[0]", table.string() + "[1]"}));
  EXPECT_TRUE(same_bits(encode_text("bad Film, really", data.info().vocabulary, steps),
                        first_input(data).rows(1, 2)));
  EXPECT_EQ(test::error_of([&] { read_samples(files, model); }),
            fmt::format("'{}[0]' is a text, but the model's words are unknown", table.string()));
}

}  // namespace
}  // namespace linnet::command
