// SPDX-License-Identifier: Apache-2.0
// Functions on expressions against PyTorch's (tests/fixtures/make_function_fixtures.py).
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "data_sets.h"
#include "function_cases.h"
#include "message_of.h"
#include "weights.h"

namespace linnet::testing {
namespace {

using Json = nlohmann::json;
using Values = std::vector<float>;

/// As the script's.
Values wave(std::int64_t count, const std::string& name, double low, double high) {
  double phase = 0;
  for (const char letter : name) phase += static_cast<unsigned char>(letter);
  Values values;
  for (std::int64_t i = 0; i < count; ++i) {
    const double swing = 0.5 + 0.5 * std::sin(0.7 * static_cast<double>(i) + phase);
    values.push_back(static_cast<float>(low + (high - low) * swing));
  }
  return values;
}

/// The function as a layer of its first operand; the others are weights.
Layer with_weights(const std::string& name, const std::vector<Shape>& shapes) {
  return CustomLayer{"case", [name, shapes](const Expression& x, LayerWeights& weights) {
                       std::vector<Expression> operands{x};
                       for (const Shape& shape : shapes) {
                         operands.push_back(
                             weights.add(fmt::format("w{}", operands.size()), shape));
                       }
                       return function_cases().at(name)(operands);
                     }};
}

Shape shape_of(const Json& json) { return Shape(json.get<std::vector<std::int64_t>>()); }

/// A case of the fixture: the function's operands, and a network of inputs "0", "1", ..., and "w"
/// whose outputs are "y" and "total", the sum of w y.
class Case {
 public:
  Case(const std::string& name, const Json& json, std::int64_t samples)
      : name_(name), json_(json), samples_(samples) {
    std::vector<Expression> operands;
    std::vector<Shape> weights;  // the last operands: those without a batch
    FunctionalNetwork functional;
    for (std::size_t i = 0; i < json.at("operands").size(); ++i) {
      const Json& spec = json.at("operands")[i];
      if (spec.contains("weight")) {
        weights.push_back(shape_of(spec.at("shape")));
        continue;
      }
      Shape sample = shape_of(spec.at("shape"));
      const DType dtype = spec.contains("classes") ? DType::i32 : DType::f32;
      operands.push_back(functional.input(std::to_string(i), sample, dtype));
      columns_.push_back({std::to_string(i), operand(i, sample)});
    }
    const Expression y = weights.empty() ? function_cases().at(name)(operands)
                                         : operands.at(0) | with_weights(name, weights);
    const Shape shape = shape_of(json.at("shape"));
    EXPECT_EQ(y.shape(), shape) << name;
    const Shape flat{std::max<std::int64_t>(shape.elements(), 1)};
    const Expression w = functional.input("w", flat);
    columns_.push_back({"w", records(wave(samples * flat.elements(), name + "#", -1, 1), flat)});
    network_ = functional.build({{"y", y}, {"total", sum(reshape(y, flat) * w)}});
  }

  void check(const std::string& device) const {
    Model model(*network_, {.device = device, .threads = 2});
    const std::vector<std::string> weights = model.parameter_names();
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const Json& spec = json_.at("operands")[i + 1];
      const std::int64_t count = shape_of(spec.at("shape")).elements();
      set_parameter(model, weights[i],
                    wave(count, name_ + std::to_string(i + 1), spec.at("low"), spec.at("high")));
    }
    const Dataset data(columns_);
    expect_near(model.predict_all(data)[0].data, json_.at("values"), "values");
    if (!json_.contains("gradients")) return;
    for (std::size_t i = 0; i < json_.at("gradients").size(); ++i) {
      const Json& wanted = json_.at("gradients")[i];
      if (wanted.empty()) continue;
      const Tensor gradient =
          model.input_gradient(data, {.by = std::to_string(i), .of = "total", .index = 0});
      expect_near(gradient, wanted, "gradient " + std::to_string(i));
    }
  }

