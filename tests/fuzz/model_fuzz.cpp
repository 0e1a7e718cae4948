// SPDX-License-Identifier: Apache-2.0
#include <linnet/metrics.h>
#include <linnet/model.h>
#include <linnet/trainer.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/fuzz_input.h"
#include "nn/definition.h"

namespace linnet::fuzz {
namespace {

constexpr std::int64_t kSamples = 5;
constexpr std::array<std::int64_t, 3> kBatches{1, 2, kSamples};

/// What a model may cost and still be run: inputs a second are worth more than large models.
constexpr double kMostElements = 1e5;
constexpr double kMostFlops = 1e6;

bool cheap(const NetworkDefinition& network) {
  const Graph& graph = network.graph;
  double elements = 0;
  double flops = 0;
  for (const Node& node : graph.nodes()) {
    flops += cost_of(graph, node).flops;
    for (const Value value : node.outputs) {
      elements += static_cast<double>(graph.shape(value).elements());
    }
  }
  for (const NetworkInput& input : network.inputs) {
    elements += static_cast<double>(input.sample.elements());
  }
  return elements < kMostElements && flops < kMostFlops;
}

/// Values of every size, and ids of which the last ones lie outside most embeddings.
Column column(const NetworkInput& input, DType dtype) {
  const std::int64_t elements = kSamples * input.sample.elements();
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < elements; ++i) {
    const auto level = static_cast<std::uint8_t>(i * 37);
    if (dtype == DType::u8) numbers.push_back(level);
    if (dtype == DType::f32) numbers.push_back(static_cast<float>(level) / 16 - 8);
    if (dtype == DType::i32) {
      numbers.push_back(static_cast<float>(i + 2 < elements ? level % 8 : level - 100));
    }
  }
  return {.name = input.name,
          .data = Tensor(std::move(numbers), input.sample.batched(kSamples)).to(dtype)};
}

std::vector<Column> columns(const NetworkDefinition& network, DType first) {
  std::vector<Column> inputs;
  for (const NetworkInput& input : network.inputs) {
    inputs.push_back(column(input, inputs.empty() ? first : input.dtype));
  }
  return inputs;
}

/// Labels for what looks like class scores, else values.
Dataset with_target(std::vector<Column> inputs, const NetworkDefinition& network) {
  const Shape output = network.output_sample();
  const std::string& name = network.outputs[0].name;
  DatasetInfo info{.name = "fuzz"};
  if (output.rank() == 1 && output[0] > 1 && output[0] < 1000) {
    std::vector<std::int32_t> labels;
    for (std::int64_t i = 0; i < output[0]; ++i) info.classes.push_back(std::to_string(i));
    for (std::int64_t i = 0; i < kSamples; ++i) {
      labels.push_back(static_cast<std::int32_t>(i % output[0]));
    }
    return {std::move(inputs), {{name, Tensor(std::move(labels))}}, std::move(info)};
  }
  std::vector<float> values(static_cast<std::size_t>(kSamples * output.elements()), 0.5F);
  return {std::move(inputs),
          {{name, Tensor(std::move(values), output.batched(kSamples))}},
          std::move(info)};
}

void run(Model& model) {
  const NetworkDefinition& network = model.network().definition();
  const DType first = network.inputs[0].dtype;
  for (const DType dtype : {first, DType::u8}) {
    if (dtype == DType::u8 && first != DType::f32) continue;
    for (const std::int64_t batch : kBatches) {
      accepts([&] {
        const Dataset data(columns(network, dtype));
        const std::vector<Column> outputs = model.predict_all(data, batch);
        for (std::size_t i = 0; i < outputs.size(); ++i) {
          expect(outputs[i].data.shape() == network.output_sample(i).batched(kSamples),
                 "every sample has its outputs");
        }
        model.predict_probabilities(data, batch);
      });
    }
    for (const std::int64_t batch : kBatches) {
      const auto data = [&] { return with_target(columns(network, dtype), network); };
      accepts([&] { evaluate(model, data(), Loss::automatic, batch); });
      accepts([&] { evaluate_metrics(model, data(), {.batch = batch}); });
    }
  }
}

}  // namespace
}  // namespace linnet::fuzz

// A model file that is accepted predicts and is evaluated, in batches of which the last is smaller.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  const auto path = fuzz::put("model.safetensors", std::span(data, size));
  fuzz::accepts([&] {
    Model model = Model::load(path, {.device = "cpu", .threads = 1});
    if (fuzz::cheap(model.network().definition())) fuzz::run(model);
  });
  return 0;
}
