// SPDX-License-Identifier: Apache-2.0
#include <linnet/metrics.h>
#include <linnet/model.h>
#include <linnet/trainer.h>

#include <array>
#include <string>

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
    flops += node.op->cost(graph.types(node.inputs), graph.types(node.outputs)).flops;
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
  Column made{.name = input.name, .shape = input.sample, .dtype = dtype};
  const std::int64_t elements = kSamples * input.sample.elements();
  for (std::int64_t i = 0; i < elements; ++i) {
    const auto level = static_cast<std::uint8_t>(i * 37);
    if (dtype == DType::u8) made.bytes.push_back(level);
    if (dtype == DType::f32) made.floats.push_back(static_cast<float>(level) / 16 - 8);
    if (dtype == DType::i32) made.ids.push_back(i + 2 < elements ? level % 8 : level - 100);
  }
  return made;
}

Dataset dataset(const NetworkDefinition& network, DType dtype) {
  Dataset data;
  data.name = "fuzz";
  data.sample_shape = network.inputs[0].sample;
  data.sample_dtype = dtype;
  Column samples = column(network.inputs[0], dtype);
  data.bytes = std::move(samples.bytes);
  data.floats = std::move(samples.floats);
  data.ids = std::move(samples.ids);
  for (std::size_t i = 1; i < network.inputs.size(); ++i) {
    data.more_inputs.push_back(column(network.inputs[i], network.inputs[i].dtype));
  }
  return data;
}

/// Labels for what looks like class scores, else values.
void add_targets(const Shape& output, Dataset& data) {
  if (output.rank() == 1 && output[0] > 1 && output[0] < 1000) {
    for (std::int64_t i = 0; i < output[0]; ++i) data.class_names.push_back(std::to_string(i));
    for (std::int64_t i = 0; i < kSamples; ++i) {
      data.labels.push_back(static_cast<std::int32_t>(i % output[0]));
    }
  } else {
    data.value_shape = output;
    data.values.assign(static_cast<std::size_t>(kSamples * output.elements()), 0.5F);
  }
}

void run(Model& model) {
  const NetworkDefinition& network = model.network().definition();
  const DType first = network.inputs[0].dtype;
  for (const DType dtype : {first, DType::u8}) {
    if (dtype == DType::u8 && first != DType::f32) continue;
    Dataset data = dataset(network, dtype);
    for (const std::int64_t batch : kBatches) {
      accepts([&] {
        for (const Column& output : model.predict_all(data, batch)) {
          expect(std::ssize(output.floats) == kSamples * output.shape.elements(),
                 "every sample has its outputs");
        }
        model.predict_probabilities(data, batch);
      });
    }
    add_targets(model.network().output_shape(), data);
    for (const std::int64_t batch : kBatches) {
      accepts([&] { evaluate(model, data, Loss::automatic, batch); });
      accepts([&] { evaluate_metrics(model, data, {.batch = batch}); });
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
