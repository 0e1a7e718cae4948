// SPDX-License-Identifier: Apache-2.0
#include <linnet/expression.h>
#include <linnet/layers.h>
#include <linnet/model.h>
#include <linnet/predictor.h>

#include <array>
#include <thread>

#include "../temporary_folder.h"
#include "c_api.h"

namespace linnet::testing {
namespace {

Model cpp_model() { return Model(small_network(), {.device = "cpu", .threads = 1, .seed = 3}); }

std::vector<float> values(const Tensor& tensor) {
  const auto all = tensor.as<float>();
  return {all.begin(), all.end()};
}

OwnedModel loaded(const Model& model) {
  const TemporaryFolder folder;
  model.save(folder / "model.safetensors");
  linnet_model* made = nullptr;
  EXPECT_EQ(linnet_model_load((folder / "model.safetensors").c_str(),
                              R"({"device": "cpu", "threads": 1})", &made),
            LINNET_OK)
      << linnet_last_error();
  return OwnedModel(made);
}

TEST(CPredict, ReturnsWhatCppDoes) {
  const OwnedModel model = make_model();
  const Predictor predictor(cpp_model());
  for (const std::int64_t count : {1, 5, 256}) {
    const std::vector<float> samples = numbers(static_cast<std::size_t>(count) * 4);
    std::vector<float> outputs(static_cast<std::size_t>(count) * 3);
    ASSERT_EQ(linnet_predict(model.get(), count, samples.data(), samples.size(), outputs.data(),
                             outputs.size()),
              LINNET_OK)
        << linnet_last_error();
    EXPECT_EQ(outputs, values(predictor.predict(Tensor::borrow(samples, {count, 4}))));
  }
}

TEST(CPredict, TakesManySamplesInParts) {
  const OwnedModel model = make_model();
  const std::vector<float> samples = numbers(std::size_t{1000} * 4);
  std::vector<float> outputs(std::size_t{1000} * 3);
  ASSERT_EQ(linnet_predict(model.get(), 1000, samples.data(), samples.size(), outputs.data(),
                           outputs.size()),
            LINNET_OK);
  const Tensor expected = cpp_model().predict(Tensor::borrow(samples, {1000, 4}));
  EXPECT_EQ(outputs, values(expected));
}

TEST(CPredict, GivesProbabilities) {
  const OwnedModel model = make_model();
  const std::array<const char*, 3> names{"a", "b", "c"};
  ASSERT_EQ(linnet_model_set_classes(model.get(), names.data(), 3), LINNET_OK);
  const std::vector<float> samples = numbers(8);
  std::vector<float> outputs(6);
  ASSERT_EQ(linnet_predict_probabilities(model.get(), 2, samples.data(), 8, outputs.data(), 6),
            LINNET_OK)
      << linnet_last_error();
  Model cpp = cpp_model();
  cpp.set_class_names({"a", "b", "c"});
  EXPECT_EQ(outputs, values(cpp.predict_probabilities(Tensor::borrow(samples, {2, 4}))));
  EXPECT_NEAR(outputs[0] + outputs[1] + outputs[2], 1, 1e-5);
}

TEST(CPredict, ChecksEveryLength) {
  const OwnedModel model = make_model();
  std::vector<float> samples = numbers(8);
  std::vector<float> outputs(6);
  const auto predict = [&](std::int64_t count, std::size_t in, std::size_t out) {
    return linnet_predict(model.get(), count, samples.data(), in, outputs.data(), out);
  };
  expect_error(predict(2, 7, 6), LINNET_ERROR, "'inputs' has 7 floats; expected 8 for (2, 4)");
  expect_error(predict(2, 8, 5), LINNET_ERROR, "'outputs' has 5 floats; expected 6 for (2, 3)");
  expect_error(predict(2, 8, 7), LINNET_ERROR, "'outputs' has 7 floats; expected 6 for (2, 3)");
  expect_error(predict(0, 0, 0), LINNET_ERROR, "samples of at least 1; got 0");
  expect_error(predict(-1, 8, 6), LINNET_ERROR, "samples of at least 1; got -1");
  expect_error(predict(INT64_MAX, 8, 6), LINNET_ERROR, "9223372036854775807");
  expect_error(linnet_predict(model.get(), 2, nullptr, 8, outputs.data(), 6), LINNET_ERROR,
               "'inputs' is NULL");
  expect_error(linnet_predict(model.get(), 2, samples.data(), 8, nullptr, 6), LINNET_ERROR,
               "'outputs' is NULL");
  EXPECT_EQ(outputs, std::vector<float>(6));
}

TEST(CPredict, RunsOnSeveralThreads) {
  const OwnedModel model = make_model();
  const std::array<const char*, 3> names{"a", "b", "c"};
  ASSERT_EQ(linnet_model_set_classes(model.get(), names.data(), 3), LINNET_OK);
  const std::vector<float> samples = numbers(32);
  std::array<std::vector<float>, 4> outputs;
  std::vector<std::thread> threads;
  for (auto& out : outputs) {
    threads.emplace_back([&] {
      out.resize(24);
      for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(linnet_predict_probabilities(model.get(), 8, samples.data(), 32, out.data(), 24),
                  LINNET_OK)
            << linnet_last_error();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& out : outputs) EXPECT_EQ(out, outputs[0]);
  EXPECT_NEAR(outputs[0][0] + outputs[0][1] + outputs[0][2], 1, 1e-5);
}

/// Two inputs, one of bytes and one of ids, and two outputs.
Model branches() {
  FunctionalNetwork network;
  const Expression image = network.input("image", {2, 2, 1});
  const Expression words = network.input("words", {3}, DType::i32);
  const Expression both =
      concat({image | Flatten{}, words | Embedding{.vocabulary = 5, .features = 2} | Flatten{}},
             -1);
  return Model(network.build(
                   {{"kind", both | Dense{.units = 3}}, {"size", both | Dense{.units = 1}}}),
               {.device = "cpu", .threads = 1, .seed = 4});
}

TEST(CPredict, TakesSeveralInputsAndOutputsOfTheirTypes) {
  const Model cpp = branches();
  const OwnedModel model = loaded(cpp);
  const std::vector<std::uint8_t> image{1, 2, 3, 4, 250, 251, 252, 253};
  const std::vector<std::int64_t> words{0, 1, 2, 4, 3, 2};
  const std::array<std::int64_t, 4> image_dims{2, 2, 2, 1};
  const std::array<std::int64_t, 2> words_dims{2, 3};
  std::array<linnet_array, 2> inputs{{{"words", words.data(), 48, words_dims.data(), 2, LINNET_I64},
                                      {"image", image.data(), 8, image_dims.data(), 4, LINNET_U8}}};
  std::vector<float> size(2);
  std::vector<float> kind(6);
  std::array<linnet_output, 2> outputs{{{"size", size.data(), 2}, {"kind", kind.data(), 6}}};
  ASSERT_EQ(linnet_predict_arrays(model.get(), inputs.data(), 2, outputs.data(), 2, 0), LINNET_OK)
      << linnet_last_error();
  State in;
  in.set("image", Tensor::borrow(image, {2, 2, 2, 1}));
  in.set("words", Tensor::borrow(words, {2, 3}).to(DType::i32));
  const State expected = Predictor(cpp).predict(in);
  EXPECT_EQ(size, values(expected["size"]));
  EXPECT_EQ(kind, values(expected["kind"]));

  const auto call = [&] {
    return linnet_predict_arrays(model.get(), inputs.data(), 2, outputs.data(), 2, 0);
  };
  std::vector<float> one(1);
  expect_error(linnet_predict(model.get(), 1, one.data(), 1, one.data(), 1), LINNET_ERROR,
               "expected a network of one input; it has 2: image, words");
  outputs[0].name = "sizes";
  expect_error(call(), LINNET_ERROR, "no output 'sizes'");
  outputs[0].name = "size";
  outputs[0].floats = 3;
  expect_error(call(), LINNET_ERROR, "'size' has 3 floats; expected 2 for (2, 1)");
  outputs[0].floats = 2;
  inputs[0].bytes = 47;
  expect_error(call(), LINNET_ERROR, "needs 6 elements of 8 bytes; got 47 bytes");
  inputs[0].bytes = 48;
  inputs[0].type = 9;
  expect_error(call(), LINNET_ERROR, "the type 9; expected a linnet_type");
  inputs[0].type = LINNET_I64;
  inputs[0].rank = 9;
  expect_error(call(), LINNET_ERROR, "the rank 9; expected 1 to 8");
  inputs[0].rank = 2;
  inputs[0].dims = nullptr;
  expect_error(call(), LINNET_ERROR, "'dims' NULL");
  const std::array<std::int64_t, 2> wrong{-2, -3};
  inputs[0].dims = wrong.data();
  expect_error(call(), LINNET_ERROR, "dims of at least 1");
  const std::array<std::int64_t, 2> huge{INT64_MAX, INT64_MAX};
  inputs[0].dims = huge.data();
  EXPECT_EQ(call(), LINNET_ERROR);
  const std::array<std::int64_t, 2> other{3, 2};
  inputs[0].dims = other.data();
  expect_error(call(), LINNET_ERROR, "the input 'image' has 2 samples; 'words' has 3");
  inputs[0].dims = words_dims.data();
  ASSERT_EQ(call(), LINNET_OK);
  const std::vector<std::int64_t> large{0, 1, std::int64_t{1} << 40, 4, 3, 2};
  inputs[0].data = large.data();
  EXPECT_NE(call(), LINNET_OK);
  inputs[0].data = reinterpret_cast<const char*>(words.data()) + 1;
  EXPECT_EQ(call(), LINNET_ERROR);
}

}  // namespace
}  // namespace linnet::testing
