// SPDX-License-Identifier: Apache-2.0
// The zoo against PyTorch: from the same weights the outputs, the losses, every gradient and ten
// steps of an optimizer. The references are float64 (tests/fixtures/make_fixtures.py says how they
// are made), so that what differs is Linnet's rounding alone.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "model/model_state.h"
#include "model/step_graph.h"
#include "networks/networks.h"
#include "ops/metrics/metrics.h"
#include "plan/passes/collect_gradients.h"
#include "torch_fixture.h"
#include "weights.h"

namespace linnet::testing {
namespace {

constexpr double kTolerance = 1e-4;  // relative, of a tensor's norm
/// Of outputs and statistics after ten steps: where a sum is rounded otherwise, a ReLU near 0 may
/// let its gradient through. (Losses are means, and stay within kTolerance.)
constexpr double kLaterTolerance = 1e-3;
/// Of what the steps changed, beside the rounding of ten sums in float32: a change may be as little
/// as a few millionths of a weight.
constexpr double kChangeTolerance = 5e-2;
constexpr double kRounding = 10 * 0x1p-25;

struct ZooModel {
  const char* name;
  std::function<Network(const TorchFixture&)> network;
};

Network small_mlp(const TorchFixture&) {
  const std::vector<std::int64_t> hidden{48, 24};
  return zoo::mlp(30, hidden, ReLU{}, 7);
}

/// Returns what no model of the zoo has: every recurrent layer, in both directions.
Network all_recurrent(const TorchFixture&) {
  return Network({11},
                 {Embedding{.vocabulary = 60, .features = 12},
                  LSTM{.units = 10, .return_sequences = true},
                  Bidirectional{.layer = GRU{.units = 8, .return_sequences = true}},
                  Bidirectional{.layer = LSTM{.units = 7, .return_sequences = true}},
                  SimpleRNN{.units = 9}, Dense{.units = 3}},
                 DType::i32);
}

/// Returns layers over volumes.
Network volumes(const TorchFixture& fixture) {
  return Network(fixture.sample,
                 {Conv3d{.filters = 8, .padding = Padding3d::same()}, Tanh{},
                  MaxPool3d{.size = {1, 2, 2}}, BatchNorm{},
                  Conv3d{.filters = 6,
                         .kernel = {3, 2, 3},
                         .stride = {2, 1, 1},
                         .padding = {Padding3d::Mode::fixed, 1, 1, 0, 0, 1, 1},
                         .dilation = {1, 2, 1},
                         .groups = 2},
                  Tanh{}, AvgPool3d{.size = {2, 3, 3}, .stride = 1, .padding = Padding3d::all(1)},
                  Flatten{}, Dense{.units = 5}});
}

template <class Options>
using OfImages = Network (*)(const Options& options);

/// A network of the zoo at the fixture's size.
template <class Options>
std::function<Network(const TorchFixture&)> sized(OfImages<Options> network) {
  return [network](const TorchFixture& f) {
    return network({.sample = f.sample, .classes = f.outputs});
  };
}

/// A line here and one in tests/fixtures/torch_models.py add a model.
const std::vector<ZooModel>& zoo_models() {
  static const std::vector<ZooModel> all{
      {"mnist_cnn", sized(workloads::mnist_cnn)},
      {"mlp", small_mlp},
      {"volumes", volumes},
      {"rosenbrock_mlp", [](const TorchFixture&) { return workloads::rosenbrock_mlp(); }},
      {"flux_cnn", sized(workloads::flux_cnn)},
      {"vgg_cifar10", sized(workloads::vgg_cifar10)},
      {"vgg11", sized(zoo::vgg11)},
      {"vgg16", sized(zoo::vgg16)},
      {"gru_imdb", [](const TorchFixture&) { return workloads::gru_imdb(); }},
      {"recurrent", all_recurrent},
      {"resnet18", sized(zoo::resnet18)},
      {"resnet34", sized(zoo::resnet34)},
      {"resnet50", sized(zoo::resnet50)},
      {"resnet50_cifar100", sized(zoo::resnet50)},
      {"resnet50_features", sized(zoo::resnet50)},
      {"resnet101", sized(zoo::resnet101)},
      {"densenet121", sized(zoo::densenet121)},
      {"densenet169", sized(zoo::densenet169)},
  };
  return all;
}

/// Masks differ between frameworks by nature.
Network without_dropout(const Network& network) {
  auto json = nlohmann::ordered_json::parse(network.to_json());
  for (auto& node : json["nodes"]) {
    if (node["op"] == "dropout") node["attributes"]["rate"] = 0.0;
  }
  return Network::from_json(json.dump());
}

/// A model's training step on a data set in stored order, with its memory in sight.
class Steps {
 public:
  Steps(Model& model, const Dataset& data, const TorchFixture& fixture)
      : state_(model.state()), batch_(static_cast<std::uint64_t>(fixture.batch)) {
    const Loss loss = fixture.targets == "answers" ? Loss::binary_cross_entropy : Loss::automatic;
    const StepData read = step_data(state_.definition(), data, {.loss = loss});
    program_ = state_.backend->prepare(
        training_step(state_.definition(), read,
                      {.batch = fixture.batch,
                       .shuffle = false,
                       .optimizer = resolve({.optimizer = fixture.optimizer}, 1, fixture.steps),
                       .disabled_passes = {std::string(kCollectGradients)}},  // which are read here
                      supports_of(*state_.backend)),
        {});
    for (std::size_t s = 0; s < kStorages; ++s) {
      memory_.buffers[s] = state_.backend->allocate(program_->plan().bytes[s]);
    }
    memory_.buffers[static_cast<std::size_t>(Storage::parameter)] = state_.parameters;
    memory_.buffers[static_cast<std::size_t>(Storage::state)] = state_.statistics;
    program_->attach(memory_);
    for (std::size_t slot = 0; slot < read.parts.size(); ++slot) {
      views_.push_back(state_.backend->view(read.parts[slot].bytes));
      program_->bind(slot, views_.back()->data());
    }
    const auto records = static_cast<std::uint64_t>(data.size());
    info_ = {.epoch = 1, .samples = records};
  }