  /// A saved model is read without the function, and gives the same bits.
  void check_saved() const {
    Model model(*network_, {.device = "cpu"});
    Model read(Network::from_json(network_->to_json()), {.device = "cpu"});
    const Dataset data(columns_);
    EXPECT_EQ(vector_of(model.predict_all(data)[0].data), vector_of(read.predict_all(data)[0].data))
        << name_;
  }

  void check_threads() const {
    const Dataset data(columns_);
    const auto gradients = [&](int threads) {
      Model model(*network_, {.device = "cpu", .threads = threads});
      return vector_of(model.input_gradient(data, {.by = "0", .of = "total", .index = 0}));
    };
    EXPECT_EQ(gradients(1), gradients(4)) << name_;
  }

 private:
  Tensor operand(std::size_t i, const Shape& sample) const {
    const Json& spec = json_.at("operands")[i];
    const std::int64_t count = samples_ * sample.elements();
    if (!spec.contains("classes")) {
      const std::string name = name_ + std::to_string(i);
      return records(wave(count, name, spec.at("low"), spec.at("high")), sample);
    }
    std::vector<std::int32_t> ids;
    for (std::int64_t k = 0; k < count; ++k) {
      ids.push_back(static_cast<std::int32_t>(k * 7 % spec.at("classes").get<std::int64_t>()));
    }
    return records(std::move(ids), sample);
  }

