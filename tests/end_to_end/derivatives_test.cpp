// SPDX-License-Identifier: Apache-2.0
// Derivatives as outputs of a network, against differences of the double-precision reference.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <numbers>
#include <set>
#include <tuple>

#include "data_sets.h"
#include "fixtures.h"
#include "graph/interpreter.h"
#include "graph/registry.h"
#include "message_of.h"
#include "nn/definition.h"
#include "ops/ops.h"
#include "temporary_folder.h"
#include "weights.h"

namespace linnet::testing {
namespace {

using Function = std::function<Expression(const Expression& x)>;

constexpr std::int64_t kSamples = 3;

/// A network at kSamples samples, computed in double precision.
class Computed {
 public:
  explicit Computed(const Network& network) : network_(network.definition()) {
    const std::vector<Value> x = add_inputs(network_, graph_, kSamples);
    std::vector<Value> parameters;
    outputs_ = instantiate(network_, graph_, x, kSamples, Mode::inference, parameters);
    inputs_ = x;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      std::vector<float> values(static_cast<std::size_t>(network_.parameters[i].shape.elements()));
      initialize(network_.parameters[i], i, 5, values);
      weights_.emplace_back(parameters[i], std::vector<double>(values.begin(), values.end()));
    }
  }
  std::vector<double> operator()(const std::vector<double>& x, std::size_t output) const {
    Interpreter run(graph_);
    run[inputs_[0]].data = x;
    for (const auto& [weight, values] : weights_) {
      if (weight) run[weight].data = values;
    }
    run.run();
    return run[outputs_[output]].data;
  }

 private:
  const NetworkDefinition& network_;
  Graph graph_;
  std::vector<Value> inputs_;
  std::vector<Value> outputs_;
  std::vector<std::pair<Value, std::vector<double>>> weights_;
};

std::vector<double> points(std::int64_t count) {
  std::vector<double> x;
  for (std::int64_t i = 0; i < count; ++i) x.push_back(0.3 + 0.6 * std::sin(1.7 * i + 0.4));
  return x;
}

double sum_of_sample(const std::vector<double>& y, std::size_t sample) {
  const std::size_t each = y.size() / kSamples;
  double sum = 0;
  for (std::size_t i = sample * each; i < (sample + 1) * each; ++i) sum += y[i];
  return sum;
}

/// Compares output `derivative` with differences of the sums of output `of` by x.
void expect_gradient(const Computed& f, const std::vector<double>& x, std::size_t of,
                     std::size_t derivative, const std::string& name) {
  const std::vector<double> found = f(x, derivative);
  ASSERT_EQ(found.size(), x.size()) << name;
  const double h = 1e-5;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t sample = i / (x.size() / kSamples);
    std::vector<double> moved = x;
    moved[i] += h;
    const double up = sum_of_sample(f(moved, of), sample);
    moved[i] -= 2 * h;
    const double difference = (up - sum_of_sample(f(moved, of), sample)) / (2 * h);
    EXPECT_NEAR(found[i], difference, 2e-6 * std::max(1.0, std::abs(difference)))
        << name << ", element " << i;
  }
}

struct Case {
  std::string name;
  Shape sample;
  Function f;
  int orders = 3;
};

