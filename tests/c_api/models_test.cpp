// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers.h>
#include <linnet/model.h>
#include <linnet/version.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include "../temporary_folder.h"
#include "c_api.h"

namespace linnet::testing {

Network small_network() { return Network({4}, {Dense{.units = 8}, Tanh{}, Dense{.units = 3}}); }

OwnedModel make_model(const char* network, const char* options) {
  linnet_model* model = nullptr;
  EXPECT_EQ(linnet_model_create(network, options, &model), LINNET_OK) << linnet_last_error();
  return OwnedModel(model);
}

std::vector<float> numbers(std::size_t count) {
  std::vector<float> all;
  std::uint32_t random = 1;
  for (std::size_t i = 0; i < count; ++i) {
    random = random * 1664525U + 1013904223U;
    all.push_back(static_cast<float>(random >> 8) / (1 << 23) - 1);
  }
  return all;
}

namespace {

/// Everything that can be asked of a model.
void expect_small_model(const linnet_model* model) {
  std::int32_t number = -1;
  const char* name = nullptr;
  std::array<std::int64_t, LINNET_MAX_DIMS> dims{};
  ASSERT_EQ(linnet_model_inputs(model, &number), LINNET_OK);
  EXPECT_EQ(number, 1);
  ASSERT_EQ(linnet_model_outputs(model, &number), LINNET_OK);
  EXPECT_EQ(number, 1);
  ASSERT_EQ(linnet_model_input_name(model, 0, &name), LINNET_OK);
  EXPECT_STREQ(name, "input");
  ASSERT_EQ(linnet_model_output_name(model, 0, &name), LINNET_OK);
  EXPECT_STREQ(name, "output");
  ASSERT_EQ(linnet_model_input_type(model, 0, &number), LINNET_OK);
  EXPECT_EQ(number, LINNET_F32);
  ASSERT_EQ(linnet_model_input_shape(model, 0, dims.data(), &number), LINNET_OK);
  EXPECT_EQ(number, 1);
  EXPECT_EQ(dims[0], 4);
  ASSERT_EQ(linnet_model_output_shape(model, 0, dims.data(), &number), LINNET_OK);
  EXPECT_EQ(number, 1);
  EXPECT_EQ(dims[0], 3);
  std::int64_t parameters = 0;
  ASSERT_EQ(linnet_model_parameters(model, &parameters), LINNET_OK);
  EXPECT_EQ(parameters, small_network().parameters());
  ASSERT_EQ(linnet_model_answers(model, &number), LINNET_OK);
  EXPECT_EQ(number, LINNET_CLASSES);
  ASSERT_EQ(linnet_model_classes(model, &number), LINNET_OK);
  ASSERT_EQ(number, 2);
  ASSERT_EQ(linnet_model_class_name(model, 1, &name), LINNET_OK);
  EXPECT_STREQ(name, "two");
}

TEST(CModels, SayWhatTheyAre) {
  const OwnedModel model = make_model();
  const std::array<const char*, 2> names{"one", "two"};
  ASSERT_EQ(linnet_model_set_classes(model.get(), names.data(), 2), LINNET_OK);
  expect_small_model(model.get());
}

TEST(CModels, AreTheSameFromAFileAndFromItsBytes) {
  const TemporaryFolder folder;
  const std::string path = (folder / "m\u00e4ny words.safetensors").string();
  Model made(small_network(), {.device = "cpu", .threads = 1, .seed = 3});
  made.set_class_names({"one", "two"});
  made.save(path);
  linnet_model* loaded = nullptr;
  ASSERT_EQ(linnet_model_load(path.c_str(), R"({"threads": 1, "device": "cpu"})", &loaded),
            LINNET_OK);
  const OwnedModel from_file(loaded);
  expect_small_model(loaded);

  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  ASSERT_EQ(linnet_model_load_bytes(bytes.data(), bytes.size(), nullptr, &loaded), LINNET_OK);
  const OwnedModel from_bytes(loaded);
  expect_small_model(loaded);

  // What is written again is the same file.
  ASSERT_EQ(linnet_model_save(loaded, (folder / "again.safetensors").c_str()), LINNET_OK);
  std::ifstream other(folder / "again.safetensors", std::ios::binary);
  EXPECT_EQ(bytes, std::string(std::istreambuf_iterator<char>(other), {}));

  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, bytes.size() / 2, bytes.size() - 1}) {
    expect_error(linnet_model_load_bytes(bytes.data(), size, nullptr, &loaded), LINNET_DATA_ERROR,
                 "the model's bytes");
  }
}

TEST(CModels, WithAnEmbeddingInFrontReadIds) {
  const OwnedModel model = make_model(
      R"({"input": [6], "layers": [{"type": "embedding", "vocabulary": 10, "features": 4}, "flatten", {"type": "dense", "units": 2}]})");
  std::int32_t type = -1;
  ASSERT_EQ(linnet_model_input_type(model.get(), 0, &type), LINNET_OK);
  EXPECT_EQ(type, LINNET_I32);
}

TEST(CModels, HaveTheWeightsOfTheirSeed) {
  const TemporaryFolder folder;
  const OwnedModel model = make_model();
  ASSERT_EQ(linnet_model_save(model.get(), (folder / "c.safetensors").c_str()), LINNET_OK);
  const Model cpp(small_network(), {.device = "cpu", .threads = 1, .seed = 3});
  EXPECT_TRUE(same_bits(Model::load(folder / "c.safetensors").weights(), cpp.weights()));
}

TEST(CModels, TellTheirVersion) {
  EXPECT_EQ(linnet_c_api_version(), LINNET_C_API_VERSION);
  EXPECT_EQ(linnet_version(), version());
}

}  // namespace
}  // namespace linnet::testing