  void expect_near(const Tensor& found, const Json& wanted, const std::string& what) const {
    const Values values = vector_of(found);
    ASSERT_EQ(values.size(), wanted.size()) << name_ << ", " << what;
    double scale = 1;
    for (const Json& value : wanted) scale = std::max(scale, std::abs(value.get<double>()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(values[i], wanted[i].get<double>(), 2e-6 * scale)
          << name_ << ", " << what << " " << i;
    }
  }

  std::string name_;
  Json json_;
  std::int64_t samples_;
  std::vector<Column> columns_;
  std::optional<Network> network_;
};

Json fixture() {
  std::ifstream file(std::filesystem::path(LINNET_TORCH_FIXTURES) / "functions.json");
  return Json::parse(file);
}

/// Calls f(case) for every case of the fixture.
template <class F>
void for_each_case(F f) {
  const Json json = fixture();
  for (const auto& [name, one] : json.at("cases").items()) {
    ASSERT_TRUE(function_cases().contains(name)) << "no function for '" << name << "'";
    f(Case(name, one, json.at("samples")));
  }
}

TEST(Functions, GiveWhatPyTorchGives) {
  for_each_case([](const Case& one) { one.check("cpu"); });
  const Json cases = fixture().at("cases");
  for (const auto& [name, function] : function_cases()) {
    EXPECT_TRUE(cases.contains(name)) << "the fixture lacks '" << name << "'";
  }
}

TEST(Functions, AreSavedWithTheNetwork) {
  for_each_case([](const Case& one) { one.check_saved(); });
}

TEST(Functions, GathersGradientsHaveTheSameBitsAtAnyNumberOfThreads) {
  const Json json = fixture();
  for (const char* name : {"gather", "take_along_axis", "gather by a matrix"}) {
    Case(name, json.at("cases").at(name), json.at("samples")).check_threads();
  }
}

// Weights have no batch: a layer of your own mixes them with what has one.

/// Every function that takes weights in another way than values, of x (4, 3).
Expression uses_weights(const Expression& x, LayerWeights& weights) {
  const Initializer start{Initializer::Kind::uniform, 0.9};
  const Expression row = weights.add("row", {3}, start);
  const Expression table = weights.add("table", {4, 3}, start);
  const Expression matrix = weights.add("matrix", {3, 5}, start);
  const Expression heads = weights.add("heads", {2, 3, 2}, start);
  const Expression steps = weights.add("steps", {2, 4}, start);
  const Expression unit = matrix * rsqrt(sum(square(matrix), {0}, true) + 0.1);  // weights alone
  const Expression projected = matmul(x * row + table, unit);                    // (4, 5)
  const Expression mixed = matmul(steps, projected);                             // (2, 5)
  const Expression by_head = einsum("btd,hdk->bhtk", {x, heads});                // (2, 4, 2)
  const Expression one = einsum("btd,dk->btk", {x, matrix});
  const Expression both = matmul(transpose(table, {1, 0}), expand(row, {4, 3}));  // (3, 3)
  const Expression linked = linear(x, both);
  const Expression picked = where(x > 0, table, flip(table, 0));
  return sum(mixed) + sum(square(by_head)) + mean(tanh(one)) + sum(linked * linked) + sum(picked) +
         sum(concat({x, table}, 0) * stack({row, row * 2, row, row, row, row, row, row}, 0));
}

TEST(Functions, OfWeightsHaveFiniteDifferencesForGradients) {
  const Network network({4, 3}, {CustomLayer{"uses_weights", uses_weights}});
  const Dataset data = data_of(records(wave(24, "x", -1, 1), {4, 3}), records(Values{0.3F, -0.2F}));
  Model model(network, {.device = "cpu", .seed = 3});
  const Values before = all_weights(model);
  train(model, data, {.epochs = 1, .batch = 2, .optimizer = SGD{.learning_rate = 1e-3}});
  Values slopes = all_weights(model);
  for (std::size_t i = 0; i < slopes.size(); ++i) slopes[i] = (before[i] - slopes[i]) * 1e3F;
  Model again(network, {.device = "cpu", .seed = 3});
  std::size_t at = 0;
  for (const std::string& name : again.parameter_names()) {
    Values values = parameter(again, name);
    for (std::size_t i = 0; i < values.size(); ++i, ++at) {
      constexpr float kStep = 1e-2F;
      const float middle = values[i];
      const auto loss_at = [&](float value) {
        values[i] = value;
        set_parameter(again, name, values);
        return evaluate(again, data).loss;
      };
      const double slope = (loss_at(middle + kStep) - loss_at(middle - kStep)) / (2.0 * kStep);
      EXPECT_NEAR(slopes[at], slope, 5e-3 * std::max(1.0, std::abs(slope))) << name << " " << i;
      loss_at(middle);
    }
  }
}

TEST(Functions, AStepLongerThanTheRangeTakesItsFirst) {
  const Network network({4, 3}, {CustomLayer{"slices", [](const Expression& x, LayerWeights&) {
                                               return slice(x, 0, 1, kToEnd, 5);
                                             }}});
  EXPECT_EQ(network.output_shape(), (Shape{1, 3}));
  const Values x = wave(12, "x", -1, 1);
  Model model(network, {.device = "cpu"});
  EXPECT_EQ(vector_of(model.predict(data_of(records(x, {4, 3}), records(Values{0})))),
            Values(x.begin() + 3, x.begin() + 6));
}

TEST(Functions, AxesOfOneThatAWeightHasAreAdded) {
  for (const bool first : {false, true}) {
    const Network network({7, 2}, {CustomLayer{"sum", [&](const Expression& x, LayerWeights& w) {
                                                 const Expression one = w.add("one", {1, 7, 1});
                                                 return first ? one + x : x - one;
                                               }}});
    EXPECT_EQ(network.output_shape(), (Shape{1, 7, 2}));
  }
}

TEST(Functions, LeadingAxesOfWeightsAreRepeated) {
  const Network network({1},
                        {CustomLayer{"product", [](const Expression& x, LayerWeights& weights) {
                                       const Expression a = weights.add("a", {2, 1, 2, 3});
                                       const Expression b = weights.add("b", {4, 3, 2});
                                       return reshape(matmul(a, b), {32}) * x;  // (2, 4, 2, 2)
                                     }}});
  Model model(network, {.device = "cpu"});
  const Values a = wave(12, "a", -1, 1);
  const Values b = wave(24, "b", -1, 1);
  set_parameter(model, "product_1.a", a);
  set_parameter(model, "product_1.b", b);
  const Values y = vector_of(model.predict(data_of(records(Values{1}, {1}), records(Values{0}))));
  for (std::size_t i = 0; i < 32; ++i) {
    const std::size_t row = i / 16 * 6 + i / 2 % 2 * 3;
    const std::size_t column = i / 4 % 4 * 6 + i % 2;
    double expected = 0;
    for (std::size_t k = 0; k < 3; ++k) expected += double{a[row + k]} * b[column + 2 * k];
    EXPECT_NEAR(y[i], expected, 1e-6) << i;
  }
}

/// A convolution whose weight is an expression of weights is the layer's.
TEST(Functions, ConvolutionsTakeExpressionsOfWeights) {
  const Layer own =
      CustomLayer{"own", [](const Expression& x, LayerWeights& weights) {
                    const Expression w = weights.add("weight", {4, 3, 3, 2});
                    return conv2d(x, w * 2, {.stride = 2, .padding = Padding2d::same()});
                  }};
  const Dataset data({{"x", records(wave(2 * 6 * 5 * 2, "x", -1, 1), {6, 5, 2})}});
  Model expression(Network({6, 5, 2}, {own}), {.device = "cpu"});
  Model layer(
      Network({6, 5, 2},
              {Conv2d{.filters = 4, .stride = 2, .padding = Padding2d::same(), .bias = false}}),
      {.device = "cpu"});
  Values weights = all_weights(layer);
  for (float& w : weights) w /= 2;
  set_parameter(expression, expression.parameter_names()[0], weights);
  const Values wanted = vector_of(layer.predict(data));
  const Values found = vector_of(expression.predict(data));
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-5) << i;
  // A predictor packs fixed weights once; these are computed in each run.
  const Predictor predictor(expression);
  const Tensor x = data.inputs()[0].data;
  EXPECT_EQ(vector_of(predictor.predict(x)), found);
  for (float& w : weights) w *= 3;
  set_parameter(expression, expression.parameter_names()[0], weights);
  const Values tripled = vector_of(predictor.predict(x));
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(tripled[i], 3 * wanted[i], 3e-5) << i;
}

TEST(Functions, WorkInLossesAndMetrics) {
  const Network network({2}, {Dense{.units = 2}});
  const Tensor x = records(wave(40, "x", -1, 1), {2});
  const Tensor y = records(wave(40, "y", -1, 1), {2});
  const Dataset data = data_of(x, y);
  Model model(network, {.device = "cpu", .seed = 1});
  const double mse = evaluate(model, data).loss;
  TrainingOptions options{.epochs = 1, .batch = 20, .optimizer = SGD{.learning_rate = 0}};
  options.custom_loss = [](const Expression& p, const Expression& t) {
    const Expression d = p - t;
    return mean(where(abs(d) < 10, square(d), abs(d))) + 0 * log_sum_exp(stack({p, t}, 0));
  };
  EXPECT_NEAR(train(model, data, options).epochs[0].train.loss, mse, 1e-6);
  CustomMetric signs;
  signs.name = "signs";
  signs.values = [](const Expression& p, const Expression& t) { return all(equal(p > 0, t > 0)); };
  CustomMetric best;
  best.name = "best";
  best.values = [](const Expression& p, const Expression& t) {
    return equal(argmax(p), argmax(t));
  };
  TrainingOptions measured{.epochs = 1, .batch = 20, .optimizer = SGD{.learning_rate = 0}};
  measured.metrics = {signs, best};
  const Evaluation found = train(model, data, measured, &data).epochs[0].test;
  const Values p = vector_of(model.predict(data));
  const Values t = vector_of(y);
  double equal_signs = 0;
  double same_best = 0;
  for (std::size_t i = 0; i < 40; i += 2) {
    equal_signs += (p[i] > 0) == (t[i] > 0) && (p[i + 1] > 0) == (t[i + 1] > 0) ? 0.05 : 0;
    same_best += (p[i] >= p[i + 1]) == (t[i] >= t[i + 1]) ? 0.05 : 0;
  }
  EXPECT_NEAR(found.metrics.at("signs"), equal_signs, 1e-6);
  EXPECT_NEAR(found.metrics.at("best"), same_best, 1e-6);
}

TEST(Functions, ErrorsNameTheFunctionAndTheShapes) {
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {3, 4});
  const Expression y = functional.input("y", {2, 4});
  const Expression ids = functional.input("ids", {5}, DType::i32);
  const auto error = [](auto call) { return message_of([&] { static_cast<void>(call()); }); };
  EXPECT_EQ(error([&] { return x + y; }),
            "[add] expected samples whose dimensions, counted from the last axis, are equal, 1 or "
            "missing; got (3, 4) and (2, 4)");
  EXPECT_EQ(error([&] { return x < y; }),
            "[less] expected samples whose dimensions, counted from the last axis, are equal, 1 or "
            "missing; got (3, 4) and (2, 4)");
  EXPECT_EQ(
      error([&] { return where(x > 0, y, 1); }),
      "[where] expected samples whose dimensions, counted from the last axis, are equal, 1 or "
      "missing; got (3, 4) and (2, 4)");
  EXPECT_EQ(error([&] { return equal(ids, x); }),
            "[equal] expected f32 operands, or i32 of one shape; got i32 (5) and f32 (3, 4)");
  EXPECT_EQ(error([&] { return sum(x, {2}); }),
            "[sum] expected an axis of [-2, 2); got 2 for samples of (3, 4)");
  EXPECT_EQ(error([&] {
              return mean(x, {1, -1});
            }),
            "[mean] expected each axis once; got (1, -1) for samples of (3, 4)");
  EXPECT_EQ(error([&] { return var(sum(x)); }),
            "[var] expected more elements along the axes than the correction of 1; got 1 for "
            "samples of ()");
  EXPECT_EQ(
      error([&] { return slice(x, 1, 2, 7); }),
      "[slice] expected places within axis 1 of samples of (3, 4) and a step above 0; got [2, "
      "7) in steps of 1");
  EXPECT_EQ(
      error([&] {
        return split(x, {1, 2}, -1)[0];
      }),
      "[split] expected dimensions that add up to the 4 of axis 1 of samples of (3, 4); got (1, "
      "2)");
  EXPECT_EQ(error([&] {
              return stack({x, y}, 0);
            }),
            "[stack] expected samples of one shape; got (3, 4) and (2, 4)");
  EXPECT_EQ(error([&] {
              return transpose(x, {0, 0});
            }),
            "[transpose] expected each of 2 axes once; got (0, 0) for samples of (3, 4)");
  EXPECT_EQ(
      error([&] {
        return expand(x, {4, 4});
      }),
      "[expand] expected a shape whose last axes are those of (3, 4) but where they are 1; got "
      "(4, 4)");
  EXPECT_EQ(error([&] { return gather(x, y); }), "[gather] expected ids of i32; got f32 (2, 4)");
  EXPECT_EQ(error([&] { return take_along_axis(x, ids, 0); }),
            "[take_along_axis] expected ids of the dimensions of (3, 4) but along axis 0; got (5)");
  EXPECT_EQ(
      error([&] { return matmul(x, y); }),
      "[matmul] expected a (..., m, k) and b (..., k, n), or their transposes; got (3, 4) and "
      "(2, 4)");
  EXPECT_EQ(
      error([&] {
        return einsum("bij,bkj->bi k", {x, x, y});
      }),
      "[einsum 'bij,bkj->bi k'] expected one or two operands, as many as the equation has; got "
      "samples of (3, 4) and (3, 4) and (2, 4)");
  EXPECT_EQ(
      error([&] {
        return einsum("bij,bij->b", {x, y});
      }),
      "[einsum 'bij,bij->b'] expected one dimension for 'i'; got 3 and 2; got samples of (3, 4) "
      "and (2, 4)");
  EXPECT_EQ(error([&] {
              return einsum("bij,bkj->ik", {x, y});
            }),
            "[einsum 'bij,bkj->ik'] expected the batch first in the result; got samples of (3, 4) "
            "and (2, 4)");
  EXPECT_EQ(error([&] { return max_pool2d(x, 2); }),
            "[max_pool2d] expected samples that are images (height, width, channels); got (3, 4)");
  EXPECT_EQ(error([&] { return adaptive_avg_pool2d(x, 2); }),
            "[adaptive_avg_pool2d] expected samples that are images (height, width, channels); got "
            "(3, 4)");
  EXPECT_EQ(error([&] { return layer_norm(x, y, y); }),
            "[layer_norm] expected a weight and a bias of the shape of the last axes of samples of "
            "(3, 4); got (2, 4) and (2, 4)");
  const auto in_layer = [&](const Shape& sample,
                            Expression (*f)(const Expression&, const Expression&)) {
    const Layer own = CustomLayer{"own", [f](const Expression& z, LayerWeights& weights) {
                                    return f(z, weights.add("w", {4, 2, 2, 3}));
                                  }};
    return message_of([&] { Network(sample, {own}); });
  };
  using E = const Expression&;
  EXPECT_EQ(in_layer({3, 3, 2}, [](E z, E w) { return conv_transpose2d(z, w); }),
            "[conv_transpose2d] expected a weight (channels, height, width, filters / 1) for "
            "images of (3, 3, 2); got (4, 2, 2, 3)");
  EXPECT_EQ(in_layer({3, 3, 4},
                     [](E z, E w) {
                       return conv_transpose2d(z, w, {.stride = 2, .output_padding = 2});
                     }),
            "[conv_transpose2d] expected an output padding below the strides (2, 2), and none with "
            "padding \"same\"; got (2, 2)");
  EXPECT_EQ(in_layer({4, 2, 2, 3},
                     [](E z, E w) {
                       return group_norm(z, 2, sum(w, {0, 1, 2}), sum(w, {1, 2, 3}));
                     }),
            "[group_norm] expected a weight and a bias of the shape of the last axis of samples of "
            "(4, 2, 2, 3); got (3) and (4)");
  EXPECT_EQ(in_layer({5, 3},
                     [](E z, E w) {
                       const Expression row = sum(w, {0, 1, 2});
                       return group_norm(z, 2, row, row);
                     }),
            "[group_norm] expected groups that divide 3 channels; got 2");
  EXPECT_EQ(error([&] { return functional.uniform({2}, 1, 1); }),
            "[uniform] expected a low bound below the high one; got 1 and 1");
}

