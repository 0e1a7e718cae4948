// SPDX-License-Identifier: Apache-2.0
// What the exporter writes at each opset; tests/interop/onnx_interop.py runs it in onnxruntime.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/cross_attention.h>
#include <linnet/expression.h>
#include <linnet/layers.h>
#include <linnet/model.h>
#include <linnet/onnx.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "message_of.h"
#include "onnx/byte_models.h"
#include "onnx/schema.h"
#include "temporary_folder.h"

namespace linnet {
namespace {

const ModelOptions kSeeded{.device = "cpu", .threads = 1, .seed = 5};

Tensor numbers(const Shape& shape) {
  std::mt19937 random(3);
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  for (float& value : values) value = static_cast<float>(random() % 2000) / 1000 - 1;
  return {std::move(values), shape};
}

/// Writes a network at an opset, reads it again, and compares what both predict; returns the
/// file's operators.
std::vector<std::string> written(const Network& network, std::int64_t opset) {
  const testing::TemporaryFolder folder;
  Model model(network, kSeeded);
  export_onnx(model, folder / "m.onnx", {.opset = opset});
  const Tensor x = numbers(network.input_shape().batched(3));
  Model again = import_onnx(folder / "m.onnx", {}, kSeeded).model;
  testing::expect_near(again.predict(x), model.predict(x), 1e-5F);
  const onnx::ModelProto file = onnx::read_model(folder / "m.onnx");
  EXPECT_EQ(file.opset, opset);
  EXPECT_EQ(file.ir_version, opset < 15 ? 7 : opset < 19 ? 8 : opset < 21 ? 9 : 10);
  std::vector<std::string> operators;
  for (const onnx::NodeProto& node : file.nodes) operators.emplace_back(node.op_type);
  return operators;
}

std::int64_t count(const std::vector<std::string>& operators, const std::string& op) {
  return std::ranges::count(operators, op);
}

class Opset : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(Opset, has_operators_in_its_own_form) {
  const std::int64_t opset = GetParam();
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {4, 6});
  const Expression spread = mean(x, {0}, true) - max(x, {1}, true) + min(x, {0, 1}, true);
  const Expression all = sum(x, {1}, true) * hard_swish(x) + spread;
  const Network network = functional.build({{"y", all | LayerNorm{} | Flatten{}}});
  const std::vector<std::string> operators = written(network, opset);
  EXPECT_EQ(count(operators, "HardSwish"), opset < 14 ? 0 : 1);
  EXPECT_EQ(count(operators, "LayerNormalization"), opset < 17 ? 0 : 1);
  EXPECT_EQ(count(operators, "ReduceMean"), opset < 17 ? 3 : 1);
}

TEST_P(Opset, resizes_images) {
  const Network network({5, 4, 3}, {Conv2d{.filters = 2}, UpSample2d{.scale = 2}});
  const std::vector<std::string> operators = written(network, GetParam());
  EXPECT_EQ(count(operators, "Resize"), 1);
  EXPECT_EQ(count(operators, "Slice"), GetParam() < 15 ? 1 : 0);
}

TEST_P(Opset, lets_one_sequence_attend_to_another) {
  for (const std::int64_t width : {8, 6}) {  // with one weight of all projections, and with three
    FunctionalNetwork functional;
    const Expression x = functional.input("x", {5, 8});
    const Expression memory = slice(x, 1, 0, width);
    const Expression y = cross_attention(slice(x, 0, 0, 3), memory, {.heads = 2});
    const auto operators = written(functional.build({{"y", y}}), GetParam());
    EXPECT_EQ(count(operators, "Softmax"), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Onnx, Opset, ::testing::Range(std::int64_t{13}, std::int64_t{22}));

TEST(OnnxExport, refuses_opsets_that_it_does_not_write) {
  const testing::TemporaryFolder folder;
  const Model model(Network({3}, {Dense{.units = 2}}), kSeeded);
  for (const std::int64_t opset : {-1, 0, 12, 22}) {
    EXPECT_NE(testing::message_of([&] {
                export_onnx(model, folder / "m.onnx", {.opset = opset});
              }).find(fmt::format("expected an opset of 13 to 21; got {}", opset)),
              std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(folder / "m.onnx"));
  }
}

// OpenVINO 2026.4 computes two nodes over the same steps wrongly at an open batch.
TEST(OnnxExport, writes_both_directions_as_one_node) {
  const auto directions = [](const Layer& layer, const std::string& op) {
    const std::vector<std::string> operators = written(Network({5, 4}, {layer}), 17);
    EXPECT_EQ(count(operators, op), 1);
  };
  using Merge = Bidirectional::Merge;
  for (const bool all : {false, true}) {
    for (const Merge merge : {Merge::concat, Merge::sum}) {
      directions(Bidirectional{.layer = LSTM{.units = 3, .return_sequences = all}, .merge = merge},
                 "LSTM");
      for (const bool after : {false, true}) {
        directions(Bidirectional{.layer = GRU{.units = 3,
                                              .reset_after = after,
                                              .return_sequences = all,
                                              .bias = !after},
                                 .merge = merge},
                   "GRU");
      }
      for (const auto f : {SimpleRNN::Activation::tanh, SimpleRNN::Activation::relu}) {
        directions(
            Bidirectional{.layer = SimpleRNN{.units = 3, .activation = f, .return_sequences = all},
                          .merge = merge},
            "RNN");
      }
    }
  }
  // Layers of the same steps that are no pair, and the reversed one first.
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {5, 4});
  const std::vector<Expression> layers = {x | GRU{.units = 3, .reverse = true}, x | GRU{.units = 2},
                                          x | GRU{.units = 3}, x | GRU{.units = 3},
                                          x | LSTM{.units = 3}};
  EXPECT_EQ(count(written(functional.build({{"y", concat(layers, 0)}}), 17), "GRU"), 3);
}

}  // namespace
}  // namespace linnet
