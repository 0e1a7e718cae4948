// SPDX-License-Identifier: Apache-2.0
// Samples that are read while they are trained on: the same bits as resident ones.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <functional>
#include <utility>

#include "backend/cpu/batch_stream.h"
#include "fixtures.h"
#include "formats/image.h"
#include "temporary_folder.h"

namespace linnet::testing {
namespace {

/// A tree of two classes of RGB images, all different.
class ImageSource {
 public:
  explicit ImageSource(int count, int height = 10, int width = 12) {
    for (int i = 0; i < count; ++i) {
      Image image{.height = height, .width = width, .channels = 3, .pixels = {}};
      for (int k = 0; k < height * width * 3; ++k) {
        image.pixels.push_back(static_cast<std::uint8_t>(i * 11 + k * (1 + i % 2)));
      }
      write(name(i), encode_png(image));
    }
  }
  static std::string name(int i) {
    return (i % 2 == 0 ? "even/" : "odd/") + std::to_string(100 + i) + ".png";
  }
  void write(const std::string& at, const std::string& content) const {
    std::filesystem::create_directories((folder_ / at).parent_path());
    write_quickly(folder_ / at, content);
  }
  std::string read(const std::string& at) const {
    std::ifstream file(folder_ / at, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  const std::filesystem::path& path() const { return folder_.path(); }
  Dataset open(DatasetOptions options) const { return load_dataset(path(), options).train; }

 private:
  TemporaryFolder folder_;
};

Network network(const Shape& sample = {10, 12, 3}) {
  return Network(sample, {Rescale{}, Conv2d{.filters = 4, .padding = Padding2d::same()}, ReLU{},
                          Flatten{}, Dropout{.rate = 0.2}, Dense{.units = 2}});
}

/// With a fifth of the data held out.
std::vector<double> trained(const Dataset& data, const TrainingOptions& options, int threads = 2,
                            const Shape& sample = {10, 12, 3}) {
  Model model(network(sample), {.device = "cpu", .threads = threads, .seed = 3});
  const auto [training, validation] = data.split(0.2, {.seed = 7});
  const History history = train(model, {.train = training, .validation = validation}, options);
  std::vector<double> all;
  for (const EpochReport& epoch : history.epochs) {
    all.insert(all.end(), {epoch.train.loss, epoch.train.accuracy, epoch.validation.loss});
    all.insert(all.end(), epoch.step_losses.begin(), epoch.step_losses.end());
  }
  const std::vector<float> weights = all_weights(model);
  all.insert(all.end(), weights.begin(), weights.end());
  return all;
}

TrainingOptions options_of() {
  return {.epochs = 2, .batch = 4, .optimizer = Adam{.learning_rate = 1e-2}, .seed = 7};
}

TEST(StreamedImages, GiveTheSameBits) {
  const ImageSource images(19);
  const Dataset resident = images.open({});
  const Dataset streamed = images.open({.streamed = true});
  EXPECT_NE(streamed.inputs().at(0).source, nullptr);
  EXPECT_EQ(streamed.size(), 19);
  EXPECT_TRUE(same_bits(first_target(streamed), first_target(resident)));
  EXPECT_EQ(streamed.inputs()[0].record(), resident.inputs()[0].record());
  TrainingOptions options = options_of();
  const std::vector<double> wanted = trained(resident, options);
  for (std::int64_t prefetch : {1, 2, 3, 9}) {
    for (int decoders : {0, 1, 2, 3, 4}) {
      options.prefetch = prefetch;
      options.decoders = decoders;
      EXPECT_EQ(trained(streamed, options, 1 + decoders % 2), wanted)
          << prefetch << " batches ahead, decoders: " << decoders;
    }
  }
}

/// Draws images when they are asked for.
class DrawnImages final : public RecordSource {
 public:
  std::int64_t size() const override { return 303; }
  DType dtype() const override { return DType::u8; }
  Shape record() const override { return {40, 48, 3}; }
  void read(std::int64_t index, std::span<std::byte> to) const override {
    for (std::size_t k = 0; k < to.size(); ++k) {
      to[k] = static_cast<std::byte>(static_cast<std::size_t>(index) * 11 + k % 5 * k);
    }
  }
};

/// The same in memory, or streamed.
Dataset drawn_images(bool streamed) {
  const auto source = std::make_shared<DrawnImages>();
  std::vector<std::int32_t> labels;
  Tensor all(DType::u8, source->record().batched(source->size()));
  const std::span<std::byte> bytes = all.writable_bytes();
  const std::size_t record = bytes.size() / static_cast<std::size_t>(source->size());
  for (std::int64_t i = 0; i < source->size(); ++i) {
    labels.push_back(static_cast<std::int32_t>(i % 3 % 2));
    source->read(i, bytes.subspan(static_cast<std::size_t>(i) * record, record));
  }
  Column x{.name = "x"};
  if (streamed) {
    x.source = source;
  } else {
    x.data = std::move(all);
  }
  return Dataset({std::move(x)}, {{"y", Tensor(std::move(labels))}});
}

TEST(StreamedImages, AreComputedSideBySideInLessMemoryThanTheirData) {
  const ImageSource files(303, 40, 48);
  // Of 303 images 242 train: the last of 31 batches has two rows, in four shards.
  TrainingOptions options{.epochs = 2, .batch = 8, .shards = 4, .memory_limit = 1 << 20};
  options.optimizer = Adam{.learning_rate = 1e-2};
  const Network strided({40, 48, 3}, {Rescale{}, Conv2d{.filters = 3, .stride = 4}, ReLU{},
                                      Dropout{.rate = 0.2}, Flatten{}, Dense{.units = 2}});
  const auto left = [&](const Dataset& data, bool side_by_side, int threads) {
    Model model(strided, {.device = "cpu", .threads = threads, .seed = 3});
    options.side_by_side = side_by_side;
    const auto [training, validation] = data.split(0.2, {.seed = 7});
    const History history = train(model, {.train = training, .validation = validation}, options);
    EXPECT_LT(history.planned_bytes, std::size_t{1} << 20);
    return std::pair(all_weights(model), history.epochs.back().validation.loss);
  };
  constexpr std::size_t kData = std::size_t{303} * 40 * 48 * 3;
  static_assert(kData > std::size_t{1} << 20);
  for (const auto& open :
       std::vector<std::function<Dataset(bool)>>{drawn_images, [&](bool streamed) {
                                                   return files.open({.streamed = streamed});
                                                 }}) {
    const auto wanted = left(open(false), false, 1);
    for (const int threads : {1, 3}) {
      EXPECT_EQ(left(open(true), true, threads), wanted) << threads;
      EXPECT_EQ(left(open(true), false, threads), wanted) << threads;
    }
  }
}

TEST(StreamedImages, AreAugmentedAsResidentOnes) {
  const ImageSource images(13);
  TrainingOptions options = options_of();
  options.augment = {.crop = true,
                     .flip = 0.5,
                     .brightness = 0.3,
                     .contrast = 0.3,
                     .saturation = 0.3,
                     .cutout = 3,
                     .mixup = 0.4,
                     .cutmix = 1};
  const std::vector<double> wanted = trained(images.open({}), options, 1, {8, 9, 3});
  EXPECT_EQ(trained(images.open({}), options, 3, {8, 9, 3}), wanted);
  EXPECT_EQ(trained(images.open({.streamed = true}), options, 2, {8, 9, 3}), wanted);
  options.augment.flip = 0;
  EXPECT_NE(trained(images.open({}), options, 1, {8, 9, 3}), wanted);
  // Flips follow the records, which streaming puts elsewhere.
  options.augment = {.crop = true, .alternating_flip = true};
  const std::vector<double> in_turns = trained(images.open({}), options, 1, {8, 9, 3});
  EXPECT_EQ(trained(images.open({.streamed = true}), options, 2, {8, 9, 3}), in_turns);
}

TEST(StreamedImages, AreEvaluatedAndPredictedAlike) {
  const ImageSource images(11);
  const Dataset resident = images.open({});
  const Dataset streamed = images.open({.streamed = true});
  Model model(network(), {.device = "cpu", .seed = 3});
  const Evaluation wanted = evaluate(model, resident, Loss::automatic, 4);
  const Evaluation got = evaluate(model, streamed, Loss::automatic, 4);
  EXPECT_EQ(got.loss, wanted.loss);
  EXPECT_EQ(got.accuracy, wanted.accuracy);
  EXPECT_EQ(got.samples, 11);
  EXPECT_EQ(vector_of(model.predict(streamed, 4)), vector_of(model.predict(resident, 4)));
  EXPECT_EQ(vector_of(model.predict_probabilities(centre_crop(streamed, 10, 12), 3)),
            vector_of(model.predict_probabilities(resident, 3)));
}

std::string message_of(const Dataset& data, const TrainingOptions& options) {
  try {
    trained(data, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(StreamedImages, ABadOneStopsTheRunByName) {
  const ImageSource images(19);
  const std::string whole = images.read(ImageSource::name(4));
  const std::string of_first = images.read(ImageSource::name(5));
  for (const std::string& content :
       {whole.substr(0, whole.size() / 2), std::string("no image"), std::string()}) {
    images.write(ImageSource::name(4), content);
    const Dataset streamed = images.open({.streamed = true});
    for (std::int64_t prefetch : {1, 3}) {
      TrainingOptions options = options_of();
      options.prefetch = prefetch;
      const std::string message = message_of(streamed, options);
      EXPECT_NE(message.find("even/104.png'"), std::string::npos) << message;
    }
    EXPECT_THROW(images.open({}), Error);
    Model model(network(), {.device = "cpu"});
    EXPECT_THROW(evaluate(model, streamed), Error);
    EXPECT_THROW(model.predict(streamed), Error);
  }
}

TEST(StreamedImages, OfSeveralBadOnesTheFirstInTheOrderIsNamed) {
  const ImageSource images(19);
  for (int i : {2, 6, 9}) images.write(ImageSource::name(i), "no image");
  TrainingOptions options = options_of();
  options.batch = 19;
  const Dataset streamed = images.open({.streamed = true});
  options.decoders = 1;
  const std::string first = message_of(streamed, options);
  EXPECT_NE(first, "");
  options.decoders = 4;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(message_of(streamed, options), first);
}

TEST(StreamedImages, BadOnesAreSkippedAndCounted) {
  const ImageSource images(19);
  const std::string whole = images.read(ImageSource::name(4));
  for (int i : {4, 9}) std::filesystem::remove(images.path() / ImageSource::name(i));
  const std::vector<double> wanted = trained(images.open({}), options_of());
  images.write(ImageSource::name(4), whole.substr(0, whole.size() / 2));
  Image small{.height = 2, .width = 2, .channels = 3, .pixels = std::vector<std::uint8_t>(12)};
  images.write(ImageSource::name(9), encode_png(small));
  for (bool streamed : {false, true}) {
    const Dataset data =
        images.open({.streamed = streamed, .on_bad_image = OnBadImage::skip, .threads = 3});
    EXPECT_EQ(data.size(), 17);
    const std::vector<std::string>& bad = data.info().bad_files;
    ASSERT_EQ(bad.size(), 2U);
    EXPECT_NE(bad[0].find("even/104.png'"), std::string::npos) << bad[0];
    EXPECT_NE(bad[1].find("odd/109.png' is 2 x 2; expected 10 x 12"), std::string::npos) << bad[1];
    EXPECT_EQ(trained(data, options_of()), wanted);
  }
}

TEST(StreamedImages, AreResizedAsAsked) {
  const ImageSource images(7);
  const Column resident = images.open({.size = {6, 5}}).inputs().at(0);
  const Column streamed = images.open({.streamed = true, .size = {6, 5}}).inputs().at(0);
  EXPECT_EQ(resident.record(), (Shape{6, 5, 3}));
  EXPECT_EQ(streamed.record(), resident.record());
  Tensor record(DType::u8, {1, 6, 5, 3});
  for (std::int64_t i = 0; i < 7; ++i) {
    streamed.source->read(i, record.writable_bytes());
    EXPECT_TRUE(same_bits(record, resident.data.rows(i, i + 1))) << i;
  }
}

/// Numbers made on demand; throws at record `bad`.
class Numbers final : public RecordSource {
 public:
  explicit Numbers(std::int64_t count, std::int64_t bad = -1) : count_(count), bad_(bad) {}
  std::int64_t size() const override { return count_; }
  DType dtype() const override { return DType::f32; }
  Shape record() const override { return {2}; }
  void read(std::int64_t index, std::span<std::byte> to) const override {
    ++reads;
    if (index == bad_) throw std::runtime_error("not one of ours");
    const float values[2] = {static_cast<float>(index), 1};
    std::memcpy(to.data(), values, sizeof values);
  }
  mutable std::atomic<int> reads = 0;

 private:
  std::int64_t count_;
  std::int64_t bad_;
};

Dataset numbers(std::int64_t count, std::int64_t bad = -1) {
  const std::vector<float> halves(static_cast<std::size_t>(count), 0.5F);
  return Dataset({{.name = "x", .source = std::make_shared<Numbers>(count, bad)}},
                 {{"y", records(halves, {1})}});
}

TEST(RecordSources, AStoppedEpochIsFollowedByAnother) {
  Model model(Network({2}, {Dense{.units = 1}}), {.device = "cpu"});
  struct Stop : Callback {
    bool stop_requested() override { return true; }
  } stop;
  const Dataset data = numbers(400);
  for (std::int64_t prefetch : {1, 3}) {
    const TrainingOptions options{.epochs = 2,
                                  .batch = 2,
                                  .optimizer = SGD{.learning_rate = 0},
                                  .prefetch = prefetch};
    const History history = train(model, data, options, &data, &stop);
    EXPECT_TRUE(history.interrupted);
    ASSERT_EQ(history.epochs.size(), 1U);
    EXPECT_EQ(history.epochs[0].test.samples, 400);
    EXPECT_EQ(train(model, data, options).epochs[1].train.samples, 400);
  }
}

TEST(RecordSources, AnExceptionOfAnyKindComesOut) {
  Model model(Network({2}, {Dense{.units = 1}}), {.device = "cpu"});
  EXPECT_THROW(train(model, numbers(50, 37), {.epochs = 2, .batch = 4}), std::runtime_error);
  EXPECT_NO_THROW(
      train(model, numbers(50), {.epochs = 1, .batch = 4, .optimizer = SGD{.learning_rate = 0}}));
}

TEST(RecordSources, AreReadNoFurtherAheadThanThePool) {
  Model model(Network({2}, {Dense{.units = 1}}), {.device = "cpu"});
  struct Stop : Callback {
    bool stop_requested() override { return true; }
  } stop;
  const Dataset data = numbers(4000);
  const History history =
      train(model, data,
            {.epochs = 1, .batch = 10, .optimizer = SGD{.learning_rate = 0}, .prefetch = 2},
            nullptr, &stop);
  const std::int64_t trained = history.epochs[0].train.samples;
  const int reads = static_cast<const Numbers&>(*data.inputs()[0].source).reads;
  EXPECT_GE(reads, trained);
  EXPECT_LE(reads, trained + 20);
}

TEST(RecordSources, ADataSetHasItsSamplesOnce) {
  Column both = numbers(3).inputs()[0];
  both.data = records(std::vector<float>(6, 1), {2});
  try {
    const Dataset data({both});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the column 'x' has its records both in memory and in a source");
  }
}

// ---- the ring itself

BatchStream::Fill counting(std::int32_t base) {
  return [base](std::uint64_t position, std::uint64_t count, std::span<std::byte* const> to) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::int32_t value = base + static_cast<std::int32_t>(position + i);
      std::memcpy(to[0] + i * sizeof value, &value, sizeof value);
    }
  };
}

std::int32_t at(const BatchStream& stream, std::size_t slot) {
  std::int32_t value = 0;
  std::memcpy(&value, stream.data(0) + slot * 3 * sizeof value, sizeof value);
  return value;
}

TEST(HostRing, BringsBatchesInOrderAndCanBeGivenUp) {
  for (std::size_t slots : {1, 2}) {
    cpu::HostBatchStream stream({.record_bytes = {4}, .batch = 3, .slots = slots});
    EXPECT_GE(stream.bytes(), slots * 12);
    for (std::int32_t pass : {100, 200, 300}) {
      stream.start(30, counting(pass));
      for (std::size_t batch = 0; batch < 4; ++batch) {
        const std::size_t slot = stream.acquire();
        EXPECT_EQ(slot, batch % slots);
        EXPECT_EQ(at(stream, slot), pass + 3 * static_cast<std::int32_t>(batch));
        stream.release();
      }
    }
  }
}

TEST(HostRing, WhatIsThrownComesOutBehindTheGoodBatches) {
  cpu::HostBatchStream stream({.record_bytes = {4}, .batch = 3, .slots = 2});
  stream.start(9, [](std::uint64_t position, std::uint64_t, std::span<std::byte* const>) {
    if (position == 3) throw Error("no more data");
  });
  EXPECT_EQ(stream.acquire(), 0U);
  stream.release();
  EXPECT_THROW(stream.acquire(), Error);
  stream.start(3, counting(5));
  EXPECT_EQ(at(stream, stream.acquire()), 5);
}

}  // namespace
}  // namespace linnet::testing