/// PyTorch's clamp passes it there.
TEST(Functions, BoundsHaveNoGradientWhereTheyAreReached) {
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {3});
  const Network network = functional.build(
      {{"low", sum(maximum(x, 1))}, {"high", sum(minimum(x, 1))}, {"clip", sum(clip(x, 1, 2))}});
  Model model(network, {.device = "cpu"});
  const Dataset data({{"x", records(Values{0.5F, 1, 1.5F}, {3})}});
  const auto gradient = [&](const std::string& of) {
    return vector_of(model.input_gradient(data, {.by = "x", .of = of, .index = 0}));
  };
  EXPECT_EQ(gradient("low"), (Values{0, 0, 1}));
  EXPECT_EQ(gradient("high"), (Values{1, 0, 0}));
  EXPECT_EQ(gradient("clip"), (Values{0, 0, 1}));
}

TEST(Functions, DropoutIsDrawnInTrainingAlone) {
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {100});
  Model model(functional.build({{"y", dropout(x, 0.5)}}), {.device = "cpu"});
  const Dataset data({{"x", records(wave(200, "x", 1, 2), {100})}});
  EXPECT_EQ(vector_of(model.predict(data)), wave(200, "x", 1, 2));
  TrainingOptions options{.epochs = 1, .batch = 2};
  options.custom_loss = [](const Expression& y, const Expression&) { return dropout(y, 0.5); };
  Model other(Network({2}, {Dense{.units = 2}}), {.device = "cpu"});
  EXPECT_EQ(
      message_of([&] {
        train(other, data_of(records(Values{1, 2}, {2}), records(Values{1, 2}, {2})), options);
      }),
      "[dropout] expected a network; got a loss or metric, which inference computes too");
}