std::vector<Case> cases() {
  const auto dense = [](Layer activation) -> Function {
    return [activation](const Expression& x) {
      return x | Dense{.units = 5} | activation | Dense{.units = 4} | activation |
             Dense{.units = 2};
    };
  };
  return {
      {"tanh", {3}, dense(Tanh{})},
      {"sigmoid", {3}, dense(Sigmoid{})},
      {"gelu", {3}, dense(GELU{})},
      {"gelu by tanh", {3}, dense(GELU{.tanh_form = true})},
      {"silu", {3}, dense(SiLU{})},
      {"softplus", {3}, dense(Softplus{})},
      {"elu", {3}, dense(ELU{})},
      {"selu", {3}, dense(SELU{})},
      {"relu of squares", {3}, [](const Expression& x) { return square(x) | ReLU{}; }},
      {"functions",
       {4},
       [](const Expression& x) {
         return sin(x) * exp(x) / (2 + cos(x)) + log(3 + x) + sqrt(square(x) + 1) +
                pow(x + 2, 2.5) + erf(x) + reciprocal(x + 3) + rsqrt(x + 2) + expm1(x) +
                log1p(exp(x));
       }},
      {"selected",
       {4},
       [](const Expression& x) {
         return where(x < 0.2, square(x), x * x * x) + maximum(x, square(x)) + abs(x) * x;
       }},
      {"reduced",
       {3, 4},
       [](const Expression& x) {
         return sum(square(x), {1}) * max(x, {1}) + mean(sin(x), {1}) - min(x * x, {1});
       }},
      {"moved",
       {4, 3},
       [](const Expression& x) {
         const Expression y = concat({slice(x, 0, 1, 3), pad(flip(sin(x), 0), 0, 1, 0)}, 0);
         return cumsum(transpose(y, {1, 0}) * reshape(y, {3, 7}), 1);
       }},
      {"products",
       {3, 3},
       [](const Expression& x) {
         return matmul(sin(x), matmul(x, x, {.transpose_b = true})) +
                einsum("bij,bjk->bik", {square(x), x});
       }},
      {"softmax", {4}, [](const Expression& x) { return softmax(sin(2 * x)) * x; }},
      {"log softmax", {4}, [](const Expression& x) { return log_softmax(square(x)) * x; }},
      {"images",
       {6, 6, 2},
       [](const Expression& x) {
         return x | Conv2d{.filters = 3, .padding = Padding2d::same()} | Tanh{} | AvgPool2d{} |
                Conv2d{.filters = 2, .kernel = 2} | Tanh{} | GlobalAvgPool2d{} | Dense{.units = 2};
       }},
      {"resized",
       {3, 3, 1},
       [](const Expression& x) { return resize2d(sin(x), 5, true) * resize2d(x, 5); }},
      {"bins",
       {5, 4, 2},
       [](const Expression& x) { return sin(x) | AdaptiveAvgPool2d{.output = 3} | Tanh{}; }},
      {"scaled",
       {2, 3, 2},
       [](const Expression& x) {
         return x | Normalize{.mean = {0.1, 0.2}, .std = {1, 2}} | ConvTranspose2d{.filters = 3} |
                Tanh{};
       }},
      {"masked",
       {3, 3},
       [](const Expression& x) {
         return causal_mask(sin(x), 0.5) * x * expand(slice(x, 0, 1, 2), {3, 3});
       }},
      {"found",
       {4, 3},
       [](const Expression& x) {
         const Expression largest = argmax(x, 0);  // (3)
         return gather(sin(x), largest, 0) * transpose(one_hot(largest, 3), {1, 0}) +
                gather(square(x), to_ids(reshape(slice(x, 0, 0, 1), {3}) * 0 + 1), 0);
       }},
  };
}

/// The network of a case: its function and derivatives of it.
Network network_of(const Case& c) {
  FunctionalNetwork functional;
  Expression y = functional.input("x", c.sample);
  const Expression x = y;
  std::vector<std::pair<std::string, Expression>> outputs;
  y = c.f(x);
  outputs.emplace_back("y0", y);
  for (int order = 1; order <= c.orders; ++order) {
    y = gradient(y, x);
    outputs.emplace_back("y" + std::to_string(order), y);
    y = y * sin(x + 0.5);  // else a sum of slopes would hide signs
    outputs.emplace_back("weighted" + std::to_string(order), y);
  }
  return functional.build(outputs);
}

TEST(Derivatives, AgreeWithDifferencesToTheThirdOrder) {
  for (const Case& c : cases()) {
    const Network network = network_of(c);
    const Computed f(network);
    const std::vector<double> at = points(kSamples * c.sample.elements());
    for (int order = 0; order < c.orders; ++order) {
      const auto of = static_cast<std::size_t>(2 * order);
      expect_gradient(f, at, of, of + 1, c.name + ", order " + std::to_string(order + 1));
    }
  }
}

