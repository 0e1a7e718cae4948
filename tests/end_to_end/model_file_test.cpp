// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "../message_of.h"
#include "base/files.h"
#include "fixtures.h"
#include "formats/safetensors.h"
#include "networks/networks.h"
#include "temporary_folder.h"

namespace linnet::testing {
namespace {

std::string load_error(const std::string& path) {
  try {
    Model::load(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

class ModelFile : public ::testing::Test {
 protected:
  std::string path_of(const std::string& name) const { return (folder_ / name).string(); }

 private:
  TemporaryFolder folder_;
};

TEST_F(ModelFile, SavesAndLoadsEveryBit) {
  const Dataset data = datasets::digits(60, 0, 1).train;
  Model model(workloads::mnist_cnn(), {.seed = 9});
  train(model, data, {.epochs = 1, .batch = 16});
  model.set_class_names({"zero", "one", "\"two\"", "drei ö"});
  const std::string path = path_of("saved.safetensors");
  model.save(path);
  Model loaded = Model::load(path, {.threads = 1});
  EXPECT_EQ(loaded.class_names(), model.class_names());
  EXPECT_EQ(loaded.network().to_json(), model.network().to_json());
  EXPECT_EQ(vector_of(loaded.predict(data)), vector_of(model.predict(data)));
  for (const std::string& name : model.parameter_names()) {
    EXPECT_EQ(parameter(loaded, name), parameter(model, name)) << name;
  }
}

TEST_F(ModelFile, IsNotNamedAsAnotherProgramsFile) {
  const Model model(Network({2}, {Dense{.units = 1}}));
  EXPECT_EQ(message_of([&] { model.save("m.h5"); }),
            "cannot save the model to 'm.h5': '.h5' is the ending of Keras, and a model is written "
            "as safetensors; expected a name such as 'm.safetensors'");
  EXPECT_EQ(message_of([&] { model.save("m.onnx"); }),
            "cannot save the model to 'm.onnx': '.onnx' is the ending of ONNX, and a model is "
            "written as safetensors; expected a name such as 'm.safetensors'; an export writes "
            "ONNX");
  model.save(path_of("of any other ending.model"));
}

TEST_F(ModelFile, KeepsRunningStatistics) {
  Network network({4}, {Dense{.units = 3}, BatchNorm{.name = "norm"}, Dense{.units = 2}});
  Model model(network);
  const std::vector<float> mean{1, 2, 3};
  const std::vector<float> variance{4, 5, 6};
  set_parameter(model, "norm.running_mean", mean);
  set_parameter(model, "norm.running_var", variance);
  const std::string path = path_of("statistics.safetensors");
  model.save(path);
  EXPECT_EQ(parameter(Model::load(path), "norm.running_mean"), mean);
  EXPECT_EQ(parameter(Model::load(path), "norm.running_var"), variance);
}

TEST_F(ModelFile, KeepsInfiniteSettings) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Layer ramp =
      CustomLayer{"ramp", [=](const Expression& x, LayerWeights&) { return clip(x, 0, infinity); }};
  const Network network({3}, {Dense{.units = 4}, ramp, Dense{.units = 4},
                              HardTanh{.low = -infinity, .high = 0.5}, Dense{.units = 4},
                              HardTanh{.low = -infinity, .high = infinity}, Dense{.units = 2}});
  const std::vector<float> samples{-1, 2, 3, 4, -5, 6, 7, 8, -9};
  const std::vector<std::int32_t> labels{0, 1, 0};
  const Dataset data = data_of(records(samples, {3}), records(labels));
  Model model(network, {.device = "cpu", .seed = 4});
  train(model, data, {.epochs = 2, .batch = 3});
  const std::string path = path_of("infinite.safetensors");
  model.save(path);
  Model loaded = Model::load(path, {.device = "cpu"});
  EXPECT_EQ(vector_of(loaded.predict(data)), vector_of(model.predict(data)));
  EXPECT_EQ(loaded.network().to_json(), network.to_json());
  // And it goes on as the first one would.
  train(model, data, {.epochs = 2, .batch = 3});
  train(loaded, data, {.epochs = 2, .batch = 3});
  EXPECT_EQ(vector_of(loaded.predict(data)), vector_of(model.predict(data)));
}

TEST_F(ModelFile, WhatNoFileCouldHoldIsRefusedWithTheModel) {
  const Layer power =
      CustomLayer{"power", [](const Expression& x, LayerWeights&) { return pow(x, std::nan("")); }};
  EXPECT_EQ(message_of([&] { Model(Network({3}, {power}), {.device = "cpu"}); }),
            "'power_1' has a setting that is NaN");
  EXPECT_EQ(message_of([] { Model(Network({3}, {Dense{.units = 2, .name = "caf\xE9"}})); }),
            "the name 'caf\\xE9.weight' in a network is not UTF-8, which a model file needs");
  Model model(Network({3}, {Dense{.units = 2}}), {.device = "cpu"});
  EXPECT_EQ(message_of([&] {
              model.set_class_names({"cat", "caf\xE9"});
            }),
            "the class name 'caf\\xE9' is not UTF-8, which a model file needs");
}

TEST_F(ModelFile, RuinedWeightsDoNotReplaceGoodOnes) {
  Model model(Network({3}, {Dense{.units = 2, .name = "d"}, BatchNorm{.name = "norm"}}),
              {.device = "cpu"});
  const std::string path = path_of("good.safetensors");
  model.save(path);
  const std::string before = read_file(path);
  const std::string start = "cannot save the model to '" + path + "': ";
  std::vector<float> weight = parameter(model, "d.weight");
  weight[4] = std::nanf("");
  set_parameter(model, "d.weight", weight);
  EXPECT_EQ(message_of([&] { model.save(path); }),
            start + "element 4 of the weight 'd.weight' is nan");
  weight[4] = 0;
  set_parameter(model, "d.weight", weight);
  set_parameter(model, "norm.running_var", {1, -INFINITY});
  EXPECT_EQ(message_of([&] { model.save(path); }),
            start + "element 1 of the weight 'norm.running_var' is -inf");
  EXPECT_EQ(read_file(path), before);
}

TEST_F(ModelFile, ACutFileIsAnErrorWhereverItIsCut) {
  Model model(Network({3}, {Dense{.units = 2}}));
  const std::string path = path_of("whole.safetensors");
  model.save(path);
  const std::string bytes = read_file(path);
  const std::string cut = path_of("cut.safetensors");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    std::ofstream(cut, std::ios::binary) << bytes.substr(0, size);
    EXPECT_NE(load_error(cut), "") << size;
  }
}

/// All that a file holds, bit for bit.
std::string content_of(Model& model) {
  std::string content = model.network().to_json();
  for (const std::string& name : model.class_names()) content += '\0' + name;
  const TrainingRecord& training = model.training_record();
  content += '\0' + fmt::format("{} {} {}", training.loss, training.labels,
                                fmt::join(training.sample_shape.dims(), ","));
  for (const std::string& name : model.parameter_names()) {
    const std::vector<float> values = parameter(model, name);
    content += '\0' + name;
    content.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }
  return content;
}

/// Every byte counts, and an error names the file.
TEST_F(ModelFile, ADamagedByteIsAnErrorOrAnotherModel) {
  Model model(Network({3}, {Dense{.units = 2}, ReLU{}}));
  model.set_class_names({"a", "b"});
  model.set_training_record({.loss = "cross_entropy", .labels = true, .sample_shape = {3}});
  const std::string path = path_of("whole.safetensors");
  model.save(path);
  const std::string bytes = read_file(path);
  const std::string whole = content_of(model);
  Model again = Model::load(path);
  ASSERT_EQ(content_of(again), whole);
  const std::string damaged = path_of("damaged.safetensors");
  std::size_t refused = 0;
  std::size_t others = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int mask : {0x01, 0x80, 0x20}) {
      std::string copy = bytes;
      copy[at] = static_cast<char>(copy[at] ^ mask);
      std::ofstream(damaged, std::ios::binary) << copy;
      try {
        Model loaded = Model::load(damaged);
        EXPECT_NE(content_of(loaded), whole) << "byte " << at << " ^ " << mask << " is not noticed";
        ++others;
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find(damaged), std::string::npos) << error.what();
        ++refused;
      }
    }
  }
  EXPECT_GE(others, 3 * 8 * sizeof(float));  // every weight's bytes
  EXPECT_GT(refused, bytes.size());
}