TEST(Functions, UniformNoiseLiesWithinItsBounds) {
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {1});
  const Expression noise = functional.uniform({1000}, -3, 5);
  Model model(functional.build({{"y", noise}, {"x", x}}), {.device = "cpu"});
  const Dataset data({{"x", records(Values{1, 2, 3}, {1})}});
  const Values drawn = vector_of(model.predict_all(data)[0].data);
  double mean = 0;
  for (const float value : drawn) mean += value / 3000.0;
  EXPECT_NEAR(mean, 1, 5 * 8 / std::sqrt(12.0 * 3000));
  EXPECT_GE(*std::ranges::min_element(drawn), -3);
  EXPECT_LE(*std::ranges::max_element(drawn), 5);
  EXPECT_EQ(vector_of(model.predict_all(data)[0].data), drawn);  // by the sample's place
}

/// x (6, 3) with lengths, and what a function does with it.
std::string with_lengths(Expression (*function)(const Expression&, const Expression&)) {
  return message_of([&] {
    FunctionalNetwork functional;
    const Expression x = functional.input("x", {6, 3}, DType::f32, true);
    const Expression other = functional.input("other", {3});
    static_cast<void>(function(x, other) | GlobalAvgPool1d{});
  });
}

TEST(Functions, KeepStepsOrSayWhyNot) {
  using E = const Expression&;
  EXPECT_EQ(with_lengths([](E x, E y) { return where(x > y, x, 0); }), "");
  EXPECT_EQ(with_lengths([](E x, E) { return layer_norm(x) + log_sum_exp(x, {1}, true); }), "");
  EXPECT_EQ(with_lengths([](E x, E) { return cumsum(x, 0); }), "");
  EXPECT_EQ(with_lengths([](E x, E) { return flip(pad(x, 1, 1, 1), 1); }), "");
  EXPECT_EQ(with_lengths([](E x, E) { return matmul(x, x, {.transpose_b = true}); }),
            "[matmul 'matmul_1'] would mix steps with padding, since it does not use the lengths "
            "of sequences: GlobalAvgPool1d, GlobalMaxPool1d, attention and recurrent layers leave "
            "padding out");
  EXPECT_EQ(with_lengths([](E x, E y) { return einsum("btd,bd->btd", {x, y}); }), "");
  EXPECT_EQ(with_lengths([](E x, E) { return one_hot(argmax(x), 3); }), "");
  EXPECT_NE(with_lengths([](E x, E) { return flip(x, 0); }), "");
  EXPECT_NE(with_lengths([](E x, E) { return pad(x, 0, 1, 0); }), "");
  EXPECT_NE(with_lengths([](E x, E) { return cumsum(x, 0, true); }), "");
  EXPECT_NE(with_lengths([](E x, E) { return one_hot(argmax(x, 0), 3); }), "");
  const Layer product = CustomLayer{"product", [](const Expression& x, LayerWeights& weights) {
                                      return matmul(x, weights.add("w", {3, 2}));
                                    }};
  EXPECT_EQ(message_of([&] { Network({6, 3}, {Lengths{}, product, GlobalAvgPool1d{}}); }), "");
}

}  // namespace
}  // namespace linnet::testing
