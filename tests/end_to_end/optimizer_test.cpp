// SPDX-License-Identifier: Apache-2.0
// Optimizers, schedules, clipping and parameter groups, from the options to the weights.
#include <gtest/gtest.h>
#include <linnet/trainer.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/pattern.h"
#include "fixtures.h"
#include "message_of.h"
#include "model/step_graph.h"
#include "train/host_schedule.h"

namespace linnet::testing {
namespace {

constexpr double kRate = 0.05;
constexpr std::int64_t kSamples = 10;

/// As pattern() in tests/fixtures/make_optimizer_fixtures.py.
std::vector<float> pattern(std::int64_t count, std::int64_t step, std::int64_t start,
                           std::int64_t modulus) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>((i * step + start) % modulus - modulus / 2) / 8);
  }
  return values;
}

Dataset pattern_data() {
  return data_of(records(pattern(kSamples * 3, 7, 2, 17), {3}),
                 records(pattern(kSamples * 2, 5, 1, 13), {2}));
}

Model pattern_model(bool norm, bool conv = false) {
  Network network({3}, {});
  if (conv) {  // its weights and outputs have one order in both layouts
    network.add(Reshape{.sample = {3, 1, 1}});
    network.add(Conv2d{.filters = 4, .kernel = {3, 1}, .name = "a"});
    network.add(Flatten{});
  } else {
    network.add(Dense{.units = 4, .name = "a"});
  }
  if (norm) network.add(BatchNorm{.name = "n"});
  network.add(Tanh{});
  network.add(Dense{.units = 2, .name = "b"});
  Model model(network, {.device = "cpu"});
  std::int64_t number = 0;
  for (const char* name : {"a.weight", "a.bias", "n.weight", "n.bias", "b.weight", "b.bias"}) {
    if (name[0] == 'n' && !norm) continue;
    const std::int64_t count = model.parameter_shape(name).elements();
    set_parameter(model, name, pattern(count, 5, 3 * number++, 11));
  }
  if (norm) {
    set_parameter(model, "n.running_mean", pattern(4, 3, 1, 5));
    std::vector<float> variance = pattern(4, 2, 1, 5);
    for (float& v : variance) v += 1;
    set_parameter(model, "n.running_var", variance);
  }
  return model;
}

TrainingOptions with(const Optimizer& optimizer) { return {.optimizer = optimizer}; }
TrainingOptions with(const Schedule& schedule, Warmup warmup = {}) {
  return {.optimizer = SGD{.learning_rate = kRate, .momentum = 0.9},
          .schedule = schedule,
          .warmup = warmup};
}
TrainingOptions with(Clip clip) {
  TrainingOptions options = with(Constant{});
  options.clip = clip;
  return options;
}
TrainingOptions with(Lookahead lookahead) {
  TrainingOptions options = with(Constant{});
  options.lookahead = lookahead;
  return options;
}
TrainingOptions with(std::vector<ParameterGroup> trains) {
  TrainingOptions options = with(Constant{});
  options.trains = std::move(trains);
  return options;
}

