// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>
#include <thread>

#include "c_api.h"

extern "C" std::int32_t call_with_nulls(std::int32_t which);

namespace linnet::testing {

void expect_error(std::int32_t code, std::int32_t expected, const std::string& words) {
  EXPECT_EQ(code, expected) << linnet_last_error();
  EXPECT_NE(std::string_view(linnet_last_error()).find(words), std::string_view::npos)
      << "expected: " << words << "\n     got: " << linnet_last_error();
}

namespace {

TEST(CErrors, NullIsAnErrorOfEveryFunction) {
  std::int32_t which = 0;
  for (; which < 24; ++which) {
    expect_error(call_with_nulls(which), LINNET_ERROR, "is NULL; expected");
  }
  EXPECT_EQ(call_with_nulls(which), -1);
}

TEST(CErrors, NameTheFunctionAndWhatWasWrong) {
  linnet_model* model = nullptr;
  expect_error(linnet_model_load("missing.safetensors", nullptr, &model), LINNET_DATA_ERROR,
               "linnet_model_load: cannot read 'missing.safetensors'");
  EXPECT_EQ(model, nullptr);
  const OwnedModel good = make_model();
  EXPECT_STREQ(linnet_last_error(), "");  // of the last call
}

TEST(CErrors, OfOptions) {
  struct Case {
    const char* options;
    const char* words;
  };
  linnet_model* model = nullptr;
  for (const auto& [options, words] :
       {Case{R"({"thread": 1})", "unknown key 'thread' in the options; did you mean 'threads'?"},
        Case{R"({"threads": -1})", "at least 0"}, Case{R"({"threads": "1"})", "must be an integer"},
        Case{R"({"device": "tpu"})", "tpu"}, Case{R"({"threads": 1)", "is not valid JSON"},
        Case{R"([1])", "expected the options to be a JSON object"}, Case{"threads=1", "JSON"},
        Case{R"({"team": 1})", "an object of a program"}}) {
    const std::int32_t code = linnet_model_create(kNetwork, options, &model);
    EXPECT_TRUE(code == LINNET_ERROR || code == LINNET_DATA_ERROR) << code;
    expect_error(code, code, words);
  }
  EXPECT_EQ(model, nullptr);
}

TEST(CErrors, OfNetworks) {
  struct Case {
    const char* network;
    const char* words;
  };
  linnet_model* model = nullptr;
  for (const auto& [network, words] :
       {Case{"", "expected the network to have the keys 'input' and 'layers'"},
        Case{R"({"input": [4]})", "expected the network to have the keys 'input' and 'layers'"},
        Case{R"({"input": [4], "layers": [], "outputs": 1})", "unknown key 'outputs'"},
        Case{R"({"input": [4], "layers": "relu"})", "'layers' in the network must be an array"},
        Case{R"({"input": 4.5, "layers": ["relu"]})", "'input' in the network must be"},
        Case{R"({"input": [4], "layers": ["rellu"]})", "did you mean 'relu'?"},
        Case{R"({"input": [4], "layers": [3]})", "layer 1 of the network"},
        Case{R"({"input": [4], "layers": [{"type": "conv2d", "filters": 3}]})", "conv2d"},
        Case{R"({"input": [-4], "layers": [{"type": "dense", "units": 3}]})", "-4"}}) {
    const std::int32_t code = linnet_model_create(network, nullptr, &model);
    EXPECT_NE(code, LINNET_INTERNAL_ERROR) << network;
    expect_error(code, code == LINNET_OK ? LINNET_ERROR : code, words);
  }
}

TEST(CErrors, AreTheThreadsOwn) {
  linnet_model* model = nullptr;
  EXPECT_NE(linnet_model_load("missing", nullptr, &model), LINNET_OK);
  const std::string before = linnet_last_error();
  std::thread([] {
    EXPECT_STREQ(linnet_last_error(), "");
    EXPECT_NE(linnet_model_inputs(nullptr, nullptr), LINNET_OK);
  }).join();
  EXPECT_EQ(before, linnet_last_error());
}

TEST(CErrors, AreCutBetweenCharacters) {
  for (const char* letter : {"x", "\u00e4", "\u20ac", "\U0001F426"}) {
    for (const char* first : {"", "a", "ab", "abc"}) {
      std::string path = first;
      while (path.size() < 4000) path += letter;
      linnet_model* model = nullptr;
      EXPECT_NE(linnet_model_load(path.c_str(), nullptr, &model), LINNET_OK);
      const std::string_view text = linnet_last_error();
      EXPECT_GT(text.size(), 2040U);
      EXPECT_LE(text.size(), 2047U);
      EXPECT_TRUE(text.ends_with(letter));
    }
  }
}

TEST(CErrors, OfWhatIsOutside) {
  const OwnedModel model = make_model();
  const char* name = nullptr;
  expect_error(linnet_model_input_name(model.get(), 1, &name), LINNET_ERROR,
               "expected the number of an input below 1; got 1");
  expect_error(linnet_model_output_name(model.get(), -1, &name), LINNET_ERROR,
               "expected the number of an output below 1; got -1");
  expect_error(linnet_model_class_name(model.get(), 0, &name), LINNET_ERROR,
               "expected the number of a class below 0; got 0");
  const std::array<const char*, 4> names{"a", "b", "c", "d"};
  EXPECT_EQ(linnet_model_set_classes(model.get(), names.data(), 4), LINNET_ERROR);
  const std::array<const char*, 2> hole{"a", nullptr};
  expect_error(linnet_model_set_classes(model.get(), hole.data(), 2), LINNET_ERROR, "NULL");
}

}  // namespace
}  // namespace linnet::testing
