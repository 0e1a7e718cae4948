// SPDX-License-Identifier: Apache-2.0
// Writes models with random weights for tests/interop/onnx_interop.py. Each line of standard output
// is the folder of one: model.onnx, model_13.onnx to model_21.onnx of other opsets (of a large one
// the oldest and the newest),
// input_<name>.npy, output_<name>.npy with what Linnet computes.
#include <linnet/cross_attention.h>
#include <linnet/dataset.h>
#include <linnet/expression.h>
#include <linnet/layers.h>
#include <linnet/model.h>
#include <linnet/onnx.h>
#include <linnet/quantize.h>
#include <linnet/tensor.h>
#include <linnet/zoo.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <string>

#include "nn/definition.h"

namespace {

using namespace linnet;

constexpr std::int64_t kBatch = 3;
constexpr std::uintmax_t kLarge = 2'000'000;  // bytes of a file

std::vector<float> numbers(std::mt19937& random, std::int64_t count, float low, float high) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    value = low + (high - low) * static_cast<float>(random()) / 4294967296.0F;
  }
  return values;
}

/// Statistics that a training leaves; all else stays as it was initialised, with biases.
void disturb(Model& model, std::mt19937& random) {
  State state;
  for (const auto& [name, tensor] : model.weights()) {
    const std::int64_t count = tensor.shape().elements();
    if (name.ends_with("running_mean") || name.ends_with("bias")) {
      state.set(name, Tensor(numbers(random, count, -0.1F, 0.1F), tensor.shape()));
    } else if (name.ends_with("running_var")) {
      state.set(name, Tensor(numbers(random, count, 0.5F, 1.5F), tensor.shape()));
    } else if (tensor.shape().rank() == 1) {
      state.set(name, Tensor(numbers(random, count, 0.5F, 1.5F), tensor.shape()));
    }
  }
  model.set_weights(state);
}

/// Images and volumes as ONNX has them.
Tensor channels_first(const Tensor& t) {
  const Shape& s = t.shape();
  if (s.rank() != 4 && s.rank() != 5) return t;
  const auto from = t.as<float>();
  std::vector<float> to(from.size());
  const std::int64_t channels = s[-1];
  const std::int64_t pixels = s.elements() / s[0] / channels;
  for (std::int64_t n = 0; n < s[0]; ++n) {
    for (std::int64_t p = 0; p < pixels; ++p) {
      for (std::int64_t c = 0; c < channels; ++c) {
        to[static_cast<std::size_t>((n * channels + c) * pixels + p)] =
            from[static_cast<std::size_t>((n * pixels + p) * channels + c)];
      }
    }
  }
  if (s.rank() == 4) return Tensor(std::move(to), {s[0], channels, s[1], s[2]});
  return Tensor(std::move(to), {s[0], channels, s[1], s[2], s[3]});
}

using Ids = std::map<std::string, std::int32_t>;  ///< the largest of an input of i32

void write(const std::filesystem::path& folder, const Network& network, float high, const Ids& ids,
           bool int8 = false) {
  std::filesystem::create_directories(folder);
  std::mt19937 random(7);
  Model model(network, {.device = "cpu", .seed = 3});
  disturb(model, random);
  if (int8) {
    const Shape batch = network.input_shape().batched(kBatch);
    const Tensor samples(numbers(random, batch.elements(), 0, high), batch);
    model = quantize(model, Dataset({{network.input_names().front(), samples}}, {}));
  }
  export_onnx(model, folder / "model.onnx");
  const bool large = std::filesystem::file_size(folder / "model.onnx") > kLarge;
  for (int opset = 13; opset <= 21; ++opset) {
    if (opset == 17 || (large && opset != 13 && opset != 21)) continue;
    export_onnx(model, folder / ("model_" + std::to_string(opset) + ".onnx"), {.opset = opset});
  }
  std::vector<Column> inputs;
  for (const NetworkInput& input : network.definition().inputs) {
    const std::string& name = input.name;
    const Shape& shape = input.sample;
    const auto most = ids.find(name);
    Tensor values;
    if (most != ids.end()) {
      std::vector<std::int32_t> places(static_cast<std::size_t>(kBatch * shape.elements()));
      for (std::int32_t& place : places) place = static_cast<std::int32_t>(random() % most->second);
      values = Tensor(std::move(places), shape.batched(kBatch));
    } else {
      values = Tensor(numbers(random, kBatch * shape.elements(), 0, high), shape.batched(kBatch));
    }
    write_npy(folder / ("input_" + name + ".npy"),
              values.dtype() == DType::f32 ? channels_first(values) : values);
    inputs.push_back({name, std::move(values)});
  }
  for (const Column& output : model.predict_all(Dataset(inputs, {}))) {
    write_npy(folder / ("output_" + output.name + ".npy"), channels_first(output.data));
  }
  std::cout << folder.string() << std::endl;
}

