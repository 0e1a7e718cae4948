// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/align.h"
#include "fixtures.h"
#include "networks/networks.h"
#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/conv2d/conv2d.h"
#include "ops/dropout/dropout.h"
#include "ops/pool2d/pool2d.h"

namespace linnet::testing {
namespace {

std::string network_error(Shape sample, std::vector<Layer> layers) {
  try {
    Network(std::move(sample), std::move(layers));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Network, MnistCnnIsThePublishedOne) {
  const Network network = workloads::mnist_cnn();
  EXPECT_EQ(network.parameters(), 31530);
  EXPECT_EQ(network.input_shape(), (Shape{28, 28, 1}));
  EXPECT_EQ(network.output_shape(), Shape{10});
  const NetworkSummary summary = summarize(network, 128);
  EXPECT_EQ(summary.parameters, 31530);
  // conv 2 * 784 * 144 and dense 2 * 31360, then what is element-wise.
  EXPECT_GE(summary.flops_per_sample, 288512);
  EXPECT_LT(summary.flops_per_sample, 1.2 * 288512);
  EXPECT_GT(summary.training.total(), summary.training.parameters);
}

TEST(Network, JsonKeepsEverything) {
  for (const Network& network : {workloads::mnist_cnn(), every_layer()}) {
    const Network read = Network::from_json(network.to_json());
    EXPECT_EQ(read.to_json(), network.to_json());
    EXPECT_EQ(read.parameters(), network.parameters());
    EXPECT_EQ(read.output_shape(), network.output_shape());
    const Dataset data = datasets::digits(4, 0, 1).train;
    if (network.input_shape() != data.inputs()[0].record()) continue;
    Model first(network, {.seed = 4});
    Model second(read, {.seed = 4});
    EXPECT_EQ(vector_of(first.predict(data)), vector_of(second.predict(data)));
  }
}

TEST(Network, AMovedOneCanBeAssignedTo) {
  const Network other({3}, {Dense{.units = 2}});
  Network from({4}, {Dense{.units = 2}});
  const Network to = std::move(from);
  const Network copied = from;  // NOLINT(bugprone-use-after-move): copies what is left
  from = copied;
  from = other;
  EXPECT_EQ(from.to_json(), other.to_json());
  EXPECT_EQ(to.input_shape(), (Shape{4}));
}

TEST(Network, DamagedJsonIsAnErrorOrANetwork) {
  const std::string whole = every_layer().to_json();
  std::mt19937 random(1);
  for (int i = 0; i < 4000; ++i) {
    std::string text = whole;
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      if (random() % 4 == 0) {
        text.erase(at, random() % 20);
      } else {
        text[at] = "0123456789-{}[]\",:aexnull"[random() % 25];
      }
      if (text.empty()) text.push_back(' ');
    }
    try {
      Network::from_json(text);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("the network description is damaged"), 0U);
    }
  }
}

TEST(Network, ErrorsNameTheLayerAndTheShapes) {
  EXPECT_EQ(network_error({3, 3, 2}, {Conv2d{.filters = 4, .kernel = 5, .name = "stem"}}),
            "[conv2d 'stem'] kernel (5, 5) is larger than the padded input (3, 3); got x=(N, 3, 3, "
            "2), w=(4, 5, 5, 2)");
  EXPECT_EQ(network_error({}, {Dense{.units = 10}}),
            "expected a network input of at least one element; got () for 'input'");
  EXPECT_EQ(network_error({7}, {Conv2d{.filters = 4}}),
            "[conv2d 'conv2d_1'] expected images (N, H, W, C); got (N, 7)");
  EXPECT_EQ(network_error({4, 4, 3}, {Conv2d{.filters = 4, .groups = 2}}),
            "[conv2d 'conv2d_1'] expected groups that divide 3 channels and 4 filters; got 2");
  EXPECT_EQ(network_error({4, 4, 3}, {Reshape{.sample = {7}}}),
            "[reshape 'reshape_1'] expected a shape of 48 elements for samples of (4, 4, 3); got "
            "(7)");
  EXPECT_EQ(network_error({4}, {Dense{.units = 2, .name = "a"}, Dense{.units = 2, .name = "a"}}),
            "[dense 'a'] expected a name of its own; another layer has this name");
  EXPECT_EQ(network_error({}, {}),
            "expected a network input of at least one element; got () for 'input'");
}

template <class O>
auto settings(const Network& network, std::size_t node) {
  return dynamic_cast<const O&>(*network.definition().graph.nodes().at(node).op).attrs();
}

TEST(Network, LayersHandOnEverySetting) {
  const Padding2d fixed{Padding2d::Mode::fixed, 1, 0, 2, 1};
  const Network network({20, 31, 4},
                        {Conv2d{.filters = 6,
                                .kernel = {3, 5},
                                .stride = {2, 1},
                                .padding = Padding2d::same(),
                                .dilation = {1, 2},
                                .groups = 2,
                                .bias = false},
                         MaxPool2d{.size = {2, 3}, .stride = {1, 2}, .padding = fixed},
                         AvgPool2d{.size = {2, 3}}, BatchNorm{.epsilon = 0.25, .momentum = 0.75},
                         Dropout{.rate = 0.125}, Dropout{.rate = 0.125}});
  EXPECT_EQ(settings<Conv2dOp>(network, 0), (Conv2dAttrs{.stride_h = 2,
                                                         .stride_w = 1,
                                                         .dilation_h = 1,
                                                         .dilation_w = 2,
                                                         .groups = 2,
                                                         .pad_top = 0,
                                                         .pad_bottom = 1,
                                                         .pad_left = 4,
                                                         .pad_right = 4}));
  EXPECT_EQ(settings<MaxPool2dOp>(network, 1), (Pool2dAttrs{.size_h = 2,
                                                            .size_w = 3,
                                                            .stride_h = 1,
                                                            .stride_w = 2,
                                                            .pad_top = 1,
                                                            .pad_bottom = 0,
                                                            .pad_left = 2,
                                                            .pad_right = 1}));
  EXPECT_EQ(settings<AvgPool2dOp>(network, 2),
            (Pool2dAttrs{.size_h = 2, .size_w = 3, .stride_h = 2, .stride_w = 3}));
  EXPECT_EQ(settings<BatchNormOp>(network, 3), (BatchNormAttrs{.epsilon = 0.25, .momentum = 0.75}));
  EXPECT_EQ(settings<DropoutOp>(network, 4).rate, 0.125);
  EXPECT_NE(settings<DropoutOp>(network, 4).stream, settings<DropoutOp>(network, 5).stream);
  EXPECT_EQ(network.parameters(), 6 * 3 * 5 * 2 + 2 * 6);
  const Network simple({2}, {ReLU{}, Tanh{}, Sigmoid{}, GELU{}, Rescale{.scale = 3, .shift = 5}});
  const std::vector<Activation> kinds{Activation::relu, Activation::tanh, Activation::sigmoid,
                                      Activation::gelu};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(settings<ActivationOp>(simple, i).kind, kinds[i]);
  EXPECT_EQ(settings<ScaleOp>(simple, 4), (ScaleAttrs{.alpha = 3, .beta = 5}));
}

TEST(Network, WeightsStartAsTheirLayersSay) {
  const Initializer twos{Initializer::Kind::constant, 2};
  const Initializer threes{Initializer::Kind::constant, 3};
  Model model(Network({4, 4, 1},
                      {Conv2d{.filters = 2, .weight_init = twos, .bias_init = threes, .name = "c"},
                       BatchNorm{.name = "n"}, Flatten{},
                       Dense{.units = 2, .weight_init = twos, .bias_init = threes, .name = "d"},
                       Dense{.units = 2, .bias = false, .name = "e"}}));
  for (const char* layer : {"c", "d"}) {
    EXPECT_EQ(parameter(model, std::string(layer) + ".weight")[0], 2);
    EXPECT_EQ(parameter(model, std::string(layer) + ".bias"), (std::vector<float>{3, 3}));
  }
  EXPECT_EQ(parameter(model, "n.weight"), (std::vector<float>{1, 1}));
  EXPECT_EQ(parameter(model, "n.bias"), (std::vector<float>{0, 0}));
  EXPECT_EQ(parameter(model, "n.running_mean"), (std::vector<float>{0, 0}));
  EXPECT_EQ(parameter(model, "n.running_var"), (std::vector<float>{1, 1}));
  EXPECT_EQ(model.parameter_names().back(), "e.weight");
}

TEST(Network, EveryWeightHasItsOwnNumbersAndASeedItsOwnWeights) {
  const Network network({5}, {Dense{.units = 5, .name = "a"}, Dense{.units = 5, .name = "b"}});
  Model model(network, {.seed = 1});
  EXPECT_NE(parameter(model, "a.weight"), parameter(model, "b.weight"));
  EXPECT_EQ(parameter(model, "a.weight"), parameter(Model(network, {.seed = 1}), "a.weight"));
  EXPECT_NE(parameter(model, "a.weight"), parameter(Model(network, {.seed = 2}), "a.weight"));
}

TEST(Network, WeightsLieApartAndAligned) {
  const Network network = every_layer();
  std::size_t end[2] = {0, 0};
  ASSERT_GT(network.definition().parameters.size(), 2U);
  for (const ParameterSpec& spec : network.definition().parameters) {
    std::size_t& last = end[spec.trainable ? 1 : 0];
    EXPECT_EQ(align_up(spec.offset), spec.offset) << spec.name;
    EXPECT_GE(spec.offset, last) << spec.name;
    last = spec.offset + sizeof(float) * static_cast<std::size_t>(spec.shape.elements());
  }
}

TEST(Network, JsonKeepsWhatTrains) {
  const Network network({4}, {BatchNorm{}, Dense{.units = 2, .name = "d"}});
  const Network read = Network::from_json(network.to_json());
  EXPECT_EQ(read.parameters(), network.parameters());
  for (std::size_t i = 0; i < read.definition().parameters.size(); ++i) {
    const ParameterSpec& was = network.definition().parameters[i];
    const ParameterSpec& is = read.definition().parameters[i];
    EXPECT_EQ(is.trainable, was.trainable) << was.name;
    EXPECT_EQ(is.fan_in, was.fan_in) << was.name;
    EXPECT_EQ(is.fan_out, was.fan_out) << was.name;
  }
}

TEST(Network, ShapesOfJsonAreChecked) {
  const std::string rest = R"(,"parameters":[],"nodes":[],"output":"input"})";
  const auto error = [&](const std::string& input) -> std::string {
    try {
      Network::from_json(R"({"format":1,"input":)" + input + rest);
    } catch (const Error& caught) {
      return caught.what();
    }
    return "";
  };
  EXPECT_EQ(error("[3]"), "");
  EXPECT_EQ(error("[3,0]"),
            "the network description is damaged: the shape (3, 0) has a dimension below 1");
  EXPECT_EQ(error("[2097152,2097152]"),
            "the network description is damaged: the shape (2097152, 2097152) is too large");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(Network, JsonNamesTheOutputOfAnOperator) {
  const std::string text = replaced(Network({3, 2}, {GRU{.units = 4}}).to_json(),
                                    R"("value":"#0.1")", R"("value":"#0.0")");
  EXPECT_EQ(Network::from_json(text).to_json(), text);
  EXPECT_EQ(Network::from_json(text).output_shape(), (Shape{3, 4}));
}

TEST(Network, InitializersStandInFilesByName) {
  const Network network(
      {4}, {Dense{.units = 2, .weight_init = {Initializer::Kind::he_normal, 0}, .name = "d"}});
  const std::string json = network.to_json();
  const auto error = [&](const std::string& init) -> std::string {
    try {
      Network::from_json(replaced(json, R"("init":"he_normal")", "\"init\":" + init));
    } catch (const Error& caught) {
      return caught.what();
    }
    return "";
  };
  EXPECT_EQ(error(R"("he_uniform")"), "");
  EXPECT_EQ(error(R"("he_norml")"),
            "the network description is damaged: unknown initializer 'he_norml'");
  EXPECT_EQ(error("6"), "") << "formats 1 and 2 have numbers";
  EXPECT_EQ(error("99"),
            "the network description is damaged: parameter 'd.weight' has an unknown initializer");
}

TEST(Summary, CountsByLayer) {
  const NetworkSummary summary =
      summarize(Network({4}, {Dense{.units = 3, .name = "a"}, Dense{.units = 1, .name = "b"}}), 8);
  ASSERT_EQ(summary.layers.size(), 2U);
  EXPECT_EQ(summary.layers[0].parameters, 15);
  EXPECT_EQ(summary.layers[1].parameters, 4);
  double flops = 0;
  for (const LayerSummary& layer : summary.layers) flops += layer.flops_per_sample;
  EXPECT_DOUBLE_EQ(flops, summary.flops_per_sample);
  EXPECT_GT(summary.layers[0].flops_per_sample, 2 * 4 * 3);  // the bias counts as well
  const Network one({4}, {Dense{.units = 1}});
  EXPECT_NE(dump_training_step(one, 8, Dump::graph).find("element_loss"), std::string::npos);
}

TEST(Summary, HasEachLayersTypeSettingsAndLastShape) {
  const Network network({8, 4}, {Conv1d{.filters = 6, .kernel = 1}, MaxPool1d{}, Flatten{},
                                 Dense{.units = 2, .bias = false}});
  const NetworkSummary summary = summarize(Network::from_json(network.to_json()), 8);
  ASSERT_EQ(summary.layers.size(), 4U);
  EXPECT_EQ(summary.layers[0].settings, "filters = 6, kernel = 1");
  EXPECT_EQ(summary.layers[0].output, (Shape{8, 6})) << "not the image of one row within it";
  EXPECT_EQ(summary.layers[1].kind, "max_pool1d");
  EXPECT_EQ(summary.layers[1].output, (Shape{4, 6}));
  EXPECT_EQ(summary.layers[1].settings, "");
  EXPECT_EQ(summary.layers[3].settings, "units = 2, bias = false");
}

TEST(Summary, ALayerOfSeveralPartsIsOneRow) {
  const Network network({4, 6}, {TransformerEncoderLayer{.heads = 2, .activation = GELU{}},
                                 Residual{.body = {Dense{.units = 6}}}});
  std::int64_t parameters = 0;
  std::vector<std::string> names;
  for (const LayerSummary& layer : summarize(network, 8).layers) {
    names.push_back(layer.name);
    parameters += layer.parameters;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"transformer_encoder_layer_1",
                                             "transformer_encoder_layer_1.gelu_1",
                                             "residual_1.dense_1", "residual_1"}));
  EXPECT_EQ(parameters, network.parameters()) << "each is counted once";
}

TEST(Network, PaddingSameKeepsTheSize) {
  for (std::int64_t size : {5, 6, 7, 8}) {
    for (std::int64_t stride : {1, 2, 3}) {
      const Network network(
          {size, size, 1},
          {Conv2d{.filters = 2, .kernel = 3, .stride = stride, .padding = Padding2d::same()}});
      const std::int64_t out = (size + stride - 1) / stride;
      EXPECT_EQ(network.output_shape(), (Shape{out, out, 2}));
    }
  }
}

double std_dev(const std::vector<float>& values) {
  double sum = 0;
  double squares = 0;
  for (float v : values) {
    sum += v;
    squares += static_cast<double>(v) * v;
  }
  const auto n = static_cast<double>(values.size());
  return std::sqrt(std::max(squares / n - sum / n * (sum / n), 0.0));
}

TEST(Initializer, HasItsDocumentedSpread) {
  using Kind = Initializer::Kind;
  const auto spread = [](Kind kind, double value = 0) {
    Model model(Network({300}, {Dense{.units = 200, .weight_init = {kind, value}, .name = "d"}}));
    return std_dev(parameter(model, "d.weight"));
  };
  EXPECT_NEAR(spread(Kind::glorot_uniform), std::sqrt(2.0 / 500), 4e-4);
  EXPECT_NEAR(spread(Kind::glorot_normal), std::sqrt(2.0 / 500), 4e-4);
  EXPECT_NEAR(spread(Kind::he_uniform), std::sqrt(2.0 / 300), 4e-4);
  EXPECT_NEAR(spread(Kind::he_normal), std::sqrt(2.0 / 300), 4e-4);
  EXPECT_NEAR(spread(Kind::uniform, 0.3), 0.3 / std::sqrt(3.0), 2e-3);
  EXPECT_NEAR(spread(Kind::normal, 0.3), 0.3, 2e-3);
  EXPECT_EQ(spread(Kind::constant, 0.3), 0);
}

TEST(Initializer, AConvolutionsFansCountItsKernel) {
  Model model(Network({9, 9, 16}, {Conv2d{.filters = 64, .kernel = 5, .name = "c"}}));
  EXPECT_NEAR(std_dev(parameter(model, "c.weight")), std::sqrt(2.0 / (25 * (16 + 64))), 3e-4);
}

}  // namespace
}  // namespace linnet::testing
