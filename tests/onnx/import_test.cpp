// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/dataset.h>
#include <linnet/layers/dense.h>
#include <linnet/onnx.h>
#include <linnet/predictor.h>
#include <linnet/tensor.h>
#include <linnet/trainer.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include "base/files.h"
#include "core/dims.h"
#include "message_of.h"
#include "nn/definition.h"
#include "onnx/byte_models.h"
#include "onnx/onnx_bytes.h"
#include "onnx/ports.h"
#include "temporary_folder.h"

namespace linnet {
namespace {

using testing::computed;
using testing::expect_near;
using testing::floats;
using testing::imported;
using testing::integers;
using testing::message_of;
using testing::OnnxBytes;
using testing::refusal;

const std::filesystem::path kFixtures = LINNET_ONNX_FIXTURES;
const ModelOptions kOnCpu{.device = "cpu", .threads = 1};

/// A fixture's inputs as the network takes them.
Dataset inputs_of(const std::string& name, const OnnxImport& import) {
  std::vector<Column> inputs;
  for (std::size_t i = 0; i < import.inputs.size(); ++i) {
    const OnnxPort& port = import.inputs[i];
    const DType dtype = import.model.network().definition().inputs[i].dtype;
    const Tensor array = read_npy(kFixtures / (name + "_" + port.name + ".npy"));
    inputs.push_back({port.name, testing::to_network(array, port, true, dtype)});
  }
  return Dataset(inputs, {});
}

class Fixture : public ::testing::TestWithParam<const char*> {};

TEST_P(Fixture, gives_what_pytorch_gave_and_is_saved_and_loaded) {
  const std::string name = GetParam();
  const OnnxImport import = import_onnx(kFixtures / (name + ".onnx"), {}, kOnCpu);
  const Dataset data = inputs_of(name, import);
  const Tensor wanted = read_npy(kFixtures / (name + "_y.npy"));
  Model model = import.model;
  expect_near(model.predict(data), wanted, 1e-5F);
  const testing::TemporaryFolder folder;
  model.save(folder / "model.safetensors");
  Model loaded = Model::load(folder / "model.safetensors", kOnCpu);
  expect_near(loaded.predict(data), wanted, 1e-5F);
}

// An exported import is the same network again.
TEST_P(Fixture, is_exported_and_imported_again) {
  const std::string name = GetParam();
  const OnnxImport import = import_onnx(kFixtures / (name + ".onnx"), {}, kOnCpu);
  const testing::TemporaryFolder folder;
  export_onnx(import.model, folder / "model.onnx");
  const OnnxImport again = import_onnx(folder / "model.onnx", {}, kOnCpu);
  Model model = again.model;
  expect_near(model.predict(inputs_of(name, again)), read_npy(kFixtures / (name + "_y.npy")),
              1e-5F);
}

INSTANTIATE_TEST_SUITE_P(Onnx, Fixture,
                         ::testing::Values("cnn", "volumes", "growing", "crossing",
                                           "crossing_dynamo", "texts", "encoder", "tied", "bert",
                                           "bert_dynamo", "roberta", "roberta_dynamo", "distilbert",
                                           "t5", "deberta_dynamo", "albert", "albert_dynamo",
                                           "electra", "electra_dynamo"),
                         [](const auto& info) { return std::string(info.param); });

TEST(OnnxImport, has_readable_weights_that_train) {
  const OnnxImport import = import_onnx(kFixtures / "cnn.onnx", {}, kOnCpu);
  Model model = import.model;
  const std::vector<std::string> names = model.parameter_names();
  const std::set<std::string> all(names.begin(), names.end());
  EXPECT_TRUE(all.contains("fc.weight") && all.contains("fc.bias") && all.contains("down.weight"))
      << ::testing::PrintToString(names);
  const Dataset data = inputs_of("cnn", import);
  const Tensor before = model.parameter("fc.weight").clone();
  const Dataset labelled({{"input_0", data.inputs()[0].data}},
                         {{"y", Tensor(std::vector<float>(10, 1), {2, 5})}});
  TrainingOptions options;
  options.epochs = 2;
  train(model, labelled, options);
  EXPECT_NE(before.as<float>()[0], model.parameter("fc.weight").as<float>()[0]);
}

TEST(OnnxImport, keeps_tied_weights_one) {
  const OnnxImport import = import_onnx(kFixtures / "tied.onnx", {}, kOnCpu);
  EXPECT_EQ(import.model.network().parameters(), 12 * 6 + 6 * 6 + 6);
}

// Files of operators in many forms (make_operator_fixtures.py) beside onnxruntime.
TEST(OnnxImport, gives_what_onnxruntime_gave_for_single_operators) {
  const OnnxImport import = import_onnx(kFixtures / "operators.onnx", {}, kOnCpu);
  std::vector<Column> inputs;
  for (const OnnxPort& port : import.inputs) {
    const Tensor array = read_npy(kFixtures / ("operators_" + port.name + ".npy"));
    inputs.push_back({port.name, testing::to_network(array, port, true, DType::f32)});
  }
  Model model = import.model;
  const std::vector<Column> outputs = model.predict_all(Dataset(inputs, {}), 2);
  const Tensor wanted = read_npy(kFixtures / "operators_y.npy");
  std::size_t at = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor y = testing::from_network(outputs[i].data, import.outputs[i]);
    for (const float got : y.as<float>()) {
      ASSERT_LT(at, wanted.as<float>().size());
      EXPECT_NEAR(got, wanted.as<float>()[at++], 1e-5F) << outputs[i].name;
    }
  }
  EXPECT_EQ(at, wanted.as<float>().size());
}

TEST(OnnxImport, names_what_is_not_supported) {
  OnnxBytes model;
  model.nodes = {OnnxBytes::node("Det", {"x"}, {"y"}, "the_node")};
  EXPECT_NE(refusal(model).find(
                "[Det 'the_node'] this operator is not supported; OnnxImportOptions::until"),
            std::string::npos)
      << refusal(model);
  model.nodes = {OnnxBytes::node("Relu", {"x"}, {"y"}, "n", {OnnxBytes::integer("odd", 1)})};
  EXPECT_NE(refusal(model).find("[Relu 'n'] its attribute 'odd' is not supported"),
            std::string::npos)
      << refusal(model);
  model.nodes = {
      OnnxBytes::node("ArgMax", {"x"}, {"y"}, "n",
                      {OnnxBytes::integer("axis", 1), OnnxBytes::integer("keepdims", 7)})};
  EXPECT_NE(refusal(model).find("its attribute 'keepdims' is 7; expected 0 or 1"),
            std::string::npos)
      << refusal(model);
  model.nodes = {OnnxBytes::node("Relu", {"z"}, {"y"}, "n")};
  EXPECT_NE(refusal(model).find("its input 'z' is unknown"), std::string::npos);
  model.nodes = {OnnxBytes::node("Relu", {"x"}, {"y"}, "n")};
  EXPECT_EQ(refusal(model), "");
  model.opset = 99;
  EXPECT_NE(refusal(model).find("expected opset 6 to 28"), std::string::npos) << refusal(model);
  model.opset = 5;
  EXPECT_NE(refusal(model).find("expected opset 6 to 28"), std::string::npos);
  model.opset = 17;
  model.dims = {0, 4, 0};
  EXPECT_NE(refusal(model).find("leaves the dim 2 of the input 'x' open"), std::string::npos)
      << refusal(model);
  EXPECT_EQ(refusal(model, {.shapes = {{"x", {1, 4, 3}}}, .batch_axis = true}), "");
  const std::string other = refusal(model, {.shapes = {{"z", {1, 4, 3}}}, .batch_axis = true});
  EXPECT_NE(other.find("for 'z', which is not an input; the inputs are x"), std::string::npos)
      << other;
}

TEST(OnnxImport, keeps_the_samples_of_a_batch_apart) {
  OnnxBytes model;
  const auto says = [&](const char* what) {
    EXPECT_NE(refusal(model).find(what), std::string::npos) << refusal(model);
  };
  model.nodes = {OnnxBytes::node("ReduceSum", {"x"}, {"y"}, "n")};
  says("the batch");
  model.nodes = {OnnxBytes::node("Softmax", {"x"}, {"y"}, "n", {OnnxBytes::integer("axis", 0)})};
  says("the batch");
  model.nodes = {OnnxBytes::node("Transpose", {"x"}, {"t"}, "t"),
                 OnnxBytes::node("Add", {"x", "t"}, {"y"}, "n")};
  says("[Add 'n']");
  EXPECT_EQ(refusal(model, {.shapes = {{"x", {4, 4}}}, .batch_axis = false}), "");
}

TEST(OnnxImport, repeats_axes_of_one) {
  OnnxBytes model;
  model.dims = {0, 1, 2};
  model.initializers = {integers("to", {1, 3, 2}, {3})};
  const Tensor wanted = floats({0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3}, {2, 3, 2});
  model.nodes = {OnnxBytes::node("Expand", {"x", "to"}, {"y"}, "n")};
  expect_near(computed(model, 2), wanted, 0);
  model.nodes = {OnnxBytes::node("Tile", {"x", "to"}, {"y"}, "n")};
  model.initializers = {integers("to", {1, 3, 1}, {3})};
  expect_near(computed(model, 2), wanted, 0);
}

TEST(OnnxImport, multiplies_with_vectors) {
  OnnxBytes model;
  model.dims = {0, 2, 2};
  model.initializers = {OnnxBytes::floats("w", {2}, {1, 10})};
  model.nodes = {OnnxBytes::node("MatMul", {"x", "w"}, {"y"}, "n")};
  expect_near(computed(model, 2), floats({10, 32, 54, 76}, {2, 2}), 0);
  model.nodes = {OnnxBytes::node("MatMul", {"w", "x"}, {"y"}, "n")};
  expect_near(computed(model, 2), floats({20, 31, 64, 75}, {2, 2}), 0);
  model.dims = {0, 2};
  model.nodes = {OnnxBytes::node("MatMul", {"x", "w"}, {"y"}, "n")};
  expect_near(computed(model, 2), floats({10, 32}, {2, 1}), 0);
}

// As Keras, TensorFlow and Paddle write dense layers.
TEST(OnnxImport, makes_one_dense_layer_of_a_product_and_its_bias) {
  OnnxBytes model;
  model.dims = {0, 2};
  model.initializers = {OnnxBytes::floats("head.w", {2, 3}, {1, 10, 100, 2, 20, 200}),
                        OnnxBytes::floats("head.b", {3}, {0.5, 0.25, 0.125})};
  const Tensor wanted = floats({2.5, 20.25, 200.125, 8.5, 80.25, 800.125}, {2, 3});
  for (const auto& operands : {std::vector<std::string>{"p", "head.b"}, {"head.b", "p"}}) {
    model.nodes = {OnnxBytes::node("MatMul", {"x", "head.w"}, {"p"}, "product"),
                   OnnxBytes::node("Add", operands, {"y"}, "sum")};
    expect_near(computed(model, 2), wanted, 0);
    const Model read = imported(model);
    EXPECT_EQ(read.parameter_names(), (std::vector<std::string>{"head.weight", "head.bias"}));
    const Model other = read.with_head("head", Dense{.units = 5});
    EXPECT_EQ(other.network().output_shape(), Shape({5}));
  }
  // Another node reads the product too.
  model.nodes = {OnnxBytes::node("MatMul", {"x", "head.w"}, {"p"}, "product"),
                 OnnxBytes::node("Add", {"p", "head.b"}, {"s"}, "sum"),
                 OnnxBytes::node("Sub", {"s", "p"}, {"y"}, "difference")};
  expect_near(computed(model, 1), floats({0.5, 0.25, 0.125}, {1, 3}), 0);
}

TEST(OnnxImport, has_heads_that_can_be_replaced_whichever_way_their_weight_lies) {
  for (const std::int64_t turned : {0, 1}) {
    OnnxBytes model;
    model.dims = {0, 2};
    model.initializers = {turned == 0
                              ? OnnxBytes::floats("fc.weight", {2, 3}, {1, 10, 100, 2, 20, 200})
                              : OnnxBytes::floats("fc.weight", {3, 2}, {1, 2, 10, 20, 100, 200}),
                          OnnxBytes::floats("fc.bias", {3}, {0.5, 0.25, 0.125})};
    model.nodes = {OnnxBytes::node("Gemm", {"x", "fc.weight", "fc.bias"}, {"y"}, "gemm",
                                   {OnnxBytes::integer("transB", turned)})};
    expect_near(computed(model, 2), floats({2.5, 20.25, 200.125, 8.5, 80.25, 800.125}, {2, 3}), 0);
    const Model other = imported(model).with_head("fc", Dense{.units = 5});
    EXPECT_EQ(other.parameter_shape("fc.weight"), Shape({5, 2}));
  }
}

// As language models have them: the head multiplies by the embedding's table.
TEST(OnnxImport, has_heads_of_shared_weights_that_can_be_replaced) {
  OnnxBytes model;
  model.type = 7;
  model.dims = {0, 3};
  for (const bool gemm : {false, true}) {
    model.initializers = {OnnxBytes::floats("embed.weight", {4, 2}, {0, 1, 2, 3, 4, 5, 6, 7}),
                          OnnxBytes::floats("lm_head.bias", {4}, {1, 2, 3, 4})};
    model.nodes = {OnnxBytes::node("Gather", {"embed.weight", "x"}, {"e"}, "look_up")};
    const auto add = [&](std::vector<std::string> nodes) {
      model.nodes.insert(model.nodes.end(), nodes.begin(), nodes.end());
    };
    if (gemm) {
      add({OnnxBytes::node("ReduceMean", {"e"}, {"m"}, "mean",
                           {OnnxBytes::integers("axes", {1}), OnnxBytes::integer("keepdims", 0)}),
           OnnxBytes::node("Gemm", {"m", "embed.weight", "lm_head.bias"}, {"y"}, "n",
                           {OnnxBytes::integer("transB", 1)})});
    } else {
      add({OnnxBytes::node("Transpose", {"embed.weight"}, {"t"}, "turn",
                           {OnnxBytes::integers("perm", {1, 0})}),
           OnnxBytes::node("MatMul", {"e", "t"}, {"p"}, "product"),
           OnnxBytes::node("Add", {"p", "lm_head.bias"}, {"y"}, "sum")});
    }
    const Model read = imported(model);
    EXPECT_EQ(read.parameter_names(), (std::vector<std::string>{"embed.weight", "lm_head.bias"}));
    const Model other = read.with_head("lm_head", Dense{.units = 5});
    EXPECT_EQ(other.parameter_names(),
              (std::vector<std::string>{"embed.weight", "lm_head.weight", "lm_head.bias"}));
    expect_near(other.parameter("embed.weight"), read.parameter("embed.weight"), 0);
    EXPECT_EQ(other.network().output_shape(), gemm ? Shape({5}) : Shape({3, 5}));
    EXPECT_EQ(message_of([&] { read.with_head("embed", Dense{.units = 5}); }),
              "'embed' cannot be replaced: 'lm_head' has the same weights");
  }
  // Without a bias the head has its node's name.
  model.nodes = {OnnxBytes::node("Gather", {"embed.weight", "x"}, {"e"}, "look_up"),
                 OnnxBytes::node("Transpose", {"embed.weight"}, {"t"}, "turn",
                                 {OnnxBytes::integers("perm", {1, 0})}),
                 OnnxBytes::node("MatMul", {"e", "t"}, {"y"}, "product")};
  const Model other = imported(model).with_head("product", Dense{.units = 5});
  EXPECT_EQ(other.parameter_names(),
            (std::vector<std::string>{"embed.weight", "product.weight", "product.bias"}));
}

TEST(OnnxImport, cuts_triangles_of_matrices_of_one_number) {
  OnnxBytes model;
  model.dims = {0, 1, 1};
  model.nodes = {OnnxBytes::node("Trilu", {"x"}, {"y"}, "n")};
  expect_near(computed(model, 2), floats({0, 1}, {2, 1, 1}), 0);
  model.initializers = {integers("k", {1}, {})};
  model.nodes = {OnnxBytes::node("Trilu", {"x", "k"}, {"y"}, "n")};
  expect_near(computed(model, 2), floats({0, 0}, {2, 1, 1}), 0);
  model.initializers = {OnnxBytes::floats("w", {1, 1}, {3})};
  model.nodes = {OnnxBytes::node("PRelu", {"x", "w"}, {"y"}, "n")};
  expect_near(computed(model, 2), floats({0, 1}, {2, 1, 1}), 0);
}

// PyTorch's h[-1] of a recurrent layer's last states, (1, N, units).
TEST(OnnxImport, takes_axes_of_one_off_the_batch) {
  OnnxBytes model;
  model.dims = {0, 1, 2};
  model.initializers = {integers("last", {-1}, {})};
  model.nodes = {OnnxBytes::node("Transpose", {"x"}, {"h"}, "t",
                                 {OnnxBytes::integers("perm", {1, 0, 2})}),
                 OnnxBytes::node("Gather", {"h", "last"}, {"g"}, "g"),
                 OnnxBytes::node("Concat", {"g", "g"}, {"y"}, "c",
                                 {OnnxBytes::integer("axis", 1)})};
  expect_near(computed(model, 2), floats({0, 1, 0, 1, 2, 3, 2, 3}, {2, 4}), 0);
}

TEST(OnnxImport, reads_scales_beside_a_policy_of_sizes) {
  OnnxBytes model;
  model.dims = {0, 1, 1, 2};
  model.opset = 19;
  model.initializers = {OnnxBytes::floats("scales", {4}, {1, 1, 1, 2})};
  model.nodes = {
      OnnxBytes::node("Resize", {"x", "", "scales"}, {"y"}, "n",
                      {OnnxBytes::text("keep_aspect_ratio_policy", "stretch"),
                       OnnxBytes::text("nearest_mode", "floor"),
                       OnnxBytes::text("coordinate_transformation_mode", "asymmetric")})};
  expect_near(computed(model, 1), floats({0, 0, 1, 1}, {1, 1, 4, 1}), 0);
}

TEST(OnnxImport, takes_one_element_of_any_step) {
  OnnxBytes model;
  model.dims = {0, 2, 1};
  model.initializers = {integers("zero", {0}, {1}), integers("end", {1 << 30}, {1}),
                        integers("axis", {2}, {1}), integers("two", {2}, {1})};
  model.nodes = {OnnxBytes::node("Slice", {"x", "zero", "end", "axis", "two"}, {"y"}, "n")};
  expect_near(computed(model, 1), floats({0, 1}, {1, 2, 1}), 0);
}

// tf2onnx writes 10^9 as the end of an axis that is whole.
TEST(OnnxImport, slices_beside_all_samples) {
  OnnxBytes model;
  model.initializers = {integers("from", {0, 1}, {2}), integers("to", {1000000000, 3}, {2})};
  model.nodes = {OnnxBytes::node("Slice", {"x", "from", "to"}, {"y"}, "n")};
  expect_near(computed(model, 2), floats({1, 2, 5, 6}, {2, 2}), 0);
  model.initializers[1] = integers("to", {3, 3}, {2});
  EXPECT_NE(refusal(model).find("would slice the batch"), std::string::npos) << refusal(model);
}

TEST(OnnxImport, finds_the_largest_of_what_a_mask_leaves) {
  OnnxBytes model;
  model.initializers = {OnnxBytes::floats("kept", {1, 4}, {1, 1, 1, 0}),
                        OnnxBytes::floats("half", {1}, {0.5}),
                        OnnxBytes::floats("never", {1}, {-std::numeric_limits<float>::infinity()})};
  model.nodes = {OnnxBytes::node("Greater", {"kept", "half"}, {"mask"}, "g"),
                 OnnxBytes::node("Where", {"mask", "x", "never"}, {"w"}, "w"),
                 OnnxBytes::node("ArgMax", {"w"}, {"ids"}, "a", {OnnxBytes::integer("axis", 1)}),
                 OnnxBytes::node("Cast", {"ids"}, {"y"}, "c", {OnnxBytes::integer("to", 1)})};
  expect_near(computed(model, 2), floats({2, 2}, {2, 1}), 0);
  model.nodes[2] = OnnxBytes::node("Abs", {"w"}, {"y"}, "a");
  model.nodes.pop_back();
  EXPECT_NE(refusal(model).find("supported before Softmax, ArgMax and ArgMin"), std::string::npos)
      << refusal(model);
}

// JAX begins a largest number with -infinity, which no model file could hold.
TEST(OnnxImport, drops_a_number_that_changes_nothing) {
  OnnxBytes model;
  model.initializers = {OnnxBytes::floats("least", {1}, {-std::numeric_limits<float>::infinity()})};
  model.nodes = {OnnxBytes::node("Max", {"least", "x"}, {"y"}, "m")};
  expect_near(computed(model, 1), floats({0, 1, 2, 3}, {1, 4}), 0);
  Model made = imported(model);
  const testing::TemporaryFolder folder;
  made.save(folder / "model.safetensors");
}

TEST(OnnxImport, pools_a_window_beyond_the_end) {
  OnnxBytes model;
  model.dims = {0, 1, 1};  // (N, C, L)
  model.nodes = {
      OnnxBytes::node("MaxPool", {"x"}, {"y"}, "n",
                      {OnnxBytes::integers("kernel_shape", {2}),
                       OnnxBytes::integers("strides", {2}), OnnxBytes::integer("ceil_mode", 1)})};
  expect_near(computed(model, 2), floats({0, 1}, {2, 1, 1}), 0);
}

TEST(OnnxImport, pads_the_output_by_less_cutting) {
  OnnxBytes model;
  model.dims = {0, 1, 2};  // (N, C, L)
  model.initializers = {OnnxBytes::floats("w", {1, 1, 3}, {1, 2, 3})};
  model.nodes = {
      OnnxBytes::node("ConvTranspose", {"x", "w"}, {"y"}, "n",
                      {OnnxBytes::integers("dilations", {2}), OnnxBytes::integers("pads", {1, 1}),
                       OnnxBytes::integers("output_padding", {1})})};
  expect_near(computed(model, 1), floats({1, 0, 2, 0, 3}, {1, 5, 1}), 0);
}

// A query whose keys are hidden by the order and by the mask together is 0, as ONNX says.
TEST(OnnxImport, hides_keys_by_order_and_by_a_mask) {
  OnnxBytes model;
  model.dims = {0, 1, 2, 2};
  model.opset = 23;
  model.more_inputs = {OnnxBytes::value("m", {0, 1, 2, 2})};
  model.nodes = {OnnxBytes::node("Attention", {"x", "x", "x", "m"}, {"y"}, "n",
                                 {OnnxBytes::integer("is_causal", 1)})};
  Model made = imported(model);
  const float hidden = -std::numeric_limits<float>::infinity();
  const Tensor y = made.predict(Dataset({{"x", floats({1, 2, 3, 4}, {1, 1, 2, 2})},
                                         {"m", floats({hidden, 0, hidden, 0}, {1, 1, 2, 2})}},
                                        {}));
  expect_near(y, floats({0, 0, 3, 4}, {1, 1, 2, 2}), 1e-6F);
}

TEST(OnnxImport, refuses_earlier_keys_of_few_axes) {
  OnnxBytes model;
  model.dims = {0, 3, 4};
  model.opset = 23;
  model.initializers = {integers("to", {0, 12}, {2})};
  model.nodes = {OnnxBytes::node("Reshape", {"x", "to"}, {"flat"}, "r"),
                 OnnxBytes::node("Attention", {"x", "x", "x", "", "flat", "flat"}, {"y"}, "n",
                                 {OnnxBytes::integer("q_num_heads", 1),
                                  OnnxBytes::integer("kv_num_heads", 1)})};
  EXPECT_NE(refusal(model).find("expected past_key with 4 axes; got (N, 12)"), std::string::npos)
      << refusal(model);
}

TEST(OnnxImport, refuses_sizes_that_a_shared_scale_makes_too_large) {
  OnnxBytes model;
  model.dims = {0, 1, 1, 4096};
  model.opset = 19;
  model.initializers = {integers("sizes", {1 << 23, 1}, {2})};
  model.nodes = {OnnxBytes::node("Resize", {"x", "", "", "sizes"}, {"y"}, "n",
                                 {OnnxBytes::integers("axes", {2, 3}),
                                  OnnxBytes::text("keep_aspect_ratio_policy", "not_smaller")})};
  EXPECT_NE(refusal(model).find("sizes (8388608, 1) do not fit"), std::string::npos)
      << refusal(model);
}

TEST(OnnxImport, writes_each_place_once) {
  OnnxBytes model;
  model.dims = {0, 4};
  const auto elements = [&](std::int64_t second, const std::string& reduction) {
    model.initializers = {integers("at", {1, second}, {1, 2}),
                          OnnxBytes::floats("to", {1, 2}, {10, 20})};
    model.nodes = {
        OnnxBytes::node("ScatterElements", {"x", "at", "to"}, {"y"}, "n",
                        {OnnxBytes::integer("axis", 1), OnnxBytes::text("reduction", reduction)})};
  };
  elements(-1, "none");
  expect_near(computed(model, 2), floats({0, 10, 2, 20, 4, 10, 6, 20}, {2, 4}), 0);
  elements(-3, "add");
  expect_near(computed(model, 1), floats({0, 31, 2, 3}, {1, 4}), 0);
  elements(-3, "none");
  EXPECT_NE(refusal(model).find("element 1 of its input 0 is written twice"), std::string::npos)
      << refusal(model);
  const auto tuples = [&](const std::vector<std::int64_t>& at) {
    model.dims = {2, 3};
    model.initializers = {integers("at", at, {2, 2}), OnnxBytes::floats("to", {2}, {10, 20})};
    model.nodes = {OnnxBytes::node("ScatterND", {"x", "at", "to"}, {"y"}, "n")};
    return refusal(model, {.shapes = {}, .batch_axis = false});
  };
  EXPECT_EQ(tuples({0, 2, 1, 2}), "");
  EXPECT_NE(tuples({1, 2, -1, -1}).find("element 5 of its input 0 is written twice"),
            std::string::npos)
      << tuples({1, 2, -1, -1});
  EXPECT_NE(tuples({0, 2, 2, 0}).find("expected indices in [-2, 2); got 2"), std::string::npos)
      << tuples({0, 2, 2, 0});
}

TEST(OnnxImport, resizes_sequences) {
  OnnxBytes model;
  model.dims = {0, 1, 2};  // (N, C, L), whose samples are (L, C)
  model.opset = 10;
  model.initializers = {OnnxBytes::floats("scales", {3}, {1, 1, 2})};
  model.nodes = {OnnxBytes::node("Resize", {"x", "scales"}, {"y"}, "n")};
  expect_near(computed(model, 1), floats({0, 0, 1, 1}, {1, 4, 1}), 0);
}

TEST(OnnxImport, sums_products_by_letters) {
  OnnxBytes model;
  model.dims = {0, 2, 2};
  const auto einsum = [&](const std::string& equation, const std::vector<std::string>& inputs) {
    model.nodes = {
        OnnxBytes::node("Einsum", inputs, {"y"}, "n", {OnnxBytes::text("equation", equation)})};
  };
  einsum("bij,bkj->bik", {"x", "x"});
  expect_near(computed(model, 2), floats({1, 3, 3, 13, 41, 59, 59, 85}, {2, 2, 2}), 0);
  einsum("bij -> bj", {"x"});
  expect_near(computed(model, 2), floats({2, 4, 10, 12}, {2, 2}), 0);
  model.initializers = {OnnxBytes::floats("w", {2, 2}, {1, 0, 10, 1})};
  einsum("ij,bjk->bki", {"w", "x"});
  expect_near(computed(model, 1), floats({0, 2, 1, 13}, {1, 2, 2}), 0);
  einsum("bij,bkj->ik", {"x", "x"});
  EXPECT_NE(refusal(model).find("would sum over the batch"), std::string::npos) << refusal(model);
  einsum("bij,jbk->bik", {"x", "x"});
  EXPECT_NE(refusal(model).find("would combine the samples"), std::string::npos) << refusal(model);
  einsum("b...,b...->b...", {"x", "x"});
  EXPECT_NE(refusal(model).find("expected an equation of letters"), std::string::npos);
}

// A mask of the words that are not padding, beside their embedding.
TEST(OnnxImport, compares_ids_of_a_table) {
  OnnxBytes model;
  model.dims = {0, 4};
  model.type = 7;
  model.initializers = {OnnxBytes::floats("table", {4, 1}, {7, 8, 9, 10}),
                        integers("zero", {0}, {}), integers("last", {-1}, {1})};
  model.nodes = {OnnxBytes::node("Gather", {"table", "x"}, {"words"}, "g"),
                 OnnxBytes::node("Squeeze", {"words", "last"}, {"flat"}, "q"),
                 OnnxBytes::node("Greater", {"x", "zero"}, {"seen"}, "c"),
                 OnnxBytes::node("Cast", {"seen"}, {"mask"}, "m", {OnnxBytes::integer("to", 1)}),
                 OnnxBytes::node("Cast", {"x"}, {"numbers"}, "i", {OnnxBytes::integer("to", 1)}),
                 OnnxBytes::node("Mul", {"flat", "mask"}, {"kept"}, "k"),
                 OnnxBytes::node("Add", {"kept", "numbers"}, {"y"}, "a")};
  expect_near(computed(model, 1), floats({0, 9, 11, 13}, {1, 4}), 0);
}

// A small file must not ask for much memory.
TEST(OnnxImport, reads_ids_as_numbers_by_one_weight) {
  OnnxBytes model;
  model.dims = {0, 4};
  model.type = 7;
  model.initializers = {OnnxBytes::floats("table", {4, 1}, {7, 8, 9, 10})};
  const std::string words = OnnxBytes::node("Gather", {"table", "x"}, {"words"}, "g");
  const OnnxBytes empty = {
      .nodes = {OnnxBytes::node("Cast", {"x"}, {"y"}, "c", {OnnxBytes::integer("to", 1)}), words},
      .initializers = {OnnxBytes::floats("table", {1 << 24, 0}, {})},
      .type = 7};
  EXPECT_NE(refusal(empty).find("along the first axis of a constant table"), std::string::npos)
      << refusal(empty);
  model.nodes = {OnnxBytes::node("Cast", {"x"}, {"a"}, "a", {OnnxBytes::integer("to", 1)}),
                 OnnxBytes::node("Cast", {"x"}, {"b"}, "b", {OnnxBytes::integer("to", 1)}),
                 OnnxBytes::node("Add", {"a", "b"}, {"y"}, "s"), words};
  expect_near(computed(model, 1), floats({0, 2, 4, 6}, {1, 4}), 0);
  const testing::TemporaryFolder folder;
  testing::write_quickly(folder / "m.onnx", model.bytes());
  const Model imported = import_onnx(folder / "m.onnx", {}, kOnCpu).model;
  EXPECT_EQ(std::ranges::count_if(imported.parameter_names(),
                                  [](const std::string& name) { return name.ends_with(".ids"); }),
            1);
}

TEST(OnnxImport, names_no_constant_as_the_file_does) {
  OnnxBytes model;
  model.dims = {0, 4};
  model.type = 7;
  model.initializers = {OnnxBytes::floats("table", {4, 1}, {7, 8, 9, 10}),
                        OnnxBytes::floats("a.ids", {4, 1}, {9, 9, 9, 9}),
                        integers("last", {-1}, {1})};
  model.nodes = {OnnxBytes::node("Gather", {"table", "x"}, {"words"}, "g"),
                 OnnxBytes::node("Squeeze", {"words", "last"}, {"flat"}, "q"),
                 OnnxBytes::node("MatMul", {"flat", "a.ids"}, {"product"}, "m"),
                 OnnxBytes::node("Cast", {"x"}, {"a"}, "a", {OnnxBytes::integer("to", 1)}),
                 OnnxBytes::node("Add", {"a", "product"}, {"y"}, "s")};
  expect_near(computed(model, 1), floats({306, 307, 308, 309}, {1, 4}), 0);
}

// A class token that a file of a fixed batch repeats for every sample.
TEST(OnnxImport, joins_what_a_fixed_batch_repeats) {
  OnnxBytes model;
  model.dims = {2, 1};
  model.initializers = {OnnxBytes::floats("token", {2, 1}, {5, 5})};
  model.nodes = {
      OnnxBytes::node("Concat", {"token", "x"}, {"y"}, "n", {OnnxBytes::integer("axis", 1)})};
  expect_near(computed(model, 3), floats({5, 0, 5, 1, 5, 2}, {3, 2}), 0);
  model.initializers = {OnnxBytes::floats("token", {2, 1}, {5, 6})};
  EXPECT_NE(refusal(model).find("differs from sample to sample"), std::string::npos);
}

/// A dense layer whose weight lies in another file.
OnnxBytes with_external(const std::string& location, const std::string& offset = "0",
                        const std::string& length = "32") {
  OnnxBytes model;
  model.nodes = {OnnxBytes::node("MatMul", {"x", "w"}, {"y"}, "n")};
  model.initializers = {
      OnnxBytes::external("w", {4, 2},
                          {{"location", location}, {"offset", offset}, {"length", length}})};
  return model;
}

class External : public ::testing::Test {
 protected:
  External() {
    std::filesystem::create_directories(folder_ / "in" / "sub");
    write_file_atomically(folder_ / "in" / "w.bin", std::string(40, '\0'));
    write_file_atomically(folder_ / "in" / "sub" / "w.bin", std::string(40, '\0'));
    write_file_atomically(folder_ / "out.bin", std::string(40, '\0'));
  }
  std::string read(const OnnxBytes& model) {
    testing::write_quickly(folder_ / "in" / "m.onnx", model.bytes());
    return message_of([&] { import_onnx(folder_ / "in" / "m.onnx", {}, kOnCpu); });
  }
  testing::TemporaryFolder folder_;
};

TEST_F(External, data_are_read_in_the_models_folder) {
  EXPECT_EQ(read(with_external("w.bin")), "");
  EXPECT_EQ(read(with_external("sub/w.bin", "8")), "");
}

TEST_F(External, data_outside_it_are_refused) {
  std::filesystem::create_symlink("../out.bin", folder_ / "in" / "link.bin");
  std::filesystem::create_directory_symlink("..", folder_ / "in" / "up");
  for (const std::string& location :
       {std::string("../out.bin"), std::string("sub/../../out.bin"), (folder_ / "out.bin").string(),
        std::string("link.bin"), std::string("up/out.bin"), std::string(""), std::string("sub")}) {
    const std::string sentence = read(with_external(location));
    EXPECT_NE(sentence.find("the tensor 'w'"), std::string::npos) << location << ": " << sentence;
  }
}

TEST_F(External, data_are_read_within_bounds) {
  EXPECT_NE(read(with_external("w.bin", "16")).find("which has 40"), std::string::npos);
  EXPECT_NE(read(with_external("w.bin", "0", "40")).find("needs 32 bytes"), std::string::npos);
  EXPECT_NE(read(with_external("w.bin", "-8")), "");
  EXPECT_NE(read(with_external("w.bin", "99999999999999999999")), "");
}

}  // namespace
}  // namespace linnet
