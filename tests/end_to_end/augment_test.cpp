// SPDX-License-Identifier: Apache-2.0
// Augmentation as a part of training steps.
#include <gtest/gtest.h>

#include "fixtures.h"
#include "model/model_state.h"
#include "needed_passes.h"
#include "plan/passes/passes.h"

namespace linnet::testing {
namespace {

Dataset images(std::int64_t count, const Shape& shape, bool values = false) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count * shape.elements()));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 131 / 7);
  if (values) {
    return data_of(records(bytes, shape),
                   records(std::vector<float>(static_cast<std::size_t>(count * 3), 0.25F), {3}));
  }
  std::vector<std::int32_t> labels;
  for (std::int32_t i = 0; i < count; ++i) labels.push_back(i % 3);
  return data_of(records(bytes, shape), records(labels));
}

Network network(const Shape& sample = {8, 8, 3}) {
  return Network(sample, {Normalize{.mean = {0.5, 0.4, 0.3}, .std = {0.2, 0.3, 0.4}},
                          Conv2d{.filters = 3}, ReLU{}, Flatten{}, Dense{.units = 3}});
}

History trained(const Dataset& data, const TrainingOptions& options,
                const Dataset* test = nullptr) {
  Model model(network(), {.device = "cpu", .seed = 2});
  return train(model, data, options, test);
}

TEST(AugmentedTraining, EvaluatesTheMiddle) {
  const Dataset data = images(20, {11, 12, 3});
  Model model(network(), {.device = "cpu", .seed = 2});
  const History history =
      train(model, data, {.epochs = 1, .batch = 6, .augment = {.crop = true, .flip = 0.5}}, &data);
  const Evaluation middle = evaluate(model, centre_crop(data, 8, 8), Loss::automatic, 6);
  EXPECT_NEAR(history.epochs[0].test.loss, middle.loss, 1e-6);
  EXPECT_EQ(history.epochs[0].test.samples, 20);
}

TEST(AugmentedTraining, ResizesSmallerHeldOutImages) {
  const Dataset data = images(20, {11, 12, 3});
  const Dataset small = images(7, {5, 9, 3});
  Model model(network(), {.device = "cpu", .seed = 2});
  const History history = train(model, {.train = data, .validation = small},
                                {.epochs = 1, .batch = 6, .augment = {.crop = true}});
  TrainingRecord record = model.training_record();
  record.sample_shape = {5, 9, 3};
  model.set_training_record(record);
  const Evaluation resized = evaluate(model, fit_samples(small, model), Loss::automatic, 6);
  EXPECT_NEAR(history.epochs[0].validation.loss, resized.loss, 1e-6);
}

TEST(AugmentedTraining, DiffersByEpochAndSeedOnly) {
  const Dataset data = images(6, {8, 8, 3});
  const auto losses = [&](std::uint64_t seed) {
    // Nothing is learned and nothing shuffled: only the augmentation changes.
    const History history = trained(data, {.epochs = 2,
                                           .batch = 6,
                                           .optimizer = SGD{.learning_rate = 0},
                                           .shuffle = false,
                                           .seed = seed,
                                           .augment = {.padding = 3, .flip = 0.5}});
    return std::pair(history.epochs[0].train.loss, history.epochs[1].train.loss);
  };
  EXPECT_EQ(losses(1), losses(1));
  EXPECT_NE(losses(1), losses(2));
  EXPECT_NE(losses(1).first, losses(1).second);
}

TEST(AugmentedTraining, TurnsAlikeOnAnyNumberOfThreads) {
  const Dataset data = images(24, {8, 8, 3});
  const auto losses = [&](int threads, const Augment& augment) {
    Model model(network(), {.device = "cpu", .threads = threads, .seed = 2});
    return train(model, data, {.epochs = 2, .batch = 12, .seed = 3, .augment = augment})
        .epochs[1]
        .train.loss;
  };
  const Augment turned{.vertical_flip = 0.5, .rotate = 15};
  EXPECT_EQ(losses(1, turned), losses(3, turned));
  EXPECT_NE(losses(1, turned), losses(1, {.vertical_flip = 0.5}));
  EXPECT_NE(losses(1, {.vertical_flip = 0.5}), losses(1, {}));
}

/// Two epochs see each image once in each form, so their mean loss is that of a data set of both.
TEST(AugmentedTraining, AlternatingFlipsShowBothFormsInTwoEpochs) {
  const Dataset data = images(12, {8, 8, 3});
  const auto losses = [&](const Augment& augment) {
    return trained(data, {.epochs = 2,
                          .batch = 5,
                          .optimizer = SGD{.learning_rate = 0},
                          .seed = 4,
                          .augment = augment});
  };
  const double same = losses({}).epochs[0].train.loss;
  const double mirrored = losses({.flip = 1}).epochs[0].train.loss;
  const History turns = losses({.alternating_flip = true});
  const double first = turns.epochs[0].train.loss;
  EXPECT_NEAR(first + turns.epochs[1].train.loss, same + mirrored, 1e-5);
  EXPECT_GT(std::abs(first - same), 1e-4);
  EXPECT_GT(std::abs(first - mirrored), 1e-4);
}