TEST(Derivatives, JacobiansAndHessiansAgreeWithDifferences) {
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {3});
  const Expression y = x | Dense{.units = 4} | Tanh{} | Dense{.units = 2};
  const Expression v = cos(3 * x);
  const Network network = functional.build({{"y", y},
                                            {"jacobian", jacobian(y, x)},
                                            {"slope", gradient(y, x)},
                                            {"product", hessian_vector(y, x, v)},
                                            {"v", v},
                                            {"hessian", hessian(y, x)}});
  const Computed f(network);
  const std::vector<double> at = points(kSamples * 3);
  const std::vector<double> jacobians = f(at, 1);
  const std::vector<double> products = f(at, 3);
  const std::vector<double> along = f(at, 4);
  const std::vector<double> hessians = f(at, 5);
  ASSERT_EQ(jacobians.size(), kSamples * 6U);
  ASSERT_EQ(hessians.size(), kSamples * 18U);
  const double h = 1e-5;
  for (std::size_t n = 0; n < kSamples; ++n) {
    for (std::size_t j = 0; j < 3; ++j) {
      std::vector<double> up = at;
      std::vector<double> down = at;
      up[n * 3 + j] += h;
      down[n * 3 + j] -= h;
      const std::vector<double> y_above = f(up, 0);
      const std::vector<double> y_below = f(down, 0);
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_NEAR(jacobians[n * 6 + i * 3 + j],
                    (y_above[n * 2 + i] - y_below[n * 2 + i]) / (2 * h), 1e-8);
      }
      const std::vector<double> above = f(up, 1);
      const std::vector<double> below = f(down, 1);
      for (std::size_t k = 0; k < 6; ++k) {
        EXPECT_NEAR(hessians[(n * 6 + k) * 3 + j], (above[n * 6 + k] - below[n * 6 + k]) / (2 * h),
                    1e-8);
      }
      // The Hessian is symmetric: its row j times v is how slope j changes along v.
      std::vector<double> forwards = at;
      std::vector<double> backwards = at;
      for (std::size_t k = 0; k < 3; ++k) {
        forwards[n * 3 + k] += h * along[n * 3 + k];
        backwards[n * 3 + k] -= h * along[n * 3 + k];
      }
      EXPECT_NEAR(products[n * 3 + j],
                  (f(forwards, 2)[n * 3 + j] - f(backwards, 2)[n * 3 + j]) / (2 * h), 1e-8);
    }
  }
}

/// u(x) with u'' = -pi² sin(pi x) and u = 0 at -1 and 1: outputs the residual and u.
Network poisson() {
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {1});
  const Expression inner =
      x | Dense{.units = 16} | Tanh{} | Dense{.units = 16} | Tanh{} | Dense{.units = 1};
  const Expression u = inner * (1 - square(x));
  const Expression force = std::numbers::pi * std::numbers::pi * sin(std::numbers::pi * x);
  return functional.build({{"residual", gradient(gradient(u, x), x) + force}, {"u", u}});
}

Model solved(const Network& network) {
  std::vector<float> x;
  for (int i = 0; i < 64; ++i) x.push_back(-1 + 2.0F * static_cast<float>(i) / 63);
  const Dataset points({{.name = "x", .data = records(x, {1})}},
                       {{.name = "residual", .data = records(std::vector<float>(64), {1})}});
  Model model(network, {.device = "cpu", .threads = 2, .seed = 1});
  train(model, points,
        {.epochs = 800,
         .batch = 64,
         .optimizer = Adam{.learning_rate = 1e-2},
         .schedule = CosineDecay{}});
  return model;
}

TEST(Derivatives, ALossOfThemSolvesADifferentialEquation) {
  Model model = solved(poisson());
  std::vector<float> x;
  for (int i = 0; i < 21; ++i) x.push_back(-0.95F + 0.095F * static_cast<float>(i));
  const Dataset at({{.name = "x", .data = records(x, {1})}});
  const std::vector<Column> outputs = model.predict_all(at);
  const std::span<const float> u = outputs[1].data.as<float>();
  double error = 0;
  double size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::sin(std::numbers::pi * x[i]);
    error += (u[i] - exact) * (u[i] - exact);
    size += exact * exact;
  }
  EXPECT_LT(std::sqrt(error / size), 1e-2);

  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "solved.safetensors";
  model.save(file);
  Model loaded = Model::load(file, {.device = "cpu"});
  const std::vector<Column> again = loaded.predict_all(at);
  EXPECT_TRUE(std::ranges::equal(again[0].data.as<float>(), outputs[0].data.as<float>()));
}

