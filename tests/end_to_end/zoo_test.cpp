// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "data/targets.h"
#include "fixtures.h"
#include "networks/networks.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/conv2d/conv2d.h"
#include "ops/dropout/dropout.h"

namespace linnet::testing {
namespace {

template <class O>
std::int64_t count(const Network& network) {
  const auto& nodes = network.definition().graph.nodes();
  return std::count_if(nodes.begin(), nodes.end(), [](const Node& node) {
    return dynamic_cast<const O*>(node.op.get()) != nullptr;
  });
}

TEST(Zoo, ResNetsHaveThePublishedNumbersOfParameters) {
  EXPECT_EQ(zoo::resnet50({.classes = 10}).parameters(), 23528522);
  EXPECT_EQ(zoo::resnet50({.classes = 100}).parameters(), 23712932);
  EXPECT_EQ(zoo::resnet50({.sample = {224, 224, 3}, .classes = 0}).parameters(), 23508032);
  const Shape image{224, 224, 3};
  EXPECT_EQ(zoo::resnet18({.sample = image, .classes = 1000}).parameters(), 11689512);
  EXPECT_EQ(zoo::resnet34({.sample = image, .classes = 1000}).parameters(), 21797672);
  EXPECT_EQ(zoo::resnet50({.sample = image, .classes = 1000}).parameters(), 25557032);
  EXPECT_EQ(zoo::resnet101({.sample = image, .classes = 1000}).parameters(), 44549160);
  // As its documentation says.
  EXPECT_EQ(zoo::resnet18().parameters(), 11181642);
  EXPECT_EQ(zoo::resnet34().parameters(), 21289802);
  EXPECT_EQ(zoo::resnet101().parameters(), 42520650);
}

TEST(Zoo, ResNet50IsThePublishedOne) {
  const Network network = zoo::resnet50({.sample = {224, 224, 3}, .classes = 0});
  EXPECT_EQ(count<Conv2dOp>(network), 53);
  EXPECT_EQ(count<BatchNormOp>(network), 53);
  EXPECT_EQ(network.output_shape(), Shape{2048});
  std::map<std::string, Shape> samples;  // by node
  for (const Node& node : network.definition().graph.nodes()) {
    const Graph& graph = network.definition().graph;
    const auto* conv = dynamic_cast<const Conv2dOp*>(node.op.get());
    if (conv == nullptr) continue;
    EXPECT_FALSE(conv->attrs().bias);
    // v1.5: strides stand in 3x3 convolutions, beside the stem and the projections.
    const std::int64_t kernel = graph.shape(node.inputs[1])[1];
    if (conv->attrs().stride_h == 2 && kernel == 1) {
      EXPECT_NE(node.name.find(".shortcut.conv"), std::string::npos) << node.name;
    }
    samples[node.name + " in"] = graph.shape(node.inputs[0]).sample();
    samples[node.name + " out"] = graph.shape(node.outputs[0]).sample();
  }
  EXPECT_EQ(samples["layer1.0.conv1 in"], (Shape{56, 56, 64}));
  EXPECT_EQ(samples["layer4.2.conv3 out"], (Shape{7, 7, 2048}));
}

TEST(Zoo, CifarResNetsAreThePublishedOnes) {
  EXPECT_EQ(zoo::cifar_resnet(20).parameters(), 269722);
  EXPECT_EQ(zoo::cifar_resnet(32).parameters(), 464154);
  EXPECT_EQ(zoo::cifar_resnet(44).parameters(), 658586);
  EXPECT_EQ(zoo::cifar_resnet(56).parameters(), 853018);
  EXPECT_EQ(zoo::cifar_resnet(110).parameters(), 1727962);
  EXPECT_EQ(count<Conv2dOp>(zoo::cifar_resnet(20)), 19);
  EXPECT_THROW(zoo::cifar_resnet(18), Error);
  EXPECT_EQ(zoo::lstm_text().parameters(), 3841002);
}

TEST(Zoo, ResNetsForSmallImagesAndOfFormV1) {
  zoo::ImageOptions options{.classes = 0};
  options.small_stem = true;
  Network network = zoo::resnet18(options);
  EXPECT_EQ(network.definition().graph.shape(network.definition().graph.nodes()[1].outputs[0]),
            (Shape{kTemplateBatch, 32, 32, 64}));
  options = {.classes = 0};
  options.stride_first = true;
  network = zoo::resnet50(options);
  for (const Node& node : network.definition().graph.nodes()) {
    const auto* conv = dynamic_cast<const Conv2dOp*>(node.op.get());
    if (conv == nullptr || node.name != "layer2.0.conv1") continue;
    EXPECT_EQ(conv->attrs().stride_h, 2);
  }
  EXPECT_EQ(zoo::resnet50(options).parameters(), zoo::resnet50({.classes = 0}).parameters());
}

TEST(Zoo, ResNetsRefuseWhatIsNoImage) {
  try {
    zoo::resnet18({.sample = {32, 32}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a ResNet expects images (H, W, C); got samples of (32, 32)");
  }
}

/// Eight images of digits' bytes: what learns can tell them apart.
TEST(Zoo, ResNet50LearnsAHandfulOfImages) {
  const Dataset digits = datasets::digits(12, 0, 6).train;
  const auto drawn = first_input(digits).as<std::uint8_t>();
  std::vector<std::uint8_t> pixels(8 * 32 * 32 * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = drawn[i * 7 % drawn.size()];
  const std::vector<std::int32_t> labels{0, 1, 0, 1, 1, 0, 1, 0};
  const Dataset images = data_of(records(pixels, {32, 32, 3}), records(labels));
  Model model(zoo::resnet50({.classes = 2}), {.device = "cpu"});
  const History history =
      train(model, images, {.epochs = 6, .batch = 8, .optimizer = Adam{.learning_rate = 2e-4}});
  EXPECT_GT(history.epochs.front().train.loss, 0.3);
  EXPECT_LT(history.epochs.back().train.loss, 0.1);
}

TEST(Zoo, TheWorkloadsHaveTheirNumbersOfParameters) {
  EXPECT_EQ(workloads::mnist_cnn().parameters(), 31530);
  EXPECT_EQ(workloads::flux_cnn().parameters(), 39558);
  EXPECT_EQ(workloads::vgg_cifar10().parameters(), 3441592);
  EXPECT_EQ(workloads::gru_imdb().parameters(), 3818302);
  const Shape image{224, 224, 3};
  EXPECT_EQ(zoo::densenet121({.sample = image, .classes = 14}).parameters(), 6968206);
  EXPECT_EQ(zoo::resnet50({.sample = image, .classes = 0}).parameters(), 23508032);
}

TEST(Zoo, DenseNetsAndVggsHaveThePublishedNumbersOfParameters) {
  const Shape image{224, 224, 3};
  EXPECT_EQ(zoo::densenet121({.sample = image, .classes = 1000}).parameters(), 7978856);
  EXPECT_EQ(zoo::densenet169({.sample = image, .classes = 1000}).parameters(), 14149480);
  EXPECT_EQ(zoo::vgg11().parameters(), 132863336);
  EXPECT_EQ(zoo::vgg11({.batch_norm = true}).parameters(), 132868840);
  EXPECT_EQ(zoo::vgg16().parameters(), 138357544);
  EXPECT_EQ(zoo::vgg16({.batch_norm = true}).parameters(), 138365992);
}

TEST(Zoo, LaterNetworksHaveThePublishedNumbersOfParameters) {
  const zoo::ImageOptions image{.sample = {224, 224, 3}, .classes = 1000};
  EXPECT_EQ(zoo::mobilenet_v2(image).parameters(), 3504872);
  EXPECT_EQ(zoo::mobilenet_v3_small(image).parameters(), 2542856);
  EXPECT_EQ(zoo::mobilenet_v3_large(image).parameters(), 5483032);
  const std::vector<std::int64_t> efficientnets{5288548, 7794184, 9109994};
  for (std::size_t i = 0; i < efficientnets.size(); ++i) {
    EXPECT_EQ(zoo::efficientnet(static_cast<std::int64_t>(i), image).parameters(),
              efficientnets[i]);
  }
  const std::map<std::string, std::int64_t> convnexts{{"atto", 3695520},
                                                      {"femto", 5217784},
                                                      {"pico", 9045672},
                                                      {"nano", 15593560},
                                                      {"tiny", 28589128}};
  for (const auto& [size, parameters] : convnexts) {
    EXPECT_EQ(zoo::convnext(size, image).parameters(), parameters) << size;
  }
  const std::map<std::string, std::int64_t> regnets{{"x_400mf", 5495976}, {"x_800mf", 7259656},
                                                    {"x_1_6gf", 9190136}, {"y_400mf", 4344144},
                                                    {"y_800mf", 6432512}, {"y_1_6gf", 11202430}};
  for (const auto& [size, parameters] : regnets) {
    EXPECT_EQ(zoo::regnet(size, image).parameters(), parameters) << size;
  }
  EXPECT_EQ(zoo::vit("tiny", image).parameters(), 5717416);
  EXPECT_EQ(zoo::vit("small", image).parameters(), 22050664);
  EXPECT_EQ(zoo::vit("base", image).parameters(), 86567656);
}

TEST(Zoo, UnknownSizesNameThoseThatExist) {
  const auto error_of = [](const std::function<void()>& make) -> std::string {
    try {
      make();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of([] { zoo::convnext("large"); }),
            "unknown ConvNeXt 'large'; expected atto, femto, pico, nano or tiny");
  EXPECT_EQ(error_of([] { zoo::regnet("y_400"); }),
            "unknown RegNet 'y_400'; did you mean 'y_400mf'?");
  EXPECT_EQ(error_of([] { zoo::efficientnet(3); }),
            "expected an EfficientNet of B0 to B2, 0 to 2; got 3");
  EXPECT_EQ(error_of([] {
              zoo::vit("tiny", {.sample = {12, 32, 3}});
            }),
            "a ViT expects images of at least 16 x 16; got (12, 32, 3)");
}

TEST(Zoo, NamesAreThoseOfTorchvision) {
  const auto shape_of = [](const Network& network, std::string_view name) {
    for (const ParameterSpec& spec : network.definition().parameters) {
      if (spec.name == name) return spec.shape;
    }
    return Shape{};
  };
  const Network densenet = zoo::densenet121({.sample = {64, 64, 3}, .classes = 14});
  EXPECT_EQ(shape_of(densenet, "features.conv0.weight"), (Shape{64, 7, 7, 3}));
  EXPECT_EQ(shape_of(densenet, "features.denseblock3.denselayer24.norm1.weight"), Shape{992});
  EXPECT_EQ(shape_of(densenet, "features.denseblock4.denselayer16.conv2.weight"),
            (Shape{32, 3, 3, 128}));
  EXPECT_EQ(shape_of(densenet, "features.transition3.conv.weight"), (Shape{512, 1, 1, 1024}));
  EXPECT_EQ(shape_of(densenet, "features.norm5.running_var"), Shape{1024});
  EXPECT_EQ(shape_of(densenet, "classifier.weight"), (Shape{14, 1024}));
  const Network vgg = zoo::vgg16({.sample = {32, 32, 3}, .classes = 10, .batch_norm = true});
  EXPECT_EQ(shape_of(vgg, "features.40.weight"), (Shape{512, 3, 3, 512}));
  EXPECT_EQ(shape_of(vgg, "features.41.running_mean"), Shape{512});
  EXPECT_EQ(shape_of(vgg, "classifier.0.weight"), (Shape{4096, 512}));
  EXPECT_EQ(shape_of(vgg, "classifier.6.weight"), (Shape{10, 4096}));
}

TEST(Zoo, WithoutClassesTheFeaturesAreLeft) {
  EXPECT_EQ(workloads::mnist_cnn({.sample = {28, 28, 1}, .classes = 0}).output_shape(),
            Shape{3136});
  EXPECT_EQ(workloads::flux_cnn({.classes = 0}).output_shape(), Shape{84});
  EXPECT_EQ(workloads::vgg_cifar10({.classes = 0}).output_shape(), Shape{512});
  EXPECT_EQ(zoo::vgg11({.sample = {32, 32, 3}, .classes = 0}).output_shape(), Shape{4096});
  EXPECT_EQ(zoo::densenet169({.classes = 0}).output_shape(), Shape{1664});
  EXPECT_THROW(zoo::resnet18({.classes = -1}), Error);
  EXPECT_THROW(zoo::vgg11({.sample = {16, 16, 3}}), Error);
  EXPECT_THROW(zoo::densenet121({.sample = {32, 32}}), Error);
}

/// Equal seeds must not give equal masks to two layers.
TEST(Zoo, DropoutsDrawDifferentMasks) {
  const Network network = workloads::vgg_cifar10();
  std::vector<std::int64_t> streams;
  for (const Node& node : network.definition().graph.nodes()) {
    if (const auto* op = dynamic_cast<const DropoutOp*>(node.op.get())) {
      streams.push_back(op->attrs().stream);
    }
  }
  ASSERT_EQ(streams.size(), 3U);
  std::sort(streams.begin(), streams.end());
  EXPECT_EQ(std::unique(streams.begin(), streams.end()), streams.end());
}

TEST(Zoo, MlpsAreAsWideAsTold) {
  EXPECT_EQ(workloads::rosenbrock_mlp().parameters(), 1002001);
  EXPECT_EQ(workloads::rosenbrock_mlp().output_shape(), Shape{1});
  const std::vector<std::int64_t> hidden{5, 7};
  const Network network = zoo::mlp(3, hidden, ReLU{}, 2);
  EXPECT_EQ(network.parameters(), 4 * 5 + 6 * 7 + 8 * 2);
  EXPECT_EQ(network.definition().graph.nodes().size(), 8U);
  EXPECT_EQ(zoo::mlp(3, {}, ReLU{}, 2).parameters(), 4 * 2);
}

TEST(Rosenbrock, IsTheFunctionStandardised) {
  const Splits pair = datasets::rosenbrock(2000, 500, 5, 9);
  EXPECT_EQ(pair.train.size(), 2000);
  EXPECT_EQ(pair.test.size(), 500);
  EXPECT_EQ(pair.train.inputs()[0].record(), Shape{5});
  EXPECT_EQ(pair.train.targets()[0].record(), Shape{1});
  const auto [least, most] = std::ranges::minmax_element(first_input(pair.train).as<float>());
  EXPECT_GE(*least, -1);
  EXPECT_LT(*least, -0.99);
  EXPECT_LT(*most, 1);
  EXPECT_GT(*most, 0.99);
  double sum = 0;
  double squares = 0;
  for (float y : values_of(pair.train)) {
    sum += y;
    squares += static_cast<double>(y) * y;
  }
  EXPECT_NEAR(sum / 2000, 0, 1e-5);
  EXPECT_NEAR(squares / 2000, 1, 1e-5);

  // Any two points give the standard deviation and the mean; then all others must fit, also the
  // test's.
  const auto plain = [](const Dataset& data, std::size_t n) {
    const auto x = first_input(data).as<float>().subspan(5 * n, 5);
    double y = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const double a = x[i];
      const double b = x[i + 1];
      y += 100 * std::pow(b - a * a, 2) + std::pow(1 - a, 2);
    }
    return y;
  };
  const std::span<const float> values = values_of(pair.train);
  const double std_dev = (plain(pair.train, 0) - plain(pair.train, 1)) / (values[0] - values[1]);
  const double mean = plain(pair.train, 0) - std_dev * values[0];
  for (const Dataset* data : {&pair.train, &pair.test}) {
    for (std::size_t n = 0; n < 500; ++n) {
      EXPECT_NEAR(values_of(*data)[n], (plain(*data, n) - mean) / std_dev, 1e-4);
    }
  }
}

TEST(Rosenbrock, IsAFunctionOfTheSeed) {
  const Splits first = datasets::rosenbrock(50, 20, 6, 1);
  const Tensor points = first_input(first.train);
  EXPECT_TRUE(same_bits(first_input(datasets::rosenbrock(50, 20, 6, 1).train), points));
  EXPECT_FALSE(same_bits(first_input(datasets::rosenbrock(50, 20, 6, 2).train), points));
  EXPECT_TRUE(same_bits(first_input(datasets::rosenbrock(90, 0, 6, 1).train).rows(0, 50), points));
  EXPECT_FALSE(same_bits(first_input(first.test), points.rows(0, 20)));
  EXPECT_THROW(datasets::rosenbrock(5, 0, 1, 1), Error);
  EXPECT_THROW(datasets::rosenbrock(-1, 0, 5, 1), Error);
  EXPECT_THROW(datasets::rosenbrock(std::int64_t{1} << 60, 0, 5, 1), Error);
}

TEST(Rosenbrock, AnMlpLearnsIt) {
  const Splits pair = datasets::rosenbrock(4000, 500, 3, 2);
  const std::vector<std::int64_t> hidden{48};
  Model model(zoo::mlp(3, hidden, Tanh{}, 1), {.device = "cpu"});
  const History history =
      train(model, pair.train,
            {.epochs = 25, .batch = 64, .optimizer = Adam{.learning_rate = 5e-3}}, &pair.test);
  EXPECT_GT(history.epochs.front().train.loss, 0.4);
  EXPECT_LT(history.epochs.back().test.loss, 0.1);
}

}  // namespace
}  // namespace linnet::testing