TEST(AugmentedTraining, MixesLabelsAndValues) {
  for (const Augment& augment : {Augment{.mixup = 0.3}, Augment{.cutmix = 1},
                                 Augment{.padding = 1, .mixup = 1, .cutmix = 1}}) {
    const TrainingOptions options{.epochs = 2, .batch = 8, .augment = augment};
    const Dataset labelled = images(20, {8, 8, 3});
    const History of_labels = trained(labelled, options, &labelled);
    EXPECT_TRUE(std::isfinite(of_labels.epochs[1].train.loss));
    EXPECT_GE(of_labels.epochs[1].train.accuracy, 0);
    EXPECT_EQ(of_labels.epochs[1].test.samples, 20);
    const History of_values = trained(images(20, {8, 8, 3}, true), options);
    EXPECT_TRUE(std::isfinite(of_values.epochs[1].train.loss));
  }
}

/// With alpha near 0 a sample is taken whole, or its partner is: losses are those of labels.
TEST(AugmentedTraining, MixedTargetsFollowTheSamples) {
  const Dataset data = images(12, {8, 8, 3});
  const TrainingOptions plain{.epochs = 1,
                              .batch = 12,
                              .optimizer = SGD{.learning_rate = 0},
                              .shuffle = false};
  TrainingOptions mixed = plain;
  mixed.augment.mixup = 1e-4;
  EXPECT_NEAR(trained(data, mixed).epochs[0].train.loss, trained(data, plain).epochs[0].train.loss,
              1e-5);
}

std::size_t count(const Graph& graph, std::string_view op) {
  std::size_t found = 0;
  for (const Node& node : graph.nodes()) found += node.op->name() == op ? 1 : 0;
  return found;
}

TEST(AugmentedTraining, NormalisesInTheGather) {
  LINNET_NEEDS_PASSES("fuse_gather_scale");
  Model model(network(), {.device = "cpu"});
  const Dataset data = images(8, {8, 8, 3});
  const auto step = [&](const Augment& augment, std::vector<std::string> disabled) {
    const NetworkDefinition& definition = model.state().definition();
    return training_step(definition, step_data(definition, data, {.augment = augment}),
                         {.batch = 4,
                          .optimizer = resolve({.optimizer = Adam{}}, 1, 2),
                          .disabled_passes = std::move(disabled)},
                         supports_of(*model.state().backend));
  };
  const Graph fused = step({.flip = 0.5}, {});
  EXPECT_EQ(count(fused, "augment"), 1U);
  EXPECT_EQ(count(fused, "channel_scale"), 0U);
  EXPECT_EQ(count(step({.flip = 0.5}, {"fuse_gather_scale"}), "channel_scale"), 1U);
  EXPECT_EQ(count(step({}, {}), "augment"), 0U);
  TrainingOptions options{.epochs = 2, .batch = 3, .augment = {.padding = 2, .cutout = 3}};
  const double fused_loss = trained(data, options).epochs[1].train.loss;
  options.disabled_passes = {"fuse_gather_scale"};
  EXPECT_NEAR(trained(data, options).epochs[1].train.loss, fused_loss, 1e-5);
}

std::string message_of(const Dataset& data, const TrainingOptions& options) {
  try {
    trained(data, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(AugmentedTraining, SaysWhatDoesNotGoTogether) {
  const Dataset large = images(8, {11, 12, 3});
  EXPECT_EQ(message_of(large, {.augment = {.flip = 0.5}}),
            "the network takes samples of (8, 8, 3) but the data set 'data' holds (11, 12, 3)");
  EXPECT_EQ(message_of(large, {.augment = {.padding = 1, .resized_crop = true}}),
            "expected either a resized crop, or crop and padding; got both");
  EXPECT_EQ(message_of(images(8, {8, 8, 3}), {.augment = {.flip = 0.5, .alternating_flip = true}}),
            "expected either flip or alternating_flip; got both");
  EXPECT_EQ(message_of(images(8, {4, 4, 3}), {.augment = {.crop = true}}),
            "[augment 'samples'] a crop of 8 x 8 is larger than images of 4 x 4 padded by 0");
  EXPECT_EQ(message_of(images(8, {8, 8, 3}), {.loss = Loss::hinge, .augment = {.mixup = 1}}),
            "mixup and cutmix turn labels into distributions, which need the loss cross_entropy");
}

TEST(CentreCrop, TakesTheMiddle) {
  const std::vector<std::uint8_t> all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const Dataset data = data_of(records(all, {3, 4, 1}), records(std::vector<std::int32_t>{0}));
  const auto cropped = [&](std::int64_t height, std::int64_t width) {
    return vector_of<std::uint8_t>(first_input(centre_crop(data, height, width)));
  };
  EXPECT_EQ(cropped(1, 2), (std::vector<std::uint8_t>{5, 6}));
  EXPECT_EQ(cropped(3, 4), all);
  EXPECT_EQ(cropped(2, 3), (std::vector<std::uint8_t>{0, 1, 2, 4, 5, 6}));
  EXPECT_THROW(centre_crop(data, 4, 4), Error);
}

}  // namespace
}  // namespace linnet::testing