std::string refused(const Shape& sample, const Function& f) {
  FunctionalNetwork functional;
  const Expression x = functional.input("x", sample);
  return message_of([&] { gradient(f(x), x); });
}

/// Operators that networks may hold and no case has, with the gradient that has no derivative, or
/// why there is none by numbers.
const std::map<std::string, std::string>& without_case() {
  static const std::map<std::string, std::string> kAll{
      {"batch_norm", "batch_norm_grad"},
      {"global_max_pool", "global_max_pool_grad"},
      {"group_norm", "group_norm_grad"},
      {"max_pool2d", "max_pool2d_grad"},
      {"arc", ""},    // of ONNX files; in its own tests
      {"power", ""},  // likewise
      {"recurrent", "recurrent_grad"},
      {"dropout", ""},           // inference drops it; its mask is a factor, in its own tests
      {"gather", ""},            // of ids from weights
      {"quantize", ""},          // steps: its gradient passes unchanged
      {"quantize_weights", ""},  // likewise
      {"random_normal", ""},     // of nothing
      {"random_uniform", ""},    // likewise
      {"reverse_sequence", ""},  // within recurrent layers alone; in its own tests
      {"sequence_mask", ""},     // of lengths
  };
  return kAll;
}

TEST(Derivatives, EveryOperatorHasACaseOrIsNamed) {
  std::set<std::string> names;
  for (const Case& c : cases()) {
    const Network network = network_of(c);
    for (const Node& node : network.definition().graph.nodes()) names.emplace(node.op->name());
  }
  for (const std::string& name : all_ops().names_of_networks()) {
    EXPECT_NE(names.contains(name), without_case().contains(name))
        << "'" << name << "' has " << (names.contains(name) ? "a case and is named" : "no case");
  }
}

TEST(Derivatives, TheNamedRefuse) {
  const auto gradient_of = [](const Shape& sample, const Layer& layer) {
    const std::string sentence = refused(sample, [&](const Expression& x) { return x | layer; });
    return sentence.substr(sentence.find("its gradient is"));
  };
  const std::vector<std::tuple<std::string, Shape, Layer>> layers{
      {"batch_norm", {3}, BatchNorm{}},
      {"global_max_pool", {4, 4, 2}, GlobalMaxPool2d{}},
      {"group_norm", {3}, LayerNorm{}},
      {"max_pool2d", {4, 4, 2}, MaxPool2d{}},
      {"recurrent", {4, 3}, LSTM{.units = 2}}};
  std::size_t refuse = 0;
  for (const auto& [name, gradient] : without_case()) refuse += gradient.empty() ? 0 : 1;
  EXPECT_EQ(layers.size(), refuse);
  for (const auto& [name, sample, layer] : layers) {
    EXPECT_EQ(gradient_of(sample, layer), "its gradient is '" + without_case().at(name) + "'");
  }
}