  /// The next `count` steps; returns their losses.
  std::vector<double> run(std::size_t count) {
    program_->run(info_, count, batch_);
    ++state_.weights_version;  // as a Session would say
    std::vector<double> losses(count);
    state_.backend->download(*memory_[Storage::optimizer],
                             sizeof(double) * (std::size_t{kCounters} + info_.step),
                             std::as_writable_bytes(std::span(losses)));
    info_ = info_.after(count, batch_);
    return losses;
  }

  std::span<const float> gradient(const ParameterSpec& spec) const {
    const std::byte* data = memory_[Storage::gradient]->data() + spec.offset;
    return {reinterpret_cast<const float*>(data), static_cast<std::size_t>(spec.shape.elements())};
  }

 private:
  ModelState& state_;
  std::uint64_t batch_;
  std::unique_ptr<Program> program_;
  Memory memory_;
  std::vector<std::shared_ptr<Buffer>> views_;
  StepInfo info_;
};

/// Keeps the worst of many distances, for a message and a limit.
class Worst {
 public:
  void add(double distance, const std::string& name) {
    if (!(distance <= value)) {  // NaN is the worst
      value = distance;
      at = name;
    }
  }
  double value = 0;
  std::string at;
};

#define EXPECT_WITHIN(worst, limit) EXPECT_LE((worst).value, limit) << (worst).at

class TorchFixtures : public ::testing::TestWithParam<ZooModel> {};

TEST_P(TorchFixtures, OutputsLossesGradientsAndTenStepsAgree) {
  const std::string name = GetParam().name;
  const TorchFixture fixture =
      read_fixture(std::string(LINNET_TORCH_FIXTURES) + "/" + name + ".json");
  Model model(without_dropout(GetParam().network(fixture)), {.device = "cpu"});
  const NetworkDefinition& network = model.network().definition();
  ASSERT_EQ(network.parameters.size(), fixture.weights.size() + fixture.statistics.size());
  std::map<std::string, const ParameterSpec*> specs;
  for (const ParameterSpec& spec : network.parameters) specs[spec.name] = &spec;
  for (const auto* tensors : {&fixture.weights, &fixture.statistics}) {
    for (const TorchTensor& tensor : *tensors) {
      ASSERT_TRUE(specs.contains(tensor.name)) << tensor.name;
      ASSERT_EQ(specs[tensor.name]->shape, tensor.shape) << tensor.name;
      ASSERT_EQ(specs[tensor.name]->trainable, tensors == &fixture.weights) << tensor.name;
      set_parameter(model, tensor.name, initial_values(tensor));
    }
  }

  const Dataset data = fixture_data(fixture);
  const Dataset first = fixture_data(fixture, true);
  Worst outputs;
  const auto summary_of_outputs = [&] {
    return summarise("outputs", model.predict(first).as<float>());
  };
  const auto summary_of = [&](const TorchTensor& tensor) {
    return summarise(tensor.name, model.parameter(tensor.name).as<float>());
  };
  outputs.add(distance(summary_of_outputs(), fixture.outputs_before), "before the first step");
  if (fixture.steps == 0) {
    EXPECT_WITHIN(outputs, kTolerance);
    return;
  }

  Steps steps(model, data, fixture);
  std::vector<double> losses = steps.run(1);
  Worst gradients;
  for (const TorchTensor& tensor : fixture.weights) {
    const TensorSummary gradient = summarise(tensor.name, steps.gradient(*specs[tensor.name]));
    gradients.add(distance(gradient, tensor.gradient), tensor.name);
    gradients.add(std::abs(gradient.norm / tensor.gradient.norm - 1), tensor.name + " (norm)");
  }
  const std::vector<double> others = steps.run(static_cast<std::size_t>(fixture.steps) - 1);
  losses.insert(losses.end(), others.begin(), others.end());
  Worst loss;
  ASSERT_EQ(losses.size(), fixture.losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    loss.add(std::abs(losses[i] / fixture.losses[i] - 1), "step " + std::to_string(i + 1));
  }
  Worst weights;
  Worst changes;
  Worst statistics;
  for (const TorchTensor& tensor : fixture.weights) {
    const double off = distance(summary_of(tensor), tensor.after);
    weights.add(off, tensor.name);
    changes.add(std::max(off - kRounding, 0.0) * tensor.after.norm / tensor.change, tensor.name);
  }
  for (const TorchTensor& tensor : fixture.statistics) {
    statistics.add(distance(summary_of(tensor), tensor.after), tensor.name);
  }
  Worst later;
  later.add(distance(summary_of_outputs(), fixture.outputs_after), "outputs after the last step");

  EXPECT_WITHIN(outputs, kTolerance);
  EXPECT_WITHIN(later, kLaterTolerance);
  EXPECT_WITHIN(loss, kTolerance);
  EXPECT_WITHIN(gradients, kTolerance);
  EXPECT_WITHIN(weights, kTolerance);
  EXPECT_WITHIN(changes, kChangeTolerance);
  EXPECT_WITHIN(statistics, kLaterTolerance);
  for (const auto& [what, worst] : {std::pair{"outputs", &outputs},
                                    {"later outputs", &later},
                                    {"losses", &loss},
                                    {"gradients", &gradients},
                                    {"weights", &weights},
                                    {"changes", &changes},
                                    {"statistics", &statistics}}) {
    RecordProperty(what, std::to_string(1e6 * worst->value) + "e-6 " + worst->at);
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, TorchFixtures, ::testing::ValuesIn(zoo_models()),
                         [](const auto& model) { return std::string(model.param.name); });

}  // namespace
}  // namespace linnet::testing
