// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/dataset.h>
#include <linnet/onnx.h>
#include <linnet/tensor.h>
#include <linnet/trainer.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "base/files.h"
#include "message_of.h"
#include "onnx/onnx_bytes.h"
#include "temporary_folder.h"

namespace linnet {
namespace {

using testing::message_of;
using testing::OnnxBytes;

const std::filesystem::path kFixtures = LINNET_ONNX_FIXTURES;
const ModelOptions kOnCpu{.device = "cpu", .threads = 1};

/// (N, C, H, W) as (N, H, W, C).
Tensor channels_last(const Tensor& images) {
  const Shape& s = images.shape();
  const auto from = images.as<float>();
  std::vector<float> to;
  for (std::int64_t n = 0; n < s[0]; ++n) {
    for (std::int64_t p = 0; p < s[2] * s[3]; ++p) {
      for (std::int64_t c = 0; c < s[1]; ++c) {
        to.push_back(from[static_cast<std::size_t>((n * s[1] + c) * s[2] * s[3] + p)]);
      }
    }
  }
  return Tensor(std::move(to), {s[0], s[2], s[3], s[1]});
}

void expect_near(const Tensor& got, const Tensor& wanted, float within) {
  ASSERT_EQ(got.shape(), wanted.shape());
  for (std::size_t i = 0; i < got.as<float>().size(); ++i) {
    ASSERT_NEAR(got.as<float>()[i], wanted.as<float>()[i], within) << i;
  }
}

/// A fixture's inputs as the network takes them.
Dataset inputs_of(const std::string& name, const OnnxImport& import) {
  std::vector<Column> inputs;
  for (const OnnxPort& port : import.inputs) {
    Tensor array = read_npy(kFixtures / (name + "_" + port.name + ".npy"));
    if (array.shape().rank() == 4) array = channels_last(array);
    if (port.name == "input_1") array = array.to(DType::f32);  // a mask
    inputs.push_back({port.name, array});
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

INSTANTIATE_TEST_SUITE_P(Onnx, Fixture, ::testing::Values("cnn", "texts", "encoder", "tied"),
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

/// The sentence that the import of these bytes ends with.
std::string refusal(const OnnxBytes& model, const OnnxImportOptions& options = {}) {
  const testing::TemporaryFolder folder;
  testing::write_quickly(folder / "m.onnx", model.bytes());
  return message_of([&] { import_onnx(folder / "m.onnx", options, kOnCpu); });
}

TEST(OnnxImport, names_what_is_not_supported) {
  OnnxBytes model;
  model.nodes = {OnnxBytes::node("Det", {"x"}, {"y"}, "the_node")};
  EXPECT_NE(refusal(model).find("[Det 'the_node'] this operator is not supported"),
            std::string::npos)
      << refusal(model);
  model.nodes = {OnnxBytes::node("Relu", {"x"}, {"y"}, "n", {OnnxBytes::integer("odd", 1)})};
  EXPECT_NE(refusal(model).find("[Relu 'n'] its attribute 'odd' is not supported"),
            std::string::npos)
      << refusal(model);
  model.nodes = {OnnxBytes::node("Relu", {"z"}, {"y"}, "n")};
  EXPECT_NE(refusal(model).find("its input 'z' is unknown"), std::string::npos);
  model.nodes = {OnnxBytes::node("Relu", {"x"}, {"y"}, "n")};
  EXPECT_EQ(refusal(model), "");
  model.opset = 99;
  EXPECT_NE(refusal(model).find("expected opset 7 to 28"), std::string::npos) << refusal(model);
  model.opset = 6;
  EXPECT_NE(refusal(model).find("expected opset 7 to 28"), std::string::npos);
  model.opset = 17;
  model.dims = {0, 4, 0};
  EXPECT_NE(refusal(model).find("leaves the dim 2 of the input 'x' open"), std::string::npos)
      << refusal(model);
  EXPECT_EQ(refusal(model, {.shapes = {{"x", {1, 4, 3}}}, .batch_axis = true}), "");
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
