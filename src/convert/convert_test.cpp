// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/convert.h>
#include <linnet/error.h>
#include <linnet/layers.h>
#include <linnet/zoo.h>

#include <functional>

#include "base/files.h"
#include "message_of.h"
#include "temporary_folder.h"

namespace linnet {
namespace {

using testing::TemporaryFolder;

const ModelOptions kOn{.device = "cpu", .threads = 1, .seed = 3};

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

ImportOptions of(std::string network) {
  ImportOptions options;
  options.network = std::move(network);
  return options;
}

/// The same entries under other names, without those that become "".
State renamed(const State& state, const std::function<std::string(const std::string&)>& name) {
  std::vector<State::Entry> entries;
  for (const State::Entry& entry : state) {
    const std::string other = name(entry.name);
    if (!other.empty()) entries.push_back({other, entry.value});
  }
  return State(std::move(entries));
}

Model small_text(bool gru) {
  const zoo::TextOptions options{
      .steps = 6, .vocabulary = 30, .features = 5, .units = 4, .classes = 3};
  Model model(gru ? zoo::gru_text(options) : zoo::lstm_text(options), kOn);
  // As Keras has it: one bias.
  if (!gru) model.set_parameter("lstm_1.bias_hh_l0", Tensor(DType::f32, {16}));
  return model;
}

TEST(Convert, WeightsComeBackFromEveryLibrary) {
  struct Case {
    std::string network;
    Model model;
    std::vector<WeightNames> names;
  };
  using enum WeightNames;
  zoo::ImageOptions small{.classes = 7};
  small.small_stem = true;
  const std::vector<Case> cases{
      {"gru-text", small_text(true), {linnet::WeightNames::linnet, torchvision, keras}},
      {"lstm-text", small_text(false), {linnet::WeightNames::linnet, torchvision, keras}},
      {"cifar-resnet20", Model(zoo::cifar_resnet(20), kOn), {torchvision}},
      {"resnet18-cifar", Model(zoo::resnet18(small), kOn), {torchvision, timm, keras}},
  };
  for (const Case& one : cases) {
    for (const WeightNames names : one.names) {
      SCOPED_TRACE(one.network + " by " + weight_names()[static_cast<std::size_t>(names)]);
      const State theirs = export_weights(one.model, names);
      ImportOptions options = of(one.network);
      options.names = names;
      options.steps = 6;
      options.pixels = pixel_scale_of(one.model.network());
      const Imported imported = import_weights(theirs, options, kOn);
      EXPECT_TRUE(same_bits(imported.model.weights(), one.model.weights()));
      EXPECT_EQ(imported.placed, static_cast<std::int64_t>(theirs.size()));
      EXPECT_EQ(imported.model.network().output_shape(), one.model.network().output_shape());
      EXPECT_EQ(imported.model.training_record().loss, "cross_entropy");
    }
  }
}

TEST(Convert, NamesAreFound) {
  for (const WeightNames names : {WeightNames::torchvision, WeightNames::keras}) {
    const State theirs = export_weights(small_text(true), names);
    EXPECT_EQ(import_weights(theirs, of("gru-text"), kOn).names, names);
  }
  // A first component of all names, counters, seeds and ":0" do not matter.
  State torch = renamed(export_weights(small_text(true), WeightNames::torchvision),
                        [](const std::string& name) { return "module." + name; });
  torch.set("module.num_batches_tracked", Tensor(DType::i64, {}));
  const Imported imported = import_weights(torch, of("gru-text"), kOn);
  EXPECT_EQ(imported.ignored, std::vector<std::string>{"module.num_batches_tracked"});
  const State compiled =
      renamed(torch, [](const std::string& name) { return "_orig_mod." + name; });
  EXPECT_EQ(import_weights(compiled, of("gru-text"), kOn).names, WeightNames::torchvision);
  // A loss's weights beside the network's, as PyTorch Lightning keeps them, hide nothing.
  torch.set("criterion.weight", Tensor(DType::f32, {2}));
  const std::string left = error_of([&] { import_weights(torch, of("gru-text"), kOn); });
  EXPECT_TRUE(left.find("'criterion.weight'") != std::string::npos) << left;
  EXPECT_TRUE(left.find("missing") == std::string::npos) << left;
  ImportOptions ignoring = of("gru-text");
  ignoring.ignore = {"criterion.*"};
  EXPECT_EQ(import_weights(torch, ignoring, kOn).names, WeightNames::torchvision);
  State keras = renamed(export_weights(small_text(true), WeightNames::keras),
                        [](const std::string& name) { return "sequential_1/" + name + ":0"; });
  keras.set("seed_generator/seed_generator_state", Tensor(DType::i64, {2}));
  EXPECT_EQ(import_weights(keras, of("gru-text"), kOn).names, WeightNames::keras);
}

TEST(Convert, ANewLastLayerHasNoFewerThanNoClasses) {
  ImportOptions options = of("gru-text");
  options.classes = -1;
  EXPECT_EQ(testing::message_of([&] { import_weights({}, options, kOn); }),
            "expected classes of at least 0; got -1");
}

TEST(Convert, ANewLastLayerReplacesTheFiles) {
  const Model model = small_text(true);
  State theirs = export_weights(model, WeightNames::torchvision);
  ImportOptions options = of("gru-text");
  options.classes = 5;
  const Imported imported = import_weights(theirs, options, kOn);
  EXPECT_EQ(imported.model.network().output_shape(), Shape{5});
  EXPECT_EQ(imported.ignored, (std::vector<std::string>{"fc.weight", "fc.bias"}));
  EXPECT_TRUE(same_bits(imported.model.weights().part("gru_1."), model.weights().part("gru_1.")));
  theirs = renamed(theirs, [](const std::string& name) {
    return name.starts_with("fc.") ? std::string() : name;
  });
  EXPECT_EQ(import_weights(theirs, options, kOn).model.network().output_shape(), Shape{5});
}

// Names are somebody's: their number costs no hours, and the sentence stays short.
TEST(Convert, ManyUnknownTensorsAreAShortSentence) {
  State many;
  for (int i = 0; i < 300; ++i)
    many.set(fmt::format("unknown.{}.weight", i), Tensor(DType::f32, {1}));
  many.set("layer9223372036854775807.0.conv1.weight", Tensor(DType::f32, {1}));
  const std::string sentence = error_of([&] { import_weights(many, of("resnet18"), kOn); });
  EXPECT_LT(sentence.size(), 1500U) << sentence;
  EXPECT_TRUE(sentence.ends_with(" more")) << sentence;
  for (int i = 300; i < 9000; ++i)
    many.set(fmt::format("unknown.{}.weight", i), Tensor(DType::f32, {1}));
  EXPECT_EQ(error_of([&] { import_weights(many, of("resnet18"), kOn); }),
            "the weights do not fit resnet18: the file has 9001 tensors, more than the 8192 that a "
            "network can have; leave out others with --ignore");
}

// All names of a DenseNet without its classifier begin with "features.", which belongs to them.
TEST(Convert, SharedComponentsOfTheNetworkStay) {
  zoo::ImageOptions options{.classes = 3};
  const Model model(zoo::densenet121(options), kOn);
  const State features =
      renamed(export_weights(model, WeightNames::torchvision),
              [](const std::string& name) { return name.starts_with("classifier") ? "" : name; });
  const Imported imported = import_weights(features, of("densenet121"), kOn);
  EXPECT_EQ(imported.model.network().output_shape(), Shape{1024});
}

TEST(Convert, BiasesBeforeBatchNormsGoIntoTheMeans) {
  zoo::ImageOptions options{.classes = 7};
  options.small_stem = true;
  const Model model(zoo::resnet18(options), kOn);
  State keras = export_weights(model, WeightNames::keras);
  const std::vector<float> bias(64, 0.25F);
  keras.set("conv2_block1_2_conv/bias", Tensor::copy<float>(bias, {64}));
  const Imported imported = import_weights(keras, of("resnet18-cifar"), kOn);
  EXPECT_EQ(imported.model.parameter("layer1.0.bn2.running_mean").as<float>()[5], -0.25F);
  EXPECT_EQ(imported.model.parameter("layer1.0.bn1.running_mean").as<float>()[5], 0.0F);
}

TEST(Convert, ListsEverythingThatDoesNotFit) {
  const State good = export_weights(small_text(true), WeightNames::torchvision);
  State bad = renamed(good, [](const std::string& name) {
    return name == "fc.bias" ? "" : name == "gru.bias_ih_l0" ? "gru.other" : name;
  });
  bad.set("gru.bias_hh_l0", Tensor(DType::f32, {11}));
  bad.set("fc.weight", Tensor(DType::i32, {3, 4}));
  bad.set("extra.scale", Tensor(DType::f32, {2, 3}));
  EXPECT_EQ(
      error_of([&] { import_weights(bad, of("gru-text"), kOn); }),
      "the weights do not fit gru-text, by the names of torchvision: 'gru.bias_ih_l0' (12), which "
      "'gru_1.bias_ih_l0' (12) of the network needs, is missing; 'gru.bias_hh_l0' is f32 (11); "
      "expected f32 (12), since 'gru_1.bias_hh_l0' of the network is (12); 'fc.weight' is i32 (3, "
      "4); expected f32 (3, 4), since 'dense_1.weight' of the network is (3, 4); 'fc.bias' (3), "
      "which 'dense_1.bias' (3) of the network needs, is missing; 'gru.other' (12) belongs to no "
      "parameter; 'extra.scale' (2, 3) belongs to no parameter");
  // The second of two names for one layer belongs to no parameter.
  State twice = good;
  twice.set("linear.bias", Tensor(DType::f32, {3}));
  EXPECT_EQ(error_of([&] { import_weights(twice, of("gru-text"), kOn); }),
            "the weights do not fit gru-text, by the names of torchvision: 'linear.bias' (3) "
            "belongs to no parameter");
  ImportOptions ignoring = of("gru-text");
  ignoring.ignore = {"lin*"};
  EXPECT_EQ(import_weights(twice, ignoring, kOn).ignored, std::vector<std::string>{"linear.bias"});
  EXPECT_EQ(error_of([&] { import_weights(good, of("gru-txt"), kOn); }),
            "unknown network 'gru-txt'; did you mean 'gru-text'?");
  EXPECT_EQ(error_of([&] { import_weights(good, of("resnet18"), kOn); }).substr(0, 65),
            "the weights do not fit resnet18, by the names of torchvision: 'co");
  EXPECT_EQ(error_of([&] { import_weights({}, of("lstm-text"), kOn); }),
            "the weights do not fit lstm-text, by the names of torchvision: no tensor has the name "
            "of an embedding or a recurrent layer");
}

TEST(Convert, WithoutTheHeadItReturnsFeatures) {
  const State whole = export_weights(Model(zoo::cifar_resnet(20), kOn), WeightNames::torchvision);
  const State body = renamed(whole, [](const std::string& name) {
    return name.starts_with("linear") ? std::string() : name;
  });
  const Imported imported = import_weights(body, of("cifar-resnet20"), kOn);
  EXPECT_EQ(imported.model.network().output_shape(), Shape{64});
  EXPECT_EQ(imported.model.training_record().loss, "");
}

TEST(Convert, PixelsAreThoseOfThePublishedWeights) {
  const Model model(zoo::cifar_resnet(20), kOn);
  const State theirs = export_weights(model, WeightNames::torchvision);
  EXPECT_EQ(pixel_scale_of(import_weights(theirs, of("cifar-resnet20"), kOn).model.network()),
            PixelScale::imagenet);
  EXPECT_EQ(pixel_scale_of(model.network()), PixelScale::unit);
  for (const PixelScale scale : {PixelScale::imagenet, PixelScale::caffe, PixelScale::unit,
                                 PixelScale::symmetric, PixelScale::raw}) {
    ImportOptions options = of("cifar-resnet20");
    options.pixels = scale;
    const Imported imported = import_weights(theirs, options, kOn);
    EXPECT_EQ(pixel_scale_of(imported.model.network()), scale);
    const bool flipped = scale == PixelScale::caffe;
    const Tensor first = imported.model.parameter("conv1.weight");
    EXPECT_EQ(first.as<float>()[0], theirs["conv1.weight"].as<float>()[flipped ? 18 : 0]);
    EXPECT_TRUE(same_bits(export_weights(imported.model, WeightNames::torchvision), theirs));
  }
  EXPECT_EQ(pixel_scale_of(small_text(true).network()), std::nullopt);
}

TEST(Convert, RefusesNamesOfNetworksThatComputeSomethingElse) {
  zoo::ImageOptions options;
  const Model ours(zoo::resnet50(options), kOn);
  EXPECT_EQ(error_of([&] { export_weights(ours, WeightNames::keras); }),
            "the network's bottlenecks have their stride in the 3x3 convolution, those of keras in "
            "the first 1x1 convolution; with these weights the network would give other results");
  EXPECT_EQ(error_of([&] { export_weights(ours, WeightNames::timm); }), "");
  const Model other(Network({4}, {Dense{.units = 2, .name = "d"}}), kOn);
  EXPECT_TRUE(error_of([&] {
                export_weights(other, WeightNames::timm);
              }).starts_with("the network is not one of those whose layers have names in timm: "));
  EXPECT_EQ(error_of([&] { export_weights(Model(zoo::cifar_resnet(8), kOn), WeightNames::keras); }),
            "the layer 'conv1' has no counterpart in keras");
}

TEST(Convert, LayersOfTheFileAreReadByOtherNames) {
  const Model text = small_text(true);
  const State theirs = export_weights(text, WeightNames::torchvision);
  const State other = renamed(theirs, [](const std::string& name) {
    return name.starts_with("fc.") ? "head.out" + name.substr(2) : name;
  });
  ImportOptions options = of("gru-text");
  options.steps = 6;
  EXPECT_NE(error_of([&] { import_weights(other, options, kOn); }), "");
  options.rename = {{"head.out", "fc"}, {"head.ou", "gru"}, {"g", "h"}};
  EXPECT_TRUE(same_bits(import_weights(other, options, kOn).model.weights(), text.weights()));
}

TEST(Convert, WhatDoesNotFitIsLeftOutAndNamed) {
  const Model text = small_text(true);
  State theirs = export_weights(text, WeightNames::torchvision);
  std::vector<State::Entry> entries;
  for (const State::Entry& entry : theirs) {
    if (entry.name == "gru.bias_hh_l0") continue;
    const bool wrong = entry.name == "fc.bias";
    entries.push_back({entry.name, wrong ? Tensor(DType::f32, {12, 3}) : entry.value});
  }
  entries.push_back({"extra", Tensor(DType::f32, {2})});
  ImportOptions options = of("gru-text");
  options.steps = 6;
  options.strict = false;
  const Imported imported = import_weights(State(entries), options, kOn);
  ASSERT_EQ(imported.unfit.size(), 3U);
  EXPECT_EQ(imported.unfit[2], "'extra' (2) belongs to no parameter");
  EXPECT_TRUE(
      same_bits(imported.model.parameter("dense_1.weight"), text.parameter("dense_1.weight")));
  EXPECT_EQ(imported.placed, std::ssize(entries) - 2);
  const State none({{"extra", Tensor(DType::f32, {2})}});
  EXPECT_NE(error_of([&] { import_weights(none, options, kOn); }), "");
  ImportOptions images = of("cifar-resnet20");
  images.strict = false;
  EXPECT_NE(error_of([&] {
              import_weights(none, images, kOn);
            }).find("the weights do not fit cifar-resnet20"),
            std::string::npos);
}

TEST(WeightFiles, AreReadAsTheyWereWritten) {
  const TemporaryFolder folder;
  const State state({{"a/b", Tensor(std::vector<float>{1, -2, 3}, {3, 1})},
                     {"count", Tensor(std::vector<std::int64_t>{1LL << 40}, {})},
                     {"empty", Tensor(DType::f16, {0, 3})},
                     {"yes", Tensor(DType::boolean, {2})}});
  for (const char* name : {"x.npz", "x.safetensors"}) {
    write_weights(folder / name, state);
    const State read = read_weights(folder / name);
    ASSERT_EQ(read.size(), state.size());
    for (const auto& [key, value] : state) EXPECT_TRUE(same_bits(read[key], value)) << key;
  }
  const State bf16({{"w", Tensor(DType::bf16, {2})}});
  write_weights(folder / "b.safetensors", bf16, {{"k", "v"}});
  EXPECT_TRUE(same_bits(read_weights(folder / "b.safetensors"), bf16));
  EXPECT_EQ(error_of([&] { write_weights(folder / "b.npz", bf16); }),
            "cannot write '" + (folder / "b.npz").string() + "': NumPy has no type bf16");
  EXPECT_EQ(error_of([&] { write_weights("b.pt", bf16); }),
            "cannot write 'b.pt': expected .safetensors or .npz");
  EXPECT_EQ(error_of([] { read_weights("x.h5"); }),
            "cannot read 'x.h5': expected .safetensors or .npz; convert it in Python by "
            "numpy.savez('x.npz', **{v.path: v.numpy() for v in model.variables})");
  EXPECT_TRUE(error_of([] { read_weights("x.pth"); }).find("safetensors.torch.save_file") !=
              std::string::npos);
  EXPECT_EQ(error_of([] { read_weights("x.TFLite"); }),
            "cannot read 'x.TFLite': expected .safetensors or .npz; write it as ONNX by `python -m "
            "tf2onnx.convert --tflite x.tflite --output x.onnx`");
  EXPECT_EQ(error_of([] { read_weights("x.xml"); }),
            "cannot read 'x.xml': expected .safetensors or .npz; OpenVINO's form (.xml and .bin) "
            "has no way back; convert the ONNX file that it was made of");
}

TEST(WeightFiles, AreReadFromShards) {
  const TemporaryFolder folder;
  const Tensor a(std::vector<float>{1, 2}, {2});
  const Tensor b(std::vector<float>{3}, {1});
  write_weights(folder / "m-1.safetensors", State({{"a", a}, {"unused", b}}));
  write_weights(folder / "m-2.safetensors", State({{"b", b}}));
  const auto index = folder / "m.safetensors.index.json";
  const auto read = [&](const std::string& text) {
    write_file_atomically(index, text);
    return read_weights(index);
  };
  const State weights = read(R"({"metadata": {"total_size": 12},
      "weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}})");
  EXPECT_EQ(weights.size(), 2U);
  EXPECT_TRUE(same_bits(weights["a"], a));
  EXPECT_TRUE(same_bits(weights["b"], b));
  const std::string begin = "cannot read '" + index.string() + "': ";
  const auto error = [&](const std::string& text) { return error_of([&] { read(text); }); };
  EXPECT_EQ(error(R"({"weight_map": {"c": "m-2.safetensors"}})"),
            begin + "'m-2.safetensors' holds no tensor 'c'");
  for (const char* outside :
       {"../m-2.safetensors", "/m-2.safetensors", "", "m-2.bin", "..", "./x"}) {
    EXPECT_EQ(error(fmt::format(R"({{"weight_map": {{"b": "{}"}}}})", outside)),
              begin + "expected .safetensors files beside it");
  }
  EXPECT_EQ(error(R"({"weight_map": {"b": 3}})"),
            begin + "expected the name of a file for each weight");
  for (const char* other : {"[]", "{}", R"({"weight_map": []})", "3"}) {
    EXPECT_EQ(error(other), begin + "expected a weight_map of names and files");
  }
  EXPECT_EQ(error("{"), begin + "the index is not valid JSON (byte 2)");
}

}  // namespace
}  // namespace linnet