Network of_layers(const Shape& sample, std::vector<Layer> layers, DType dtype = DType::f32) {
  return Network(sample, std::move(layers), dtype);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  const auto image = [&](const char* name, Network (*make)(const zoo::ImageOptions&)) {
    write(folder / name, make({.sample = {64, 64, 3}}), 255, {});
  };
  image("resnet18", zoo::resnet18);
  image("resnet34", zoo::resnet34);
  image("resnet50", zoo::resnet50);
  image("resnet101", zoo::resnet101);
  write(folder / "cifar_resnet20", zoo::cifar_resnet(20), 255, {});
  write(folder / "cifar_resnet20_int8", zoo::cifar_resnet(20), 255, {}, true);
  image("densenet121", zoo::densenet121);
  image("densenet169", zoo::densenet169);
  write(folder / "vgg11", zoo::vgg11({.sample = {64, 64, 3}, .classes = 10, .batch_norm = true}),
        255, {});
  write(folder / "vgg16", zoo::vgg16({.sample = {64, 64, 3}, .classes = 10}), 255, {});
  image("mobilenet_v2", zoo::mobilenet_v2);
  image("mobilenet_v3_small", zoo::mobilenet_v3_small);
  image("mobilenet_v3_large", zoo::mobilenet_v3_large);
  const zoo::ImageOptions small{.sample = {64, 64, 3}};
  write(folder / "efficientnet_b0", zoo::efficientnet(0, small), 255, {});
  write(folder / "convnext_atto", zoo::convnext("atto", small), 255, {});
  write(folder / "regnet_y_400mf", zoo::regnet("y_400mf", small), 255, {});
  write(folder / "vit_tiny", zoo::vit("tiny", small), 255, {});
  constexpr std::array<std::int64_t, 2> kHidden = {32, 16};
  write(folder / "mlp", zoo::mlp(12, kHidden, Tanh{}, 5), 1, {});
  write(folder / "flattened_int8",
        of_layers({12, 10, 4}, {Conv2d{.filters = 6}, ReLU{}, MaxPool2d{.size = 2}, Flatten{},
                                Dense{.units = 5}}),
        1, {}, true);
  zoo::TextOptions text;
  text.steps = 9;
  text.vocabulary = 50;
  write(folder / "gru_text", zoo::gru_text(text), 1, {{"input", 50}});

  write(folder / "lstm_text", zoo::lstm_text(text), 1, {{"input", 50}});

  write(folder / "layers_images",
        of_layers({12, 10, 4},
                  {Rescale{.scale = 0.01, .shift = -1},
                   Conv2d{.filters = 8,
                          .kernel = {3, 5},
                          .stride = {1, 2},
                          .padding = Padding2d::same(),
                          .dilation = 1,
                          .groups = 2},
                   GELU{}, GroupNorm{.groups = 4},
                   AvgPool2d{.size = 3,
                             .stride = 1,
                             .padding = Padding2d::all(1),
                             .count_include_pad = false},
                   ConvTranspose2d{.filters = 6,
                                   .kernel = 3,
                                   .stride = 2,
                                   .padding = Padding2d::all(1),
                                   .output_padding = 1},
                   SiLU{}, AvgPool2d{.size = 2}, SeparableConv2d{.filters = 5}, HardSwish{},
                   AdaptiveAvgPool2d{.output = {3, 2}}, Softplus{.beta = 2}, Dropout{}, Flatten{},
                   ELU{}, Dense{.units = 6}, LogSoftmax{}}),
        255, {});
  write(folder / "layers_maps",
        of_layers({8, 8, 3},
                  {Residual{.body = {Conv2d{.filters = 3, .padding = Padding2d::same()},
                                     BatchNorm{}, LeakyReLU{}}},
                   Concat{.branches = {{}, {Conv2d{.filters = 2, .kernel = 1}}}},
                   MaxPool2d{.size = 3, .stride = 2, .padding = Padding2d::all(1)}, SELU{}}),
        1, {});
  write(folder / "layers_volumes",
        of_layers({5, 7, 6, 4},
                  {Conv3d{.filters = 6,
                          .kernel = {3, 2, 3},
                          .stride = {1, 2, 1},
                          .padding = {Padding3d::Mode::fixed, 1, 0, 0, 1, 2, 1},
                          .groups = 2},
                   BatchNorm{}, ReLU{}, MaxPool3d{.size = 2, .stride = 1},
                   Conv3d{.filters = 4, .kernel = 2, .dilation = {1, 2, 1}, .bias = false},
                   AvgPool3d{.size = {1, 1, 2}, .count_include_pad = false}, Flatten{},
                   Dense{.units = 3}}),
        1, {});
  write(folder / "layers_pixels",
        of_layers({8, 6, 3}, {Conv2d{.filters = 4}, Dense{.units = 5}, ReLU{}, Conv2d{.filters = 3},
                              Dense{.units = 2}}),
        1, {});
  write(folder / "layers_sequences",
        of_layers({7, 6},
                  {Conv1d{.filters = 8, .padding = Padding2d::same()}, BatchNorm{}, ReLU{},
                   Bidirectional{.layer = LSTM{.units = 5, .return_sequences = true}}, LayerNorm{},
                   GRU{.units = 4, .reset_after = false, .return_sequences = true},
                   SimpleRNN{.units = 3, .activation = SimpleRNN::Activation::relu}}),
        1, {});
  write(folder / "layers_directions",
        of_layers({7, 6},
                  {Bidirectional{.layer = GRU{.units = 5, .return_sequences = true}},
                   Bidirectional{.layer = SimpleRNN{.units = 4,
                                                    .activation = SimpleRNN::Activation::relu,
                                                    .return_sequences = true}},
                   Bidirectional{.layer = LSTM{.units = 3}, .merge = Bidirectional::Merge::sum}}),
        1, {});
  write(folder / "layers_transformer",
        of_layers({6},
                  {Embedding{.vocabulary = 20, .features = 8}, PositionalEmbedding{},
                   TransformerEncoderLayer{
                       .heads = 2, .feed_forward = 16, .activation = GELU{}, .causal = true},
                   TransformerEncoderLayer{.heads = 4, .feed_forward = 8, .norm_first = true},
                   GlobalAvgPool1d{}, Dense{.units = 3}, Softmax{}},
                  DType::i32),
        1, {{"input", 20}});
  const auto derivatives = [&](const std::string& name, auto f) {
    FunctionalNetwork of;
    const Expression given = of.input("x", {3});
    const Expression y = f(4 * given - 2);
    write(folder / ("derivatives_" + name),
          of.build({{"y", y}, {"jacobian", jacobian(y, given)}, {"hessian", hessian(y, given)}}), 1,
          {});
  };
  derivatives("dense", [](const Expression& v) {
    return v | Dense{.units = 5} | Tanh{} | Dense{.units = 4} | Sigmoid{} | Dense{.units = 4} |
           GELU{} | Dense{.units = 4} | ReLU{} | Dense{.units = 2};
  });
  derivatives("activations", [](const Expression& v) {
    return v | Dense{.units = 5} | SiLU{} | Dense{.units = 5} | Softplus{.beta = 2} |
           Dense{.units = 5} | ELU{} | Dense{.units = 5} | SELU{} | Dense{.units = 5} |
           LeakyReLU{} | Dense{.units = 5} | GELU{.tanh_form = true} | Dense{.units = 5} |
           HardSwish{} | Dense{.units = 5} | HardSigmoid{} | Dense{.units = 2};
  });
  derivatives("functions", [](const Expression& v) {
    const Expression w = square(v) + 1;
    return sin(v) * cos(v) + exp(0.3 * v) / w + log(w) * sqrt(w) + rsqrt(w) + log1p(w) +
           expm1(0.1 * v) + erf(v) + pow(w, 1.5) + reciprocal(w) + abs(v) * v + clip(v, -1, 1) * v +
           maximum(v, w - 2) + minimum(v, 0.5);
  });
  derivatives("reduced", [](const Expression& v) {
    return softmax(sin(v)) * v + log_softmax(square(v)) +
           mean(v * v, {0}, true) * sum(v, {0}, true);
  });
  FunctionalNetwork ensemble;
  const Expression x = ensemble.input("x", {8});
  const Expression bins =
      x | PiecewiseLinear{.bins = 2,
                          .edges = {0,   0.2, 0.9, 0.1, 0.3, 1, 0.5, 0.6, 0.7, 0,   1,   1,
                                    0.2, 0.4, 0.6, 0,   0.5, 1, 0.4, 0.5, 0.8, 0.3, 0.6, 0.9}};
  write(folder / "ensemble",
        ensemble.build_ensemble({x | Dense{.units = 3}, bins | Dense{.units = 3}},
                                Answers::classes),
        1, {});
  FunctionalNetwork crossing;
  const Expression query = crossing.input("query", {4, 8});
  const Expression memory = crossing.input("memory", {7, 6});
  const Expression seen = cross_attention(query, memory, {.heads = 2});
  write(folder / "crossing",
        crossing.build({{"y", seen + cross_attention(seen, query, {.heads = 4})}}), 1, {});
  FunctionalNetwork functional;
  const Expression a = functional.input("a", {8});
  const Expression b = functional.input("b", {8});
  const Expression both = concat({a * b, maximum(a, b) - 0.5}, 0);
  const Expression parts = reshape(both, {4, 4});
  const Expression table =
      where(parts > 0.3, softmax(matmul(parts, transpose(parts, {1, 0}))), exp(-parts));
  write(folder / "functions",
        functional.build({{"sums", cumsum(sum(table, {1}), 0)},
                          {"places", one_hot(argmax(table, 1), 4)},
                          {"ids", one_hot(to_ids(table * 2), 4)},
                          {"rest", pad(flip(slice(table, 0, 1, 4, 2), 0), 1, 1, 2, 0.25)},
                          {"spread", stddev(table, {0}, true) + log1p(square(table))}}),
        1, {});
}