/// Of PyTorch's cases by name: what asks Linnet for the same.
std::map<std::string, TrainingOptions> torch_cases() {
  const double decayed = 0.1;  // weight decay
  std::map<std::string, TrainingOptions> cases{
      {"sgd", with(SGD{})},
      {"sgd decay", with(SGD{.learning_rate = kRate, .weight_decay = decayed})},
      {"momentum", with(SGD{.learning_rate = kRate, .momentum = 0.9})},
      {"nesterov",
       with(SGD{
           .learning_rate = kRate, .momentum = 0.9, .nesterov = true, .weight_decay = decayed})},
      {"adam", with(Adam{})},
      {"adam settings", with(Adam{.learning_rate = kRate,
                                  .beta1 = 0.8,
                                  .beta2 = 0.95,
                                  .epsilon = 1e-2,
                                  .weight_decay = decayed})},
      {"adamw", with(AdamW{})},
      {"adamw settings", with(AdamW{.learning_rate = kRate,
                                    .beta1 = 0.8,
                                    .beta2 = 0.95,
                                    .epsilon = 1e-2,
                                    .weight_decay = 0.3})},
      {"rmsprop", with(RMSprop{})},
      {"rmsprop settings", with(RMSprop{.learning_rate = kRate,
                                        .alpha = 0.8,
                                        .epsilon = 1e-2,
                                        .momentum = 0.5,
                                        .weight_decay = decayed})},
      {"adagrad", with(Adagrad{})},
      {"adagrad settings", with(Adagrad{.learning_rate = kRate,
                                        .initial_accumulator_value = 0.3,
                                        .epsilon = 1e-2,
                                        .weight_decay = decayed})},
      {"lion", with(Lion{})},
      {"lion settings",
       with(Lion{.learning_rate = kRate, .beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.2})},
      {"muon", with(Muon{})},
      {"muon settings", with(Muon{.learning_rate = kRate,
                                  .momentum = 0.8,
                                  .nesterov = false,
                                  .iterations = 3,
                                  .weight_decay = 0.2,
                                  .exclude = {"b.*"},
                                  .adam_learning_rate = 0.01,
                                  .adam_beta1 = 0.8,
                                  .adam_beta2 = 0.95,
                                  .adam_epsilon = 1e-2})},
      {"muon of a convolution", with(Muon{.learning_rate = kRate, .normalize_weights = true})},
      {"step", with(StepDecay{.every_epochs = 5.0 / 3, .gamma = 0.5})},
      {"cosine", with(CosineDecay{.floor = 0.1})},
      {"cosine of two epochs", with(CosineDecay{.epochs = 2, .floor = 0.1})},
      {"linear", with(LinearDecay{.floor = 0.2})},
      {"polynomial", with(PolynomialDecay{.power = 2.5})},
      {"one cycle", with(OneCycle{})},
      {"one cycle settings", with(OneCycle{.rise = 0.5, .start = 0.25, .floor = 0.25 / 8})},
      {"triangle", with(Piecewise{})},
      {"piecewise",
       with(Piecewise{.at = {1.0 / 3, 1, 1.5, 3}, .factors = {0.2, 1, 0.5, 0.1}, .epochs = 1})},
      {"warm-up and piecewise",
       with(Piecewise{.at = {6.0 / 12, 9.0 / 12}, .factors = {1, 0.25}}, {.epochs = 4.0 / 3})},
      {"warm-up", with(Constant{}, {.epochs = 4.0 / 3})},
      {"warm-up and cosine", with(CosineDecay{.floor = 0.1}, {.epochs = 4.0 / 3})},
      {"warm-up and linear", with(LinearDecay{.floor = 0.2}, {.epochs = 4.0 / 3})},
      {"plateau", with(Plateau{.factor = 0.5, .patience = 0, .threshold = 0.9, .floor = 0.3})},
      {"function", with([](double epoch, std::uint64_t step) {
         return 1 / (1 + epoch) + 0.01 * static_cast<double>(step);
       })},
      {"clip norm", with(Clip{.norm = 0.4})},
      {"clip value", with(Clip{.value = 0.1})},
      {"lookahead", with(Lookahead{.every = 5, .alpha = 0.3})},
      {"groups", with({{.name = "a.weight", .learning_rate_factor = 0.1},
                       {.name = "*", .weight_decay = 0.2}})},
      {"frozen", with(Adam{})},
      {"frozen norm", with({{.name = "a.*"}, {.name = "b.*"}})},
      {"frozen below", with({{.name = "b.*"}})},
      {"norm", with(Constant{})},
  };
  cases["frozen"].trains = {{.name = "b.*"}};
  return cases;
}

