// SPDX-License-Identifier: Apache-2.0
// Model files that somebody made by hand: refused at load, or harmless at every batch.
#include <fmt/format.h>
#include <linnet/linnet.h>

#include <nlohmann/json.hpp>

#include "data/data_files.h"
#include "formats/safetensors.h"
#include "nn/builder.h"
#include "ops/reshape/reshape.h"

namespace linnet::test {
namespace {

using Json = nlohmann::ordered_json;

/// A model file of a network's JSON with weights of ones that fit what it declares.
class ModelFile : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& network, const Json& parameters) {
    std::vector<std::vector<float>> values;
    std::vector<TensorView> tensors;
    for (const Json& p : parameters) {
      const Shape shape(p.at("shape").get<std::vector<std::int64_t>>());
      values.emplace_back(static_cast<std::size_t>(shape.elements()), 1.0F);
      tensors.push_back({p.at("name"), DType::f32, shape, std::as_bytes(std::span(values.back()))});
    }
    write_safetensors(path_, tensors, {{"linnet.network", network}});
    return path_;
  }
  /// Returns what loading says, without the path.
  std::string refusal(const Json& network) {
    return refusal(network.dump(), network.at("parameters"));
  }
  std::string refusal(const std::string& network, const Json& parameters = Json::array()) {
    write(network, parameters);
    const std::string start =
        "cannot load the model " + quoted(path_) + ": the network description is damaged: ";
    const std::string text = error_of([&] { Model::load(path_, {.threads = 1}); });
    return text.starts_with(start) ? text.substr(start.size()) : text;
  }
  /// Loads the file and predicts batches of several sizes; outputs that were sized wrongly would be
  /// written past their end.
  void predict(const Json& network) {
    write(network.dump(), network.at("parameters"));
    Model model = Model::load(path_, {.threads = 1});
    for (const std::int64_t batch : {1, 2, 3, 7}) {
      const Shape shape = model.network().input_shape().batched(batch);
      const std::vector<float> halves(static_cast<std::size_t>(shape.elements()), 0.5F);
      const Dataset data({{"x", Tensor(halves, shape)}});
      for (const std::int64_t at_once : {1, 2, 5}) {
        for (const Column& column : model.predict_all(data, at_once)) {
          EXPECT_EQ(column.size(), batch);
        }
      }
    }
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "model.safetensors";
};

/// input (4) -> dense 'd' of two units; as many rows as the template's batch.
Json dense() { return Json::parse(Network({4}, {Dense{.units = 2, .name = "d"}}).to_json()); }

Json node(const char* op, std::vector<std::string> inputs, const Json& attributes) {
  return {{"op", op}, {"name", "n"}, {"inputs", inputs}, {"attributes", attributes}};
}

/// The network with one more node, whose first result is its output.
Json ending(Json network, const Json& last) {
  const std::string value = fmt::format("#{}.0", network["nodes"].size());
  network["nodes"].push_back(last);
  network["outputs"][0]["value"] = value;
  return network;
}

Json reshaped(const std::vector<std::int64_t>& shape) {
  return ending(dense(), node("reshape", {"#0.0"}, {{"shape", shape}}));
}

TEST_F(ModelFile, TheFilesThatAreChangedHereLoadUnchanged) { predict(dense()); }

/// The refusal of an output of that shape.
std::string mixed(const char* shape) {
  return fmt::format(
      "expected the output 'output' with the batch as its first axis; got {} at a batch of N",
      shape);
}

TEST_F(ModelFile, AnOutputThatIsAWeightIsRefused) {
  Json network = dense();
  network["outputs"][0]["value"] = "d.weight";
  EXPECT_EQ(refusal(network), mixed("(2, 4)"));
  network["outputs"][0]["value"] = "d.bias";
  EXPECT_EQ(refusal(network), mixed("(2)"));
}

TEST_F(ModelFile, AnOutputThatMixesTheBatchIntoItsShapeIsRefused) {
  EXPECT_EQ(refusal(reshaped({-1, 1})), mixed("(2N, 1)"));
  EXPECT_EQ(refusal(reshaped({2, -1})), mixed("(2, N)"));
  EXPECT_EQ(refusal(reshaped({-1})), mixed("(2N)"));
  for (const std::int64_t rows : {2, 4}) {  // which fits one batch alone
    EXPECT_EQ(
        refusal(reshaped({rows, 2})),
        fmt::format("[reshape 'n'] 2N elements do not fit into the shape ({}, 2); got x=(N, 2)",
                    rows));
  }
  // The template's batch, and no other.
  EXPECT_EQ(refusal(reshaped({kTemplateBatch, 2})),
            "[reshape 'n'] 2 elements do not fit into the shape (N, 2); got x=(1, 2)");
}

TEST(PreparedBatch, ChecksItsOutputsWhereverTheNetworkCameFrom) {
  auto definition = std::make_unique<NetworkDefinition>();
  NetworkBuilder builder(*definition);
  const Value x = builder.add_input("input", Shape{6}, DType::f32);
  // Two rows at every batch.
  definition->outputs.push_back({"output", builder.graph().emit(ReshapeOp({{2, -1}}), {x}, "r")});
  Model model(Network(std::move(definition)), {.threads = 1});
  Predictor predictor(model);
  const std::size_t row = 3 * kTemplateBatch;
  EXPECT_EQ(error_of([&] {
              predictor.predict(Tensor(DType::f32, {2, 6}));
            }),
            fmt::format("expected the output 'output' as f32 (2, {}); got f32 (2, 6)", row));
  EXPECT_EQ(error_of([&] {
              predictor.predict(Tensor(DType::f32, {3, 6}));
            }),
            fmt::format("expected the output 'output' as f32 (3, {}); got f32 (2, 9)", row));
}

TEST_F(ModelFile, ConstantsAndMembersAreChecked) {
  FunctionalNetwork f;
  const Expression x = f.input("input", {1}) | PiecewiseLinear{.bins = 2, .edges = {0, 1, 2}};
  const Json network = Json::parse(
      f.build_ensemble({x | Dense{.units = 2}, x | Dense{.units = 2}}, Answers::classes).to_json());
  predict(network);
  Json changed = network;
  changed["constants"][0]["values"][0] = "inf";
  EXPECT_EQ(refusal(changed), fmt::format("the constant '{}' is not finite",
                                          changed["constants"][0]["name"].get<std::string>()));
  changed = network;
  changed["constants"][0]["values"] = Json::array();
  EXPECT_EQ(refusal(changed), fmt::format("the constant '{}' is empty",
                                          changed["constants"][0]["name"].get<std::string>()));
  changed = network;
  changed["constants"][0]["values"].push_back(1);
  EXPECT_NE(refusal(changed).find("[arithmetic 'piecewise_linear_1'] expected"), std::string::npos);
  changed = network;
  changed["outputs"][0]["members"][1] = "input";
  EXPECT_EQ(refusal(changed),
            "expected members of f32 (N, 2) for the output 'output'; got f32 (N, 1)");
}

TEST_F(ModelFile, AReshapeThatKeepsTheBatchIsTaken) {
  predict(reshaped({-1, 2}));
  predict(reshaped({-1, 1, 2, 1}));
}

TEST_F(ModelFile, AxisZeroIsNoOperatorsToTouch) {
  const auto error = [&](const char* op, const Json& attributes) {
    return refusal(ending(dense(), node(op, {"#0.0"}, attributes))).substr(0, 20);
  };
  EXPECT_EQ(error("transpose", {{"permutation", {1, 0}}}), "[transpose 'n'] expe");
  EXPECT_EQ(error("slice", {{"axis", 0}, {"begin", 0}, {"end", 1}}), "[slice 'n'] expected");
  EXPECT_EQ(error("concat", {{"axis", 0}}), "[concat 'n'] expecte");
  EXPECT_EQ(error("reduce", {{"kind", "sum"}, {"axes", {0}}, {"keep_dims", false}}),
            "[reduce 'n'] expecte");
}

TEST_F(ModelFile, ChangedPaddingIsAnotherNetworkOfFittingSizes) {
  Json network = Json::parse(
      Network({6, 6, 1}, {Conv2d{.filters = 2, .kernel = {3, 3}, .name = "c"}}).to_json());
  predict(network);
  for (const char* side : {"pad_top", "pad_left"}) network["nodes"][0]["attributes"][side] = 2;
  predict(network);
  network["nodes"][0]["attributes"]["pad_top"] = 0x40000000;
  network["nodes"][0]["attributes"]["pad_left"] = 0x40000000;
  EXPECT_NE(refusal(network).find("has too many bytes to address"), std::string::npos);
  network["nodes"][0]["attributes"]["groups"] = 0x4000000000000000;
  EXPECT_NE(refusal(network).find("[conv2d 'c'] expected strides"), std::string::npos);
}

TEST_F(ModelFile, ResultsThatInferenceDoesNotHaveAreRefused) {
  Json network = Json::parse(Network({2}, {BatchNorm{.name = "b"}}).to_json());
  predict(network);
  network["outputs"][0]["value"] = "#0.1";  // the mean, (2), of training
  EXPECT_EQ(refusal(network), mixed("(2)"));
}

TEST_F(ModelFile, OutputsOfWholeNumbersAreRefused) {
  Json network = Json::parse(Network({4, 4, 1}, {GlobalMaxPool2d{}}).to_json());
  predict(network);
  network["outputs"][0]["value"] = "#0.1";  // where the largest pixel stands
  EXPECT_EQ(refusal(network), "expected the output 'output' as f32 (1, 1); got i32 (1, 1)");
}

TEST_F(ModelFile, OperatorsOfTrainingAreRefused) {
  for (const char* op :
       {"optimizer_update", "gather_batch", "metrics", "small_cnn", "augment", "dense_grad_weight",
        "conv2d_grad_weight", "relu_grad", "cross_entropy", "softmax_cross_entropy", "table",
        "copy", "mix_batch", "batch_norm_inference", "conv2d_pool", "conv2d_norm", "attention"}) {
    const std::string error = refusal(ending(dense(), node(op, {"#0.0"}, Json::object())));
    EXPECT_TRUE(error == fmt::format("the operator '{}' cannot be part of a network", op) ||
                error == fmt::format("unknown operator '{}'", op))
        << error;
  }
  EXPECT_EQ(refusal(ending(dense(),
                           node("gather_batch", {"#0.0"},
                                {{"batch", 9}, {"shuffle", false}, {"scale", 1}, {"shift", 0}}))),
            "the operator 'gather_batch' cannot be part of a network");
}

TEST_F(ModelFile, ElementTypesThatKernelsDoNotReadAreRefused) {
  Json network = dense();
  network["inputs"][0]["type"] = "i32";
  EXPECT_EQ(refusal(network), "[dense 'd'] expected f32 operands; got i32 (N, 4), f32 (2, 4)");
  Json images = Json::parse(
      Network({6, 6, 1}, {Conv2d{.filters = 2, .kernel = {3, 3}, .name = "c"}}).to_json());
  images["inputs"][0]["type"] = "i32";
  EXPECT_NE(refusal(images).find("[conv2d 'c'] expected f32 operands; got i32 (N, 6, 6, 1)"),
            std::string::npos);
  network["nodes"][0]["op"] = "bias_add";
  network["nodes"][0]["inputs"] = {"input", "d.bias"};
  network["nodes"][0]["attributes"] = Json::object();
  network["inputs"][0]["shape"] = {2};
  EXPECT_EQ(refusal(network), "[bias_add 'd'] expected f32 operands; got i32 (N, 2), f32 (2)");
}

TEST_F(ModelFile, SizesThatWrapAroundAreRefused) {
  Json network = dense();
  network["inputs"][0]["shape"] = {std::int64_t{1} << 28};
  network["nodes"] = Json::array();
  network["parameters"] = Json::array();
  network["outputs"][0]["value"] = "input";
  // Twice as many elements in each node: from 2^62 on their bytes have no number of 64 bits.
  for (int i = 0; i < 40; ++i) {
    const std::string value = i == 0 ? "input" : fmt::format("#{}.0", i - 1);
    network["nodes"].push_back(node("concat", {value, value}, {{"axis", 1}}));
    network["outputs"][0]["value"] = fmt::format("#{}.0", i);
  }
  EXPECT_EQ(refusal(network),
            "[concat 'n'] a value of f32 (N, 1073741824) has too many bytes to address");
}

TEST_F(ModelFile, NumbersOutOfRangeAreRefused) {
  Json network = dense();
  for (const char* number :
       {"0", "-4", "9223372036854775808", "1099511627776", "4.5", "\"4\"", "null", "[4]"}) {
    network["inputs"][0]["shape"] = Json::parse(fmt::format("[{}]", number));
    EXPECT_NE(refusal(network), "") << number;
  }
  network["inputs"][0]["shape"] = std::vector<int>(33, 1);
  EXPECT_EQ(refusal(network), "expected a shape of at most 8 axes; got 33");
  EXPECT_EQ(refusal(
                ending(dense(), node("concat", {"#0.0"}, {{"axis", (std::int64_t{1} << 32) + 1}}))),
            "[concat] the attribute 'axis' is out of range: 4294967297");
  EXPECT_EQ(refusal(
                ending(dense(), node("slice", {"#0.0"}, {{"axis", 1}, {"begin", 1}, {"end", 1}}))),
            "[slice 'n'] expected a result with elements; got f32 (N, 0)");
}

TEST_F(ModelFile, NamesAreTakenOnce) {
  Json network = dense();
  network["inputs"][0]["name"] = "#0.0";
  network["nodes"][0]["inputs"][0] = "#0.0";
  EXPECT_EQ(refusal(network), "two values are named '#0.0'");
  network = dense();
  network["outputs"].push_back(network["outputs"][0]);
  EXPECT_EQ(refusal(network), "two outputs are named 'output'");
  network = dense();
  network["parameters"].push_back(network["parameters"][0]);
  EXPECT_EQ(refusal(network.dump(), dense()["parameters"]),
            "the parameter name 'd.weight' is not valid");
}

TEST_F(ModelFile, SeveralOutputsOfOneValueAreTaken) {
  Json network = dense();
  for (const char* name : {"again", "input"}) {
    network["outputs"].push_back(
        {{"name", name}, {"value", name == std::string("again") ? "#0.0" : "input"}});
  }
  predict(network);
}

TEST_F(ModelFile, JsonThatIsMadeToHurtIsRefused) {
  EXPECT_EQ(refusal(std::string(100'000, '[')), "it is nested too deeply");
  EXPECT_EQ(refusal(std::string("{\"format\":2,\"format\":2}")), "it names 'format' twice");
  EXPECT_EQ(refusal(std::string("{\"format\":2")), "it is not valid JSON (byte 12)");
  Json network = dense();
  for (int i = 0; i < 300; ++i) {
    network["outputs"].push_back({{"name", fmt::format("o{}", i)}, {"value", "#0.0"}});
  }
  EXPECT_EQ(refusal(network), "expected at most 256 outputs; got 301");
}

TEST_F(ModelFile, ManyNodesAndWeightsTakeNoLongerEach) {
  // Took a minute when each looked at all others; ctest's limit of time is what would tell.
  Json network = dense();
  for (int i = 0; i < 30'000; ++i) {
    network["parameters"].push_back({{"name", fmt::format("b{}.bias", i)},
                                     {"shape", {2}},
                                     {"trainable", true},
                                     {"init", 0},
                                     {"value", 0},
                                     {"fan_in", 1},
                                     {"fan_out", 1}});
    network["nodes"].push_back(node("bias_add",
                                    {fmt::format("#{}.0", i + 1), fmt::format("b{}.bias", i)},
                                    Json::object()));
  }
  network["outputs"][0]["value"] = "#30001.0";
  write(network.dump(), network["parameters"]);
  Model model = Model::load(path_, {.threads = 1});
  const Tensor out = Predictor(model).predict(Tensor(DType::f32, {1, 4}));
  const auto values = out.as<float>();  // the biases are ones
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()), std::vector<float>(2, 30'001.0F));
}

}  // namespace
}  // namespace linnet::test