TEST(Derivatives, NameWhatHasNone) {
  EXPECT_EQ(refused({3}, [](const Expression& x) { return x | BatchNorm{}; }),
            "[gradient] the layer 'batch_norm_1' has no derivative that a network may hold: its "
            "gradient is 'batch_norm_grad'");
  EXPECT_EQ(refused({4, 3}, [](const Expression& x) { return x | GRU{.units = 2}; }),
            "[gradient] the layer 'gru_1' has no derivative that a network may hold: its gradient "
            "is 'recurrent_grad'");
  EXPECT_EQ(refused({3}, [](const Expression& x) { return x * 0 + 1 > 2; }),
            "[gradient] y (3) does not depend on x (3)");
  FunctionalNetwork one;
  FunctionalNetwork other;
  const Expression x = one.input("x", {2});
  const Expression z = other.input("z", {2});
  EXPECT_EQ(message_of([&] { gradient(sin(x), z); }),
            "[gradient] expected values of one network; got x of another");
  EXPECT_EQ(message_of([&] { gradient(sin(x), std::vector<Expression>{}); }),
            "[gradient] expected at least one x; got none");
  EXPECT_EQ(message_of([&] { gradient(one.input("ids", {2}, DType::i32), x); }),
            "[gradient] expected y as f32 with a batch; got i32 (2)");
  EXPECT_EQ(message_of([&] { hessian_vector(sin(x), x, one.input("v", {3})); }),
            "[hessian_vector] expected v of x's shape (2); got (3)");
  const CustomLayer layer{"weighted", [](const Expression& v, LayerWeights& weights) {
                            const Expression w = weights.add("w", {2});
                            return gradient(v * w, w);
                          }};
  EXPECT_EQ(message_of([&] { Network({2}, {layer}); }),
            "[gradient 'weighted_1'] expected x as f32 with a batch; got f32 (2) of weights alone");
}

/// A loss of values and of slopes, by network_input().
Expression sobolev(const Expression& y, const Expression& target) {
  return square(y - target) + 0.3 * square(gradient(y, network_input(y)) - 2);
}

TEST(Derivatives, StandInCustomLosses) {
  std::vector<float> x;
  std::vector<float> t;
  for (int i = 0; i < 12; ++i) {
    x.push_back(std::sin(2.3F * static_cast<float>(i)));
    t.push_back(std::cos(1.1F * static_cast<float>(i)));
  }
  const Dataset data = data_of(records(x, {1}), records(t, {1}));
  const Network network({1}, {Dense{.units = 5}, Tanh{}, Dense{.units = 1}});
  Model model(network, {.device = "cpu", .seed = 3});
  const Objective objective{.custom_loss = sobolev, .optimizer = SGD{.learning_rate = 1}};
  Trainer trainer(model, objective);

  const std::vector<float> y = vector_of(model.predict(data));
  const std::vector<float> slope = vector_of(model.jacobian(data));
  double loss = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    loss += (std::pow(y[i] - t[i], 2) + 0.3 * std::pow(slope[i] - 2, 2)) / 12;
  }
  EXPECT_NEAR(trainer.evaluate(data).loss, loss, 1e-6);

  // One step of rate 1 takes the gradient off the weights.
  const std::vector<float> before = parameter(model, "dense_1.weight");
  trainer.fit(data, {.epochs = 1, .batch = 12, .shuffle = false});
  const std::vector<float> after = parameter(model, "dense_1.weight");
  const float h = 1e-2F;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto loss_at = [&](float moved) {
      Model other(network, {.device = "cpu", .seed = 3});
      std::vector<float> weights = before;
      weights[i] += moved;
      set_parameter(other, "dense_1.weight", weights);
      return Trainer(other, objective).evaluate(data).loss;
    };
    EXPECT_NEAR(before[i] - after[i], (loss_at(h) - loss_at(-h)) / (2 * h), 2e-3) << i;
  }
}

TEST(Derivatives, OfLossesSayWhatIsWrong) {
  const Dataset data =
      data_of(records(std::vector<float>{1, 2}, {1}), records(std::vector<float>{1, 2}, {1}));
  const auto refusal = [&](CustomLoss loss, std::vector<Layer> layers) {
    Model model(Network({1}, std::move(layers)), {.device = "cpu"});
    return message_of([&] { train(model, data, {.epochs = 1, .custom_loss = std::move(loss)}); });
  };
  EXPECT_EQ(refusal([](const Expression& y, const Expression&) { return network_input(y, "z"); },
                    {Dense{.units = 1}}),
            "[network_input] the network has no input 'z'; it has input");
  EXPECT_NE(refusal(sobolev, {BatchNorm{}, Dense{.units = 1}}).find("has no gradient"),
            std::string::npos);
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {1});
  EXPECT_EQ(message_of([&] { network_input(x); }),
            "[network_input] expected the output that a loss gets; outside of a loss "
            "FunctionalNetwork::input() returns the input");
}

}  // namespace
}  // namespace linnet::testing