double largest_difference(const std::vector<float>& a, const std::vector<double>& b) {
  double largest = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

/// PyTorch's numbers are float64; Linnet's float32 weights are about 1 and pass twelve steps.
TEST(Optimizers, AgreeWithPyTorch) {
  std::ifstream file(LINNET_TORCH_FIXTURES "/optimizers.json");
  const auto json = nlohmann::json::parse(file);
  const std::map<std::string, TrainingOptions> cases = torch_cases();
  ASSERT_EQ(json.at("cases").size(), cases.size());
  for (const auto& row : json.at("cases")) {
    const auto name = row.at("name").get<std::string>();
    SCOPED_TRACE(name);
    ASSERT_TRUE(cases.contains(name));
    const auto weights = row.at("weights").get<std::map<std::string, std::vector<double>>>();
    Model model =
        pattern_model(weights.contains("n.weight"), name.find("convolution") != std::string::npos);
    TrainingOptions options = cases.at(name);
    options.epochs = 4;
    options.batch = 4;
    options.shuffle = false;
    const History history = train(model, pattern_data(), options);
    const auto rates = row.at("rates").get<std::vector<double>>();
    const auto losses = row.at("losses").get<std::vector<double>>();
    for (std::size_t epoch = 0; epoch < 4; ++epoch) {
      EXPECT_NEAR(history.epochs[epoch].learning_rate, rates[3 * epoch + 2], 1e-9);
      EXPECT_NEAR(history.epochs[epoch].train.loss, losses[epoch], 1e-5);
    }
    for (const auto& [tensor, values] : weights) {
      EXPECT_LE(largest_difference(parameter(model, tensor), values), 1e-5) << tensor;
    }
  }
}

/// Moments and bias corrections of what was frozen, as where requires_grad of PyTorch's changes.
TEST(Optimizers, ThawedParametersAgreeWithPyTorch) {
  std::ifstream file(LINNET_TORCH_FIXTURES "/optimizers.json");
  const auto json = nlohmann::json::parse(file);
  using Phases = std::vector<std::vector<ParameterGroup>>;
  const std::map<std::string, std::pair<Optimizer, Phases>> cases{
      {"adam", {Adam{.learning_rate = kRate}, {{{.name = "b*"}}, {{.name = "b*"}}, {}, {}}}},
      {"adamw and back",
       {AdamW{.learning_rate = kRate}, {{}, {{.name = "a*"}}, {}, {{.name = "b.w*"}}}}},
      {"momentum",
       {SGD{.learning_rate = kRate, .momentum = 0.9},
        {{}, {{.name = "a*"}}, {}, {{.name = "b*"}}}}}};
  ASSERT_EQ(json.at("thawed").size(), cases.size());
  for (const auto& row : json.at("thawed")) {
    const auto name = row.at("name").get<std::string>();
    SCOPED_TRACE(name);
    const auto& [optimizer, phases] = cases.at(name);
    Trainer trainer(pattern_model(false), {.optimizer = optimizer});
    for (const std::vector<ParameterGroup>& trains : phases) {
      trainer.set_trains(trains);
      trainer.fit(pattern_data(), {.batch = 4, .shuffle = false});
    }
    const auto weights = row.at("weights").get<std::map<std::string, std::vector<double>>>();
    for (const auto& [tensor, values] : weights) {
      EXPECT_LE(largest_difference(parameter(trainer.model(), tensor), values), 1e-5) << tensor;
    }
  }
}

TEST(Optimizers, EverySettingArrives) {
  const auto settings = [](const Objective& options) { return resolve(options, 4, 7).settings; };
  EXPECT_EQ(settings({.optimizer = RMSprop{.learning_rate = 0.3,
                                           .alpha = 0.55,
                                           .epsilon = 1e-3,
                                           .momentum = 0.6,
                                           .weight_decay = 0.05},
                      .schedule = StepDecay{.every_epochs = 1.5, .gamma = 0.35},
                      .warmup = {.epochs = 0.25},
                      .clip = {.norm = 2.5, .value = 1.5}}),
            (UpdateSettings{.rule = UpdateRule::rmsprop_momentum,
                            .learning_rate = 0.3,
                            .momentum = 0.6,
                            .alpha = 0.55,
                            .epsilon = 1e-3,
                            .weight_decay = 0.05,
                            .clip_norm = 2.5,
                            .clip_value = 1.5,
                            .decay = Decay::step,
                            .warmup_steps = 2,
                            .every_steps = 11,
                            .gamma = 0.35}));
  EXPECT_EQ(settings({.schedule = StepDecay{.every_epochs = 0.01}}).every_steps, 1);
  EXPECT_EQ(settings({.schedule = CosineDecay{}}).total_steps, 28);
  EXPECT_EQ(settings({.schedule = LinearDecay{.epochs = 2}}).total_steps, 14);
  const UpdateSettings cycle = settings({.schedule = OneCycle{.epochs = 3, .rise = 0.5}});
  EXPECT_EQ(cycle.total_steps, 21);
  EXPECT_EQ(cycle.rise_steps, 9.5);
  const UpdateSettings later =
      settings({.schedule = OneCycle{.epochs = 3, .rise = 0.5}, .warmup = {.epochs = 1}});
  EXPECT_EQ(later.total_steps, 21);
  EXPECT_EQ(later.rise_steps, 6);
  EXPECT_EQ(settings({.optimizer = SGD{.momentum = 0.9}}).rule, UpdateRule::momentum);
  EXPECT_EQ(settings({.optimizer = RMSprop{}}).rule, UpdateRule::rmsprop);
}

TEST(Optimizers, NameWhatIsOutOfRange) {
  const auto error = [](const Objective& options) {
    return message_of([&] { resolve(options, 1, 1); });
  };
  const double nan = std::nan("");
  EXPECT_EQ(error({}), "");
  EXPECT_EQ(error({.optimizer = Adam{.beta2 = 1}}), "[adam] expected beta2 to be in [0, 1); got 1");
  EXPECT_EQ(error({.optimizer = Lion{.beta1 = nan}}),
            "[lion] expected beta1 to be in [0, 1); got nan");
  EXPECT_EQ(error({.optimizer = AdamW{.epsilon = 0}}),
            "[adamw] expected epsilon to be above 0 and finite; got 0");
  EXPECT_EQ(error({.optimizer = SGD{.weight_decay = -1}}),
            "[sgd] expected weight_decay to be at least 0 and finite; got -1");
  EXPECT_EQ(error({.optimizer = Adagrad{.initial_accumulator_value = -1}}),
            "[adagrad] expected initial_accumulator_value to be at least 0 and finite; got -1");
  EXPECT_EQ(error({.optimizer = RMSprop{.learning_rate = INFINITY}}),
            "[rmsprop] expected learning_rate to be at least 0 and finite; got inf");
  EXPECT_EQ(error({.optimizer = Muon{.iterations = 0}}),
            "[muon] expected iterations to be in [1, 20]; got 0");
  EXPECT_EQ(error({.optimizer = Muon{.adam_beta2 = 1}}),
            "[muon] expected adam_beta2 to be in [0, 1); got 1");
  EXPECT_EQ(error({.warmup = {.epochs = -1}}),
            "[warmup] expected epochs to be in [0, 1e9]; got -1");
  EXPECT_EQ(error({.clip = {.value = -1}}),
            "[clip] expected value to be at least 0 and finite; got -1");
  EXPECT_EQ(error({.schedule = StepDecay{.every_epochs = 0}}),
            "[step] expected every_epochs to be in (0, 1e9]; got 0");
  EXPECT_EQ(error({.schedule = CosineDecay{.floor = -0.1}}),
            "[cosine] expected floor to be at least 0 and finite; got -0.1");
  EXPECT_EQ(error({.schedule = LinearDecay{.epochs = -2}}),
            "[linear] expected epochs to be in [0, 1e9]; got -2");
  EXPECT_EQ(error({.schedule = PolynomialDecay{.power = 0}}),
            "[polynomial] expected power to be above 0 and finite; got 0");
  EXPECT_EQ(error({.schedule = OneCycle{.rise = 1.5}}),
            "[one_cycle] expected rise to be in [0, 1]; got 1.5");
  EXPECT_EQ(error({.schedule = Piecewise{.at = {0, 1}}}),
            "[piecewise] expected 1 to 32 places in at and as many factors; got 2 and 3");
  EXPECT_EQ(error({.schedule = Piecewise{.at = {}, .factors = {}}}),
            "[piecewise] expected 1 to 32 places in at and as many factors; got 0 and 0");
  EXPECT_EQ(error({.schedule = Piecewise{.at = std::vector<double>(33, 0.5),
                                         .factors = std::vector<double>(33, 1)}}),
            "[piecewise] expected 1 to 32 places in at and as many factors; got 33 and 33");
  EXPECT_EQ(error({.schedule = Piecewise{.at = {0, 0.5, 0.5}}}),
            "[piecewise] expected places that rise in at; got 0.5 before 0.5");
  EXPECT_EQ(error({.schedule = Piecewise{.at = {0, std::nan(""), 1}}}),
            "[piecewise] expected at to be in [0, 1e9]; got [0, nan, 1]");
  EXPECT_EQ(error({.schedule = Piecewise{.factors = {0, INFINITY, 1}}}),
            "[piecewise] expected factors to be at least 0 and finite; got [0, inf, 1]");
  EXPECT_EQ(error({.schedule = Plateau{.factor = 1}}),
            "[plateau] expected factor to be in (0, 1); got 1");
  EXPECT_EQ(error({.schedule = ScheduleFunction{}}), "the schedule is an empty function");
}

TEST(Optimizers, PatternsMatchWholeNames) {
  for (const char* pattern : {"layer4.*", "*", "layer4.0.conv1.weight", "*.weight", "layer?.*",
                              "l*4*conv?.w*t", "**conv1.weight*"}) {
    EXPECT_TRUE(matches(pattern, "layer4.0.conv1.weight")) << pattern;
  }
  for (const char* pattern : {"layer4", "", "conv1.weight", "layer??.*", "*.bias", "*weigh"}) {
    EXPECT_FALSE(matches(pattern, "layer4.0.conv1.weight")) << pattern;
  }
  EXPECT_TRUE(matches("*", ""));
  EXPECT_FALSE(matches("?", ""));
}

TEST(Optimizers, GroupsBecomeRanges) {
  const Model model = pattern_model(false);  // each parameter starts on a line of 16 elements
  const NetworkDefinition& network = model.network().definition();
  const auto grouped = [&](std::vector<ParameterGroup> trains) {
    return resolve(TrainingOptions{.optimizer = SGD{.weight_decay = 0.1}, .trains = trains},
                   network, 1);
  };
  EXPECT_TRUE(grouped({}).bounds.empty());
  // The first group that matches counts.
  const OptimizerAttrs attrs = grouped({{.name = "*.bias", .weight_decay = 0},
                                        {.name = "a.*", .learning_rate_factor = 0.5},
                                        {.name = "*", .learning_rate_factor = 2}});
  EXPECT_EQ(attrs.bounds, (std::vector<std::int64_t>{0, 16, 16, 32, 32, 48, 48, 64}));
  EXPECT_EQ(attrs.rate_factors, (std::vector<double>{0.5, 1, 2, 1}));
  EXPECT_EQ(attrs.weight_decays, (std::vector<double>{0.1, 0, 0.1, 0}));
  const OptimizerAttrs frozen = grouped({{.name = "b.*"}, {.name = "a.weight"}});
  EXPECT_EQ(frozen.bounds, (std::vector<std::int64_t>{0, 16, 32, 64}));
  EXPECT_EQ(trained_parameters(network, frozen), (std::vector<bool>{true, false, true, true}));
  EXPECT_EQ(message_of([&] {
              grouped({{.name = "b.*"}, {.name = "c.*"}});
            }),
            "no parameter matches 'c.*'; the parameters are a.weight, a.bias, b.weight, b.bias");
  EXPECT_EQ(message_of([&] { grouped({{.name = "*", .learning_rate_factor = -1}}); }),
            "[trains '*'] expected learning_rate_factor to be at least 0 and finite; got -1");
  EXPECT_EQ(message_of([&] { grouped({{.name = "*", .weight_decay = -1}}); }),
            "[trains '*'] expected weight_decay to be at least 0 and finite; got -1");
}

/// What is frozen keeps its bits, its statistics too; and nothing is computed for it.
TEST(Optimizers, WhatIsFrozenStays) {
  Model model = pattern_model(true);
  std::map<std::string, std::vector<float>> before;
  for (const ParameterSpec& spec : model.network().definition().parameters) {
    before[spec.name] = parameter(model, spec.name);
  }
  TrainingOptions options = with({{.name = "b.*"}});
  options.batch = 3;  // the last batch has one sample, which a frozen batch norm takes
  options.loss_options = {.l1 = 0.1, .l2 = 0.1};
  options.clip.norm = 0.3;
  train(model, pattern_data(), options);
  for (const auto& [name, values] : before) {
    EXPECT_EQ(parameter(model, name) == values, name[0] != 'b') << name;
  }

  const NetworkDefinition& network = model.network().definition();
  const Dataset data = pattern_data();
  const auto graph_of = [&](std::vector<ParameterGroup> trains) {
    return dump(training_step(
        network, step_data(network, data, {}),
        {.batch = 4,
         .optimizer = resolve(TrainingOptions{.trains = std::move(trains)}, network, 3)},
        [](const Op&, std::span<const ValueType>, std::span<const ValueType>) { return true; }));
  };
  const auto count = [](const std::string& text, const std::string& what) {
    int times = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
      ++times;
    }
    return times;
  };
  const std::string all = graph_of({});
  const std::string head = graph_of({{.name = "b.*"}});
  EXPECT_EQ(count(all, "dense_grad_weight"), 2) << all;
  EXPECT_EQ(count(head, "dense_grad_weight"), 1) << head;
  EXPECT_EQ(count(all, "batch_norm_grad"), 1);
  EXPECT_EQ(count(head, "batch_norm_grad"), 0);
  EXPECT_EQ(count(head, "batch_norm_inference"), 1);
  EXPECT_EQ(count(head, "dense_grad_input"), 0);
}