TEST_F(ModelFile, SaysWhatIsWrong) {
  EXPECT_EQ(load_error("/nowhere/model.safetensors"),
            "cannot read '/nowhere/model.safetensors': No such file or directory");
  const std::string path = path_of("other.safetensors");
  std::ofstream(path, std::ios::binary) << std::string("\x02\0\0\0\0\0\0\0{}", 10);
  EXPECT_EQ(load_error(path),
            "cannot load the model '" + path + "': it holds weights, but no Linnet network");
}

TEST_F(ModelFile, WeightsThatDoNotFitTheNetworkAreAnError) {
  Model model(Network({3}, {Dense{.units = 2, .name = "d"}}));
  const std::string path = path_of("fits.safetensors");
  model.save(path);
  const SafetensorsFile file = read_safetensors(path);
  const std::string other = path_of("unfit.safetensors");
  const auto error = [&](std::vector<TensorView> tensors,
                         std::map<std::string, std::string> extra) {
    std::map<std::string, std::string> metadata = file.metadata();
    for (const auto& [key, value] : extra) metadata[key] = value;
    write_safetensors(other, tensors, metadata);
    const std::string message = load_error(other);
    const std::string start = "cannot load the model '" + other + "': ";
    EXPECT_EQ(message.find(start), 0U);
    return message.substr(std::min(start.size(), message.size()));
  };
  const TensorView weight = file.at("d.weight");
  const TensorView bias = file.at("d.bias");
  EXPECT_EQ(error({weight}, {}), "the weight 'd.bias' is missing");
  TensorView more = bias;
  more.name = "e.bias";
  EXPECT_EQ(error({weight, bias, more}, {}), "it holds 3 tensors, but the network has 2 weights");
  TensorView turned = weight;
  turned.shape = {3, 2};
  EXPECT_EQ(error({turned, bias}, {}),
            "expected the weight 'd.weight' as f32 (2, 3); got f32 (3, 2)");
  TensorView integers = bias;
  integers.dtype = DType::i32;
  EXPECT_EQ(error({weight, integers}, {}), "expected the weight 'd.bias' as f32 (2); got i32 (2)");
  EXPECT_EQ(error({weight, bias}, {{"linnet.classes", "[1, 2]"}}), "its class names are damaged");
}

