// SPDX-License-Identifier: Apache-2.0
#include <linnet/c_export.h>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "c_export/function_file.h"
#include "c_export/writers.h"
#include "compiled_c.h"
#include "message_of.h"

namespace linnet::testing {
namespace {

constexpr double kClose = 2e-6;  // relative to the largest output; sums have another order

TEST(CExport, Perceptron) {
  const Network network({13},
                        {Rescale{0.5}, Dense{.units = 32}, ReLU{},
                         Dense{.units = 17, .bias = false}, Tanh{}, Dense{.units = 10}, Softmax{}});
  EXPECT_LT(difference(network), kClose);
}

TEST(CExport, Activations) {
  std::vector<Layer> layers{Dense{.units = 9},
                            Sigmoid{},
                            Dense{.units = 9},
                            GELU{},
                            LeakyReLU{.slope = 0.1},
                            ELU{},
                            SELU{},
                            SiLU{},
                            Dense{.units = 9},
                            Softplus{},
                            HardSigmoid{},
                            Dense{.units = 9},
                            HardSwish{},
                            HardTanh{},
                            LogSoftmax{}};
  EXPECT_LT(difference(Network({5}, layers)), kClose);
}

TEST(CExport, Convolutions) {
  const Network network(
      {13, 11, 3},
      {Normalize{.mean = {0.1, 0.2, 0.3}, .std = {1, 2, 3}},
       Conv2d{.filters = 8, .kernel = {3, 5}, .stride = {2, 1}, .padding = Padding2d::same()},
       BatchNorm{}, ReLU{}, MaxPool2d{.size = 3, .stride = 2, .padding = Padding2d::all(1)},
       Conv2d{.filters = 12, .kernel = 3, .padding = Padding2d::all(2), .dilation = 2, .groups = 4},
       Conv2d{.filters = 6, .kernel = 1, .bias = false}, GroupNorm{.groups = 3},
       AvgPool2d{.size = 2, .stride = 1, .padding = Padding2d::all(1)}, Flatten{},
       Dense{.units = 7}});
  EXPECT_LT(difference(network), kClose);
}

TEST(CExport, BranchesAndGlobalPools) {
  const Network network(
      {8, 8, 4},
      {Residual{.body = {Conv2d{.filters = 4, .padding = Padding2d::same()}, BatchNorm{}}}, ReLU{},
       Concat{.branches = {{}, {Conv2d{.filters = 3, .kernel = 1}}, {LayerNorm{}}}},
       Dropout{.rate = 0.5}, Concat{.branches = {{GlobalAvgPool2d{}}, {GlobalMaxPool2d{}}}},
       Dense{.units = 5}});
  EXPECT_LT(difference(network), kClose);
}

TEST(CExport, PoolingInBinsAndOverSteps) {
  const Network images(
      {7, 8, 3},
      {AvgPool2d{.size = 3, .stride = 2, .padding = Padding2d::all(1), .count_include_pad = false},
       AdaptiveAvgPool2d{.output = {3, 2}}, Flatten{}, Dense{.units = 5}});
  EXPECT_LT(difference(images), kClose);
  const Network steps({6, 4}, {Concat{.branches = {{GlobalAvgPool1d{}}, {GlobalMaxPool1d{}}}},
                               Dense{.units = 3}});
  EXPECT_LT(difference(steps), kClose);
}

TEST(CExport, RecurrentLayers) {
  const Network network(
      {9},
      {Embedding{.vocabulary = 20, .features = 6}, GRU{.units = 7, .return_sequences = true},
       Bidirectional{.layer = LSTM{.units = 5, .return_sequences = true}},
       SimpleRNN{.units = 8, .activation = SimpleRNN::Activation::relu, .return_sequences = true},
       SimpleRNN{.units = 8, .return_sequences = true, .reverse = true}, LayerNorm{},
       GRU{.units = 6, .bias = false}, Dense{.units = 2}},
      DType::i32);
  EXPECT_LT(difference_of_ids(network), kClose);
}

/// The difference of a function of x (2, `sample`).
double difference_of(const Shape& sample, const std::function<Expression(const Expression&)>& f,
                     const CExportOptions& options = {}) {
  FunctionalNetwork network;
  const Expression x = network.input("x", sample);
  const Model model = model_of(network.build({{"y", f(x)}}));
  const Shape samples = sample.batched(2);
  return difference(model, Tensor(numbers(samples.elements()), samples), options);
}

TEST(CExport, NumbersThatMove) {
  const auto moved = [](const Expression& x) {  // (4, 5, 6)
    const Expression turned = transpose(x, {2, 0, 1});
    const Expression some = slice(turned, 0, 1, kToEnd, 2);  // (3, 4, 5)
    return pad(flip(some, 2), 1, 2, 1, -0.5) | Flatten{};
  };
  EXPECT_LT(difference_of({4, 5, 6}, moved), kClose);
  EXPECT_LT(difference_of({4, 5, 6},
                          [](const Expression& x) {
                            return transpose(x, {1, 0, 2});
                          }),
            kClose);
  EXPECT_LT(difference_of({1, 6, 1}, [](const Expression& x) { return flip(x, 1); }), kClose);
}

TEST(CExport, IdsThatAreComputed) {
  const auto looked_up = [](const Expression& x) {  // (4, 5, 6)
    const Expression ids = argmax(x, 2);            // (4, 5)
    const Expression along = to_ids(x * 3 + 2);     // some of them outside of 6
    const Expression inside = to_ids(clip(x * 3 + 2, 0, 4));
    const Expression same = equal(ids, argmin(x, 2));  // ids beside ids
    return concat({one_hot(ids, 6), take_along_axis(x, inside, 1),
                   where(equal(x, take_along_axis(x, along, 2)), x, 0.0),
                   expand(reshape(same, {4, 5, 1}), {4, 5, 6})},
                  0);
  };
  EXPECT_LT(difference_of({4, 5, 6}, looked_up), kClose);
  const auto rows = [](const Expression& x) {  // (5, 3)
    return gather(x, argmax(x, 0), 0);
  };
  EXPECT_LT(difference_of({5, 3}, rows), kClose);
}

TEST(CExport, ComparisonsAndSums) {
  const auto chosen = [](const Expression& x) {  // (4, 5, 6)
    const Expression y = cumsum(x, 1) - cumsum(x, 0, true) * sum(x, {0, 2}, true);
    return where(y > 0.25, x, where(x <= y, y * 2, -1.0)) + where(not_equal(x, y), 3.0, x);
  };
  EXPECT_LT(difference_of({4, 5, 6}, chosen), kClose);
}

TEST(CExport, Products) {
  const auto products = [](const Expression& x) {                   // (4, 5, 6)
    const Expression square = matmul(x, x, {.transpose_b = true});  // (4, 5, 5)
    return matmul(causal_mask(square), x) + matmul(square, x, {.transpose_a = true});
  };
  EXPECT_LT(difference_of({4, 5, 6}, products), kClose);
  const auto both = [](const Expression& x) {  // (3, 4, 4)
    return matmul(x, x, {.transpose_a = true, .transpose_b = true});
  };
  EXPECT_LT(difference_of({3, 4, 4}, both), kClose);
  EXPECT_LT(difference(Network({4, 8}, {MultiHeadAttention{.heads = 2}, Dense{.units = 3}})),
            kClose);
}

TEST(CExport, AttentionToAnotherSequence) {
  for (const std::int64_t width : {8, 6}) {
    const auto attention = [&](const Expression& x) {
      return cross_attention(slice(x, 0, 0, 3), slice(x, 1, 0, width), {.heads = 2});
    };
    EXPECT_LT(difference_of({5, 8}, attention), kClose);
  }
}

TEST(CExport, ImagesThatGrow) {
  const Network network({7, 5, 4},
                        {ConvTranspose2d{.filters = 6,
                                         .kernel = {3, 2},
                                         .stride = {2, 3},
                                         .padding = Padding2d::all(1),
                                         .output_padding = {1, 0},
                                         .groups = 2},
                         ReLU{}, UpSample2d{.scale = 2},
                         ConvTranspose2d{.filters = 3, .kernel = 2, .dilation = 2, .bias = false},
                         UpSample2d{.scale = {2, 3}, .bilinear = true}});
  EXPECT_LT(difference(network), kClose);
  const CExportOptions int8{.weights = CWeights::int8};
  const double of_integers = difference(network, int8);
  EXPECT_LT(of_integers, 0.02);
  EXPECT_GT(of_integers, 1e-5);
  const auto resized = [](const Expression& x) {  // to other than whole multiples
    return concat({resize2d(x, {5, 11}), resize2d(x, {5, 11}, true)}, 2);
  };
  EXPECT_LT(difference_of({7, 4, 3}, resized), kClose);
}

TEST(CExport, Volumes) {
  const Network network(
      {5, 7, 6, 4},
      {Conv3d{.filters = 6, .kernel = {3, 2, 3}, .stride = {1, 2, 1}, .padding = Padding3d::all(1)},
       BatchNorm{}, ReLU{}, MaxPool3d{.size = 2, .stride = 1},
       Conv3d{.filters = 4,
              .kernel = {3, 2, 2},
              .stride = {2, 1, 1},
              .padding = {Padding3d::Mode::fixed, 2, 2, 0, 1, 0, 0},
              .dilation = {2, 1, 1},
              .groups = 2,
              .bias = false},
       AvgPool3d{.size = {1, 2, 2}}, Flatten{}, Dense{.units = 3}});
  EXPECT_LT(difference(network), kClose);
  const double of_integers = difference(network, {.weights = CWeights::int8});
  EXPECT_LT(of_integers, 0.02);
  EXPECT_GT(of_integers, 1e-5);
}

TEST(CExport, GruOfTheOriginalForm) {
  const Network network({6, 4}, {GRU{.units = 5, .reset_after = false, .return_sequences = true},
                                 GRU{.units = 3, .reset_after = false, .reverse = true}});
  EXPECT_LT(difference(network), kClose);
  EXPECT_LT(difference(network, {.weights = CWeights::int8}), 0.05);
}

TEST(CExport, LargeLogitsDoNotOverflow) {
  const Network network({5}, {Rescale{3000}, Dense{.units = 9}, Softmax{}});
  EXPECT_LT(difference(network), 1e-3);
}

TEST(CExport, OperandsAreRepeatedBetweenTheirAxes) {
  FunctionalNetwork f;
  const Expression a = f.input("a", {4, 5, 6});
  Model model = model_of(f.build({{"y", a - mean(a, {0, 2}, true)}}));
  EXPECT_LT(difference(model, Tensor(numbers(120), {1, 4, 5, 6}), {}, "a"), kClose);
  FunctionalNetwork g;
  const Expression x = g.input("x", {4, 5, 6});
  const Expression one = slice(x, 1, 2, 3);  // (4, 1, 6)
  model = model_of(g.build({{"y", x * one}}));
  const Tensor input(numbers(120), {1, 4, 5, 6});
  EXPECT_LT(difference(model, input), kClose);
  FunctionalNetwork h;
  const Expression z = h.input("z", {4, 5, 6});
  model =
      model_of(h.build({{"y", max(z, {1}, true) - z * min(z, {2}, true) + sum(z, {0, 1}, true)}}));
  EXPECT_LT(difference(model, input), kClose);
}

TEST(CExport, SeveralInputsAndOutputs) {
  FunctionalNetwork f;
  const Expression a = f.input("a", {4, 6});
  const Expression b = f.input("b", {6});
  const Expression c = f.input("c", {4, 1});
  const Expression y = maximum(a * b + c, a - 0.25) / (2.0 + exp(b));
  const Model model =
      model_of(f.build({{"y", y}, {"z", slice(y, 1, 1, 4) | Flatten{} | Dense{.units = 3}}}));
  const Tensor columns[] = {Tensor(numbers(24), {1, 4, 6}), Tensor(numbers(6), {1, 6}),
                            Tensor(numbers(4), {1, 4, 1})};
  Model own = model;
  const auto wanted =
      own.predict_all(Dataset({{"a", columns[0]}, {"b", columns[1]}, {"c", columns[2]}}));
  const Compiled program(model, {.name = "both"});
  std::vector<float> first(24);
  std::vector<float> second(3);
  const auto memory = [&](int i) { return columns[i].as<float>().data(); };
  program(memory(0), memory(1), memory(2), first.data(), second.data());
  for (std::size_t i = 0; i < 24; ++i) EXPECT_NEAR(first[i], wanted[0].data.as<float>()[i], 1e-6);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(second[i], wanted[1].data.as<float>()[i], 1e-6);
}

TEST(CExport, EnsemblesOfEncodedNumbers) {
  for (const Answers answers : {Answers::classes, Answers::labels, Answers::values}) {
    FunctionalNetwork f;
    const Expression x = f.input("x", {2});
    const Expression bins = x | PiecewiseLinear{.bins = 3, .edges = {-1, 0, .5, 1, -.7, .2, .3, 2}};
    EXPECT_LT(difference(
                  f.build_ensemble({x | Dense{.units = 3}, bins | Dense{.units = 3}}, answers)),
              kClose);
  }
}

TEST(CExport, IntegerWeights) {
  const CExportOptions int8{.name = "small", .weights = CWeights::int8};
  const Network images({12, 12, 1},
                       {Conv2d{.filters = 8}, ReLU{}, MaxPool2d{},
                        Conv2d{.filters = 8, .groups = 2}, ReLU{}, Flatten{}, Dense{.units = 10}});
  const double of_images = difference(images, int8);
  EXPECT_LT(of_images, 0.02);
  EXPECT_GT(of_images, 1e-5);  // or the weights were no integers
  const Network text({9},
                     {Embedding{.vocabulary = 20, .features = 6}, LSTM{.units = 12},
                      Dense{.units = 2}},
                     DType::i32);
  EXPECT_LT(difference_of_ids(text, int8), 0.02);
  const std::string source = c_source(model_of(images), int8);
  EXPECT_NE(source.find("static const int8_t table_0[72]"), std::string::npos);
  EXPECT_NE(source.find("127,"), std::string::npos);  // the largest of each channel
}

struct Derivatives {
  std::vector<float> written;      ///< by the C program
  std::vector<float> differences;  ///< of the C program's predictions
  double largest = 0;
  double rounding = 0;  ///< of the differences
};

/// Derivatives of one sample's outputs, (outputs, inputs).
Derivatives derivatives_of(const Model& model, CExportOptions options = {}) {
  options.jacobian = true;
  const Compiled program(model, options);
  const Shape sample = model.network().input_shape();
  const auto inputs = static_cast<std::size_t>(sample.elements());
  const auto outputs = static_cast<std::size_t>(model.network().output_shape().elements());
  const std::vector<float> at = numbers(sample.elements());
  Derivatives found{.written = std::vector<float>(outputs * inputs),
                    .differences = std::vector<float>(outputs * inputs)};
  for (int i = 0; i < 2; ++i) program.jacobian(at.data(), found.written.data());
  constexpr float kStep = 1.0F / 512;
  for (std::size_t k = 0; k < inputs; ++k) {
    const auto [above, below] =
        both_sides(at, k, kStep, outputs, [&](const float* input, float* output) {
          program(static_cast<const void*>(input), output);
        });
    for (std::size_t i = 0; i < outputs; ++i) {
      found.differences[i * inputs + k] = (above[i] - below[i]) / (2 * kStep);
      found.rounding = std::max<double>(found.rounding, 2e-7 * std::abs(above[i]) / kStep);
    }
  }
  for (const float one : found.written) {
    found.largest = std::max<double>(found.largest, std::abs(one));
  }
  return found;
}

/// Compares with the model's own derivatives, and with finite differences.
void expect_derivatives(const Model& model) {
  const Derivatives found = derivatives_of(model);
  const Shape samples = model.network().input_shape().batched(1);
  Model own = model;
  const Tensor wanted =
      own.jacobian(Dataset({{"x", Tensor(numbers(samples.elements()), samples)}}));
  ASSERT_EQ(found.written.size(), wanted.as<float>().size());
  for (std::size_t i = 0; i < found.written.size(); ++i) {
    EXPECT_NEAR(found.written[i], wanted.as<float>()[i], 1e-5 * found.largest);
    EXPECT_NEAR(found.written[i], found.differences[i], 3e-3 * found.largest + found.rounding);
  }
}

TEST(CExport, JacobiansAreDerivatives) {
  expect_derivatives(model_of(
      Network({5}, {Rescale{0.5}, Dense{.units = 9}, Tanh{}, Dense{.units = 7, .bias = false},
                    Sigmoid{}, Dense{.units = 3}, Softmax{}})));
  expect_derivatives(model_of(
      Network({6, 5, 2}, {Normalize{.mean = {0.1, 0.2}, .std = {1, 2}},
                          Conv2d{.filters = 4, .padding = Padding2d::same(), .groups = 2},
                          BatchNorm{}, SiLU{}, AvgPool2d{}, Flatten{}, Dense{.units = 4}})));
}

TEST(CExport, JacobiansOfNorms) {
  expect_derivatives(
      model_of(Network({4, 6}, {Dense{.units = 8}, LayerNorm{}, Tanh{}, Dense{.units = 3}})));
  expect_derivatives(model_of(Network({4, 3, 6}, {GroupNorm{.groups = 2}, Tanh{}})));
}

TEST(CExport, JacobiansOfAllActivations) {
  expect_derivatives(
      model_of(Network({5}, {Dense{.units = 9}, GELU{}, Dense{.units = 9}, LeakyReLU{.slope = 0.1},
                             ELU{}, Dense{.units = 9}, SELU{}, Softplus{}, Dense{.units = 9},
                             HardSigmoid{}, Dense{.units = 9}, HardSwish{}, GELU{.tanh_form = true},
                             Dense{.units = 4}, LogSoftmax{}})));
}

TEST(CExport, JacobiansOfExpressions) {
  FunctionalNetwork f;
  const Expression x = f.input("x", {4, 3});
  const Expression narrow = slice(x, 1, 1, 2);  // (4, 1)
  const Expression y = x * narrow / (2.0 + exp(x)) - minimum(square(x), 0.25 * x + 0.1) +
                       sqrt(x + 2.0) * sin(x) + cos(x) / (x + 3.0) + erf(x) + log(x + 4.0) +
                       pow(x + 3.0, 1.5) + abs(x) + clip(x, -0.4, 0.6) + expm1(x) + log1p(x + 2.0) +
                       sign(x) + maximum(x, narrow) + mean(x, {1}, true);
  expect_derivatives(model_of(f.build({{"y", y}})));
}

TEST(CExport, JacobiansWithIntegerWeights) {
  const Model model = model_of(Network({6}, {Dense{.units = 8}, Tanh{}, Dense{.units = 2}}));
  const Derivatives found = derivatives_of(model, {.name = "small", .weights = CWeights::int8});
  for (std::size_t i = 0; i < found.written.size(); ++i) {
    EXPECT_NEAR(found.written[i], found.differences[i], 3e-3 * found.largest + found.rounding);
  }
}

TEST(CExport, RefusesJacobiansThatItCannotWrite) {
  const auto error = [](const Model& model) {
    return message_of([&] { c_source(model, {.jacobian = true}); });
  };
  EXPECT_EQ(error(model_of(
                Network({9}, {Embedding{.vocabulary = 20, .features = 6}, Flatten{}}, DType::i32))),
            "derivatives in C need a network with one input of numbers; got ids alone");
  EXPECT_TRUE(
      error(model_of(Network({4, 4, 1}, {MaxPool2d{}})))
          .starts_with("[max_pool2d 'max_pool2d_1'] has no derivative in C: expected one of "
                       "activation, arithmetic, "));
  FunctionalNetwork f;
  const Expression a = f.input("a", {3});
  const Expression b = f.input("b", {3});
  EXPECT_EQ(error(model_of(f.build({{"y", a * b}}))),
            "derivatives in C need a network with one input of numbers; got 2 of them");
  EXPECT_EQ(c_source(model_of(Network({3}, {Dense{.units = 2}}))).find("jacobian"),
            std::string::npos);
}

TEST(CExport, MemoryIsThatOfTheLargestMoment) {
  // Layers of 100 and 50 floats by turns: at most two lie side by side.
  std::vector<Layer> layers;
  for (int i = 0; i < 6; ++i) layers.push_back(Dense{.units = i % 2 == 0 ? 100 : 50});
  const std::string source = c_source(model_of(Network({4}, layers)));
  const std::size_t at = source.find("static float memory[");
  ASSERT_NE(at, std::string::npos);
  EXPECT_LE(std::stoi(source.substr(at + 20)), 112 + 64);  // places are aligned
}

TEST(CExport, NamesClassesAndRefusesWhatItCannotWrite) {
  Model model = model_of(Network({3}, {Dense{.units = 2}}));
  model.set_class_names({"a \"quoted\" cat", "dog\n*/"});
  const std::string source = c_source(model);
  EXPECT_NE(source.find("model_class_names[] = {\"a _quoted_ cat\", \"dog__/\", }"),
            std::string::npos);
  EXPECT_NE(c_header(model).find("#define MODEL_CLASSES 2"), std::string::npos);
  EXPECT_EQ(message_of([&] { c_source(model, {.name = "my model"}); }),
            "expected a name that is a C identifier, e.g. digits; got 'my model'");
  const Model of_lengths = model_of(Network({4, 8}, {Lengths{}, GRU{.units = 3}}));
  EXPECT_TRUE(message_of([&] {
                c_source(of_lengths);
              }).find("cannot be written as C; expected one of") != std::string::npos);
}

TEST(CExport, WritesNumbersAsFloatsOfC) {
  EXPECT_EQ(c_number(0.1), "0.1f");
  EXPECT_EQ(c_number(2), "2.0f");
  EXPECT_EQ(c_number(1e-5), "1e-05f");
  EXPECT_EQ(c_number(-HUGE_VAL), "-INFINITY");
  EXPECT_EQ(c_number(std::nan("")), "NAN");
}

TEST(FunctionFile, RefusesWhatOnlyCComputesInFloats) {
  const auto said = [](const std::function<Expression(const Expression&)>& f) {
    FunctionalNetwork network;
    const Expression x = network.input("x", {3});
    const Model model = model_of(network.build({{"y", f(x)}}));
    std::string all;
    for (const char* extension : {"py", "js", "java", "php"}) {
      all += message_of([&] { function_source(model, extension, "M"); }) + "\n";
    }
    return std::pair(all, std::ranges::count(all, '['));
  };
  EXPECT_EQ(said([](const Expression& x) { return clip(x, 0, 4); }).first, "\n\n\n\n");
  const auto infinite = said([](const Expression& x) { return clip(x, 0, HUGE_VAL); });
  EXPECT_EQ(infinite.second, 4) << infinite.first;
  const auto compared = said([](const Expression& x) { return x > 0.25; });
  EXPECT_EQ(compared.second, 4) << compared.first;
  const auto chosen = said([](const Expression& x) { return where(x, x, 0.5); });
  EXPECT_EQ(chosen.second, 4) << chosen.first;
}

TEST(FunctionFile, TextsAreNoNumbers) {
  const InferenceGraph graph;
  FunctionFile java(graph, {}, *language_of("java"));
  EXPECT_NE(java.numbers({"1.0"}), java.texts({"1.0"}));
}

TEST(FunctionFile, RefusesMoreConstantsThanAClassOfJavaHolds) {
  const InferenceGraph graph;
  std::vector<std::string> categories;
  for (int i = 0; i < 7498; ++i) categories.push_back(fmt::format("c{}", i));
  FunctionFile java(graph, {}, *language_of("java"));
  java.texts(categories);
  java.texts(categories);  // the same constant
  EXPECT_EQ(message_of([&] { java.text("M", {}); }), "");
  java.numbers({"1.0"});
  EXPECT_EQ(message_of([&] { java.text("M", {}); }),
            "expected at most 7500 categories and lines of weights, which a class of Java holds; "
            "got 7503; the other languages take more");
  FunctionFile python(graph, {}, *language_of("py"));
  categories.resize(9000);
  python.texts(categories);
  EXPECT_EQ(message_of([&] { python.text("M", {}); }), "");
}

}  // namespace
}  // namespace linnet::testing