/// A convolution in front of a frozen batch norm is folded into one operator where no gradient
/// passes, and not where one does: both train alike.
TEST(Optimizers, FrozenNormsOfConvolutions) {
  const Network network({8, 8, 1},
                        {Conv2d{.filters = 4, .bias = false, .name = "conv"},
                         BatchNorm{.name = "norm"}, ReLU{}, Flatten{}, Dense{.units = 10}});
  const Dataset data =
      data_of(records(pattern(64 * 12, 7, 2, 17), {8, 8, 1}),
              records(std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1}));
  const auto weights = [&](std::vector<ParameterGroup> trains, std::vector<std::string> disabled) {
    Model model(network, {.device = "cpu", .seed = 3});
    train(model, data,
          {.epochs = 2,
           .batch = 4,
           .optimizer = SGD{.learning_rate = 0.1, .momentum = 0.9},
           .trains = std::move(trains),
           .disabled_passes = std::move(disabled)});
    std::vector<float> all = parameter(model, "conv.weight");
    const std::vector<float> head = parameter(model, "dense_1.weight");
    all.insert(all.end(), head.begin(), head.end());
    EXPECT_EQ(parameter(model, "norm.running_mean"), std::vector<float>(4, 0.0F));
    return all;
  };
  for (const std::vector<ParameterGroup>& trains :
       {std::vector<ParameterGroup>{{.name = "dense*"}},
        std::vector<ParameterGroup>{{.name = "dense*"}, {.name = "conv.*"}}}) {
    const std::vector<float> fused = weights(trains, {});
    const std::vector<float> plain =
        weights(trains, known_passes({"fold_batch_norm", "fuse_batch_norm"}));
    ASSERT_EQ(fused.size(), plain.size());
    for (std::size_t i = 0; i < fused.size(); ++i) EXPECT_NEAR(fused[i], plain[i], 1e-6) << i;
  }
}