TEST_F(ModelFile, AFullDiskIsAnErrorAndKeepsTheOldFile) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
  Model model(Network({3}, {Dense{.units = 2}}));
  try {
    model.save("/dev/full");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot write '/dev/full': No space left on device");
  }
}

TEST(Model, ParametersAreCheckedByNameAndShape) {
  Model model(Network({3}, {Dense{.units = 2, .name = "head"}}));
  EXPECT_EQ(model.parameter_names(), (std::vector<std::string>{"head.weight", "head.bias"}));
  for (const Shape& shape : {Shape{5}, Shape{6}, Shape{3, 2}}) {
    try {
      model.set_parameter("head.weight", Tensor(DType::f32, shape));
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.what(),
                "the parameter 'head.weight' is (2, 3); got values of " + to_string(shape));
    }
  }
  try {
    model.parameter("tail.weight");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "the model has no parameter 'tail.weight'; did you mean 'head.weight'?");
  }
}

TEST(Model, AMissingDeviceIsAnError) {
  try {
    Model(workloads::mnist_cnn(),
          {.device = "cuda", .cuda = {.library = "/none/liblinnet_cuda.so"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "CUDA is not usable: /none/liblinnet_cuda.so: cannot open shared object file: No "
                 "such file or directory");
  }
  try {
    Model(workloads::mnist_cnn(), {.device = "tpu"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "unknown device 'tpu'; expected auto, cpu, cuda, cuda:INDEX or cuda:UUID");
  }
}

}  // namespace
}  // namespace linnet::testing
