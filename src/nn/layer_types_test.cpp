// SPDX-License-Identifier: Apache-2.0
#include "nn/layer_types.h"

#include <gtest/gtest.h>
#include <linnet/layers.h>
#include <linnet/network.h>

#include <algorithm>
#include <set>

namespace linnet {
namespace {

/// Returns what reading a table throws: "" if nothing.
std::string mistake(SettingTable table) {
  try {
    read_layer({std::move(table)}, "here");
  } catch (const SettingError& error) {
    return error.what();
  }
  return "";
}

Setting text(std::string text) { return {std::move(text)}; }

TEST(LayerTypes, EveryFieldIsDescribedInTheHeadersOrder) {
  for (const LayerType& type : layer_types().all()) {
    const StructDocs docs = docs_of(type);
    EXPECT_FALSE(docs.text.empty()) << type.kind() << ": no struct of this name, or no docstring";
    std::vector<std::string> members;
    std::vector<std::string> keys;
    for (const MemberDocs& member : docs.members) members.push_back(member.name);
    for (const Field& field : type.fields.fields) keys.emplace_back(field.key);
    EXPECT_EQ(members, keys) << type.kind();
  }
}

TEST(LayerTypes, EveryFieldHasATextThatNamesItsRange) {
  for (const LayerType& type : layer_types().all()) {
    const StructDocs docs = docs_of(type);
    for (const Field& field : type.fields.fields) {
      const std::string_view text = docs.of(field.key);
      EXPECT_FALSE(text.empty()) << type.kind() << "." << field.key;
      EXPECT_NE(text.find(field.range.text()), std::string_view::npos)
          << type.kind() << "." << field.key << " says '" << text << "', but its range is "
          << field.range.text();
    }
  }
}

TEST(LayerTypes, ExamplesAndDefaultsAreReadAsTheyAreWritten) {
  for (const LayerType& type : layer_types().all()) {
    for (const bool all : {true, false}) {
      const Setting written = write_layer(type.example, all);
      const Layer read = read_layer(written, "here");
      EXPECT_EQ(read.type(), type.type());
      EXPECT_EQ(to_toml(write_layer(read, all)), to_toml(written));
      EXPECT_EQ(cpp_of(read), cpp_of(type.example));
    }
  }
}

TEST(LayerTypes, AnExampleIsTheSameInCppAndToml) {
  const Layer conv = Conv2d{.filters = 16,
                            .kernel = {3, 1},
                            .padding = Padding2d::same(),
                            .weight_init = {Initializer::Kind::he_normal}};
  EXPECT_EQ(cpp_of(conv),
            "Conv2d{.filters = 16, .kernel = {3, 1}, .padding = Padding2d::same(), "
            ".weight_init = {Initializer::Kind::he_normal}}");
  EXPECT_EQ(to_toml(write_layer(conv, false)),
            "{ type = \"conv2d\", filters = 16, kernel = [3, 1], padding = \"same\", "
            "weight_init = \"he_normal\" }");
  const Layer both =
      Bidirectional{.layer = LSTM{.units = 4}, .merge = Bidirectional::Merge::sum, .name = "both"};
  EXPECT_EQ(cpp_of(both),
            "Bidirectional{.layer = LSTM{.units = 4}, .merge = Bidirectional::Merge::sum, "
            ".name = \"both\"}");
}

TEST(LayerTypes, MistakesNameTheKeyAndWhatWasExpected) {
  EXPECT_EQ(mistake({{"type", text("conv4d")}}),
            "unknown layer type 'conv4d' in here; did you mean 'conv1d'?");
  EXPECT_EQ(mistake({{"type", text("conv2d")}}), "here needs the key 'filters'");
  EXPECT_EQ(mistake({{"type", text("dense")}, {"unitz", {std::int64_t{3}}}}),
            "unknown key 'unitz' in here; did you mean 'units'?");
  EXPECT_EQ(mistake({{"type", text("dense")}, {"units", {std::int64_t{0}}}}),
            "'units' in here must be at least 1; got 0");
  EXPECT_EQ(mistake({{"type", text("dropout")}, {"rate", {1.0}}}),
            "'rate' in here must be in [0, 1); got 1");
  EXPECT_EQ(mistake({{"type", text("dense")}, {"units", text("ten")}}),
            "'units' in here must be an integer; got a string");
}

TEST(LayerTypes, OldNamesSayTheNewOnes) {
  const std::string old = "deviation";  // wording: ok
  EXPECT_EQ(mistake({{"type", text("normalize")}, {old, {0.5}}}),
            "unknown key '" + old + "' in here; it is called 'std' now");
  EXPECT_EQ(mistake({{"type", text("transformer_encoder")}}),
            "unknown layer type 'transformer_encoder' in here; it is called "
            "'transformer_encoder_layer' now");
}

TEST(LayerTypes, LayersOutOfRangeAreRefusedWhenTheyAreBuilt) {
  const auto error = [](const Layer& layer) -> std::string {
    try {
      Network({8, 8, 4}, {layer});
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(error(Conv2d{}), "[conv2d 'conv2d_1'] expected filters to be at least 1; got 0");
  EXPECT_EQ(error(MaxPool2d{.size = {0, 2}, .name = "p"}),
            "[max_pool2d 'p'] expected size to be at least 1; got [0, 2]");
  EXPECT_EQ(error(Dropout{.rate = -0.5}),
            "[dropout 'dropout_1'] expected rate to be in [0, 1); got -0.5");
}

/// The layers' header that is made is all of them, each kind once.
TEST(LayerTypes, KindsAndNamesAreUnique) {
  std::set<std::string_view> kinds;
  std::set<std::string_view> names;
  for (const LayerType& type : layer_types().all()) {
    EXPECT_TRUE(kinds.insert(type.kind()).second) << type.kind();
    EXPECT_TRUE(names.insert(type.fields.name).second) << type.fields.name;
  }
  EXPECT_GE(kinds.size(), 48U);
}

}  // namespace
}  // namespace linnet