/// The scripted loss of Plateau, by hand: after two bad epochs more than `patience` of 1.
TEST(Optimizers, PlateauCountsBadEpochs) {
  HostSchedule schedule(Plateau{.factor = 0.5, .patience = 1, .threshold = 0.1, .floor = 0.2});
  EXPECT_FALSE(schedule.every_step());
  std::vector<double> factors;
  for (double loss : {1.0, 0.95, 0.89, 0.85, 0.82, 0.81, 0.81, std::nan(""), 0.8, 0.8, 0.8}) {
    schedule.end_epoch(loss, 1);
    factors.push_back(schedule.factor({}));
  }
  EXPECT_EQ(factors, (std::vector<double>{1, 1, 1, 1, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.2}));
}

TEST(Optimizers, AFunctionIsAskedForEachStepAfterTheWarmUp) {
  std::vector<std::pair<double, std::uint64_t>> asked;
  TrainingOptions options = with(
      [&](double epoch, std::uint64_t step) {
        asked.emplace_back(epoch, step);
        return 0.5;
      },
      {.epochs = 1});
  options.epochs = 2;
  options.batch = 5;
  Model model = pattern_model(false);
  const History history = train(model, pattern_data(), options);
  EXPECT_EQ(asked, (std::vector<std::pair<double, std::uint64_t>>{{1, 2}, {1.5, 3}}));
  EXPECT_DOUBLE_EQ(history.epochs[0].learning_rate, kRate);
  EXPECT_DOUBLE_EQ(history.epochs[1].learning_rate, kRate / 2);
  options = with([](double, std::uint64_t) { return -1.0; });
  EXPECT_EQ(message_of([&] { train(model, pattern_data(), options); }),
            "expected a finite factor of at least 0 from the schedule's function; got -1 at epoch "
            "0, step 0");
}

}  // namespace
}  // namespace linnet::testing
