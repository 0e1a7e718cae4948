// SPDX-License-Identifier: Apache-2.0
// What of a file comes back: element types, shapes and ranges of inputs and outputs, metadata.
#include <gtest/gtest.h>
#include <linnet/dataset.h>
#include <linnet/intervals.h>
#include <linnet/layers/dense.h>
#include <linnet/onnx.h>
#include <linnet/quantize.h>
#include <linnet/table_transform.h>
#include <linnet/tensor.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "message_of.h"
#include "onnx/byte_models.h"
#include "onnx/onnx_bytes.h"
#include "onnx/ports.h"
#include "temporary_folder.h"

namespace linnet {
namespace {

using testing::expect_near;
using testing::message_of;
using testing::OnnxBytes;
using testing::TemporaryFolder;

const std::filesystem::path kFixtures =
    std::filesystem::path(LINNET_ONNX_FIXTURES).parent_path() / "tables1";
const ModelOptions kOnCpu{.device = "cpu", .threads = 1};

OnnxImport read(const std::string& bytes, const OnnxImportOptions& options = {}) {
  const TemporaryFolder folder;
  testing::write_quickly(folder / "m.onnx", bytes);
  return import_onnx(folder / "m.onnx", options, kOnCpu);
}

OnnxImport exported(const Model& model) {
  const TemporaryFolder folder;
  export_onnx(model, folder / "m.onnx");
  return import_onnx(folder / "m.onnx", {}, kOnCpu);
}

Model saved_and_loaded(const Model& model) {
  const TemporaryFolder folder;
  model.save(folder / "m.safetensors");
  return Model::load(folder / "m.safetensors", kOnCpu);
}

/// Three ids of a table of five rows of two.
OnnxBytes of_ids() {
  OnnxBytes model;
  model.type = 7;
  model.dims = {0, 3};
  model.initializers = {OnnxBytes::floats("words.weight", {5, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})};
  model.nodes = {OnnxBytes::node("Gather", {"words.weight", "x"}, {"e"}, "look_up"),
                 OnnxBytes::node("Flatten", {"e"}, {"y"}, "flat")};
  return model;
}

/// Images (N, H, W, C), as TensorFlow has them.
OnnxBytes of_images() {
  OnnxBytes model;
  model.dims = {0, 4, 5, 2};
  model.initializers = {OnnxBytes::floats("conv.weight", {1, 2, 1, 1}, {1, 10})};
  model.nodes = {OnnxBytes::node("Transpose", {"x"}, {"t"}, "turn",
                                 {OnnxBytes::integers("perm", {0, 3, 1, 2})}),
                 OnnxBytes::node("Conv", {"t", "conv.weight"}, {"c"}, "conv"),
                 OnnxBytes::node("Flatten", {"c"}, {"y"}, "flat")};
  return model;
}

void expect_same(const OnnxPort& a, const OnnxPort& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.sample, b.sample);
  EXPECT_EQ(a.axes, b.axes);
  EXPECT_EQ(a.batch, b.batch);
  EXPECT_EQ(a.type, b.type);
  EXPECT_EQ(a.dims, b.dims);
  EXPECT_EQ(a.below, b.below);
}

TEST(OnnxPorts, say_type_shape_and_range) {
  OnnxBytes bytes = of_ids();
  const OnnxImport ids = read(bytes.bytes());
  EXPECT_EQ(ids.inputs[0].type, "INT64");
  EXPECT_EQ(ids.inputs[0].dims, (std::vector<std::int64_t>{-1, 3}));
  EXPECT_EQ(ids.inputs[0].below, 5);
  EXPECT_EQ(ids.outputs[0].type, "FLOAT");
  EXPECT_EQ(ids.outputs[0].dims, (std::vector<std::int64_t>{-1, 6}));
  EXPECT_EQ(ids.outputs[0].below, 0);
  bytes.dims = {2, 3};
  const OnnxImport fixed = read(bytes.bytes());
  EXPECT_EQ(fixed.inputs[0].dims, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(fixed.outputs[0].dims, (std::vector<std::int64_t>{2, 6}));
  bytes.nodes.back() = OnnxBytes::node("Identity", {"x"}, {"y"}, "ids");
  const OnnxImport same = read(bytes.bytes());
  EXPECT_EQ(same.outputs[0].below, 5);
  bytes = of_images();
  bytes.dims = {4, 5, 2};
  bytes.nodes = {OnnxBytes::node("Relu", {"x"}, {"y"}, "relu")};
  const OnnxImport one = read(bytes.bytes(), {.shapes = {}, .batch_axis = false});
  EXPECT_EQ(one.inputs[0].dims, (std::vector<std::int64_t>{4, 5, 2}));
}

TEST(OnnxPorts, are_written_as_they_were_read) {
  OnnxBytes numbers;
  numbers.type = 7;
  numbers.nodes = {OnnxBytes::node("Cast", {"x"}, {"f"}, "cast", {OnnxBytes::integer("to", 1)}),
                   OnnxBytes::node("Relu", {"f"}, {"y"}, "relu")};
  OnnxBytes single;
  single.dims = {0};
  single.type = 11;
  single.nodes = {OnnxBytes::node("Relu", {"x"}, {"y"}, "relu")};
  OnnxBytes sequences;
  sequences.dims = {0, 2, 7};
  sequences.initializers = {OnnxBytes::floats("conv.weight", {1, 2, 1}, {1, 10})};
  sequences.nodes = {OnnxBytes::node("Conv", {"x", "conv.weight"}, {"y"}, "conv")};
  for (const OnnxBytes& bytes : {of_ids(), of_images(), numbers, single, sequences}) {
    const OnnxImport first = read(bytes.bytes());
    const Model model = saved_and_loaded(first.model);
    const OnnxImport again = exported(model.copy());
    const OnnxPort& to = again.inputs[0];
    const OnnxPort& from = first.inputs[0];
    EXPECT_EQ(to.name, from.name);
    EXPECT_EQ(to.type, from.type);
    EXPECT_EQ(to.dims, from.dims);
    EXPECT_EQ(to.below, from.below);
    std::vector<std::int64_t> dims = from.dims;
    dims[0] = 2;
    const Shape shape(dims);
    std::vector<float> x(static_cast<std::size_t>(shape.elements()));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 5);
    const Tensor array(std::move(x), shape);
    const DType dtype = from.below > 0 ? DType::i32 : DType::f32;
    const auto predicted = [&](Model model, const OnnxImport& import) {
      const Tensor samples = testing::to_network(array, import.inputs[0], true, dtype);
      return testing::from_network(model.predict(samples), import.outputs[0]);
    };
    expect_near(predicted(again.model, again), predicted(model, first), 1e-6F);
  }
}

TEST(OnnxPorts, of_outputs_are_written_as_they_were_read) {
  OnnxBytes bytes = of_images();
  bytes.initializers.push_back(testing::integers("axes", {1, 2, 3}, {3}));
  bytes.nodes.back() = OnnxBytes::node("Transpose", {"c"}, {"last"}, "back",
                                       {OnnxBytes::integers("perm", {0, 2, 3, 1})});
  bytes.nodes.push_back(OnnxBytes::node("ReduceSum", {"c", "axes"}, {"sum"}, "sum",
                                        {OnnxBytes::integer("keepdims", 0)}));
  bytes.nodes.push_back(
      OnnxBytes::node("Cast", {"sum"}, {"whole"}, "whole", {OnnxBytes::integer("to", 7)}));
  bytes.outputs = {OnnxBytes::value("whole", {0}, 7), OnnxBytes::value("last", {0, 4, 5, 1}),
                   OnnxBytes::value("c", {0, 1, 4, 5})};
  OnnxImport first = read(bytes.bytes());
  OnnxImport again = exported(saved_and_loaded(first.model));
  std::vector<float> x(80);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7);
  const Tensor array(std::move(x), {2, 4, 5, 2});
  const auto predicted = [&](OnnxImport& import) {
    const Tensor samples = testing::to_network(array, import.inputs[0], true, DType::f32);
    return import.model.predict_all(Dataset({{"x", samples}}, {}), 2);
  };
  const std::vector<Column> wanted = predicted(first);
  const std::vector<Column> got = predicted(again);
  ASSERT_EQ(got.size(), 3U);
  EXPECT_EQ(again.outputs[0].dims, (std::vector<std::int64_t>{-1}));
  EXPECT_EQ(again.outputs[1].dims, (std::vector<std::int64_t>{-1, 4, 5, 1}));
  for (std::size_t i = 0; i < got.size(); ++i) {
    expect_same(again.outputs[i], first.outputs[i]);
    expect_near(testing::from_network(got[i].data, again.outputs[i]),
                testing::from_network(wanted[i].data, first.outputs[i]), 0);
  }
}

TEST(OnnxPorts, are_kept_by_models_made_of_the_first) {
  OnnxBytes bytes = of_ids();
  bytes.initializers.push_back(OnnxBytes::floats("fc.weight", {1, 6}, {1, 2, 3, 4, 5, 6}));
  bytes.nodes.back() = OnnxBytes::node("Flatten", {"e"}, {"f"}, "flat");
  bytes.nodes.push_back(OnnxBytes::node("Gemm", {"f", "fc.weight"}, {"y"}, "gemm",
                                        {OnnxBytes::integer("transB", 1)}));
  const OnnxImport first = read(bytes.bytes());
  expect_same(exported(first.model.with_head("fc", Dense{.units = 2})).inputs[0], first.inputs[0]);
  const Tensor ids(std::vector<std::int32_t>{0, 1, 2}, {1, 3});
  const Model rounded = quantize(first.model, Dataset({{"x", ids}}, {}));
  expect_same(exported(rounded).inputs[0], first.inputs[0]);
}

TEST(OnnxPorts, that_are_damaged_are_refused) {
  const Model model = read(of_ids().bytes()).model;
  const TemporaryFolder folder;
  model.save(folder / "m.safetensors");
  const std::string file = read_file(folder / "m.safetensors");
  const std::string axes = R"(\"axes\":[0,1])";
  ASSERT_NE(file.find(axes), std::string::npos);
  for (const char* other :
       {R"(\"axes\":[0,2])", R"(\"axes\":[   ])", R"(\"axes\":{   })", R"(\"axes\":nulls)"}) {
    std::string damaged = file;
    damaged.replace(damaged.find(axes), axes.size(), other);
    testing::write_quickly(folder / "d.safetensors", damaged);
    const std::string message = message_of(
        [&] { export_onnx(Model::load(folder / "d.safetensors", kOnCpu), folder / "d.onnx"); });
    EXPECT_NE(message.find("what the model keeps of the inputs and outputs of its ONNX file is"),
              std::string::npos)
        << message;
  }
}

TEST(OnnxMetadata, brings_classes_transforms_and_records_back) {
  for (const char* name : {"classes.safetensors", "value.safetensors", "series.safetensors"}) {
    const Model model = Model::load(kFixtures / name, kOnCpu);
    const OnnxImport import = exported(model);
    EXPECT_TRUE(import.left_out.empty()) << name << ": " << import.left_out[0];
    EXPECT_EQ(import.model.class_names(), model.class_names());
    EXPECT_EQ(import.model.table().to_json(), model.table().to_json());
    EXPECT_EQ(import.model.series().to_json(), model.series().to_json());
    EXPECT_EQ(import.model.training_record().loss, model.training_record().loss);
    EXPECT_TRUE(import.model.training_record().seen.empty());
    EXPECT_EQ(import.model.answers(), model.answers());
  }
}

TEST(OnnxMetadata, has_the_errors_of_intervals) {
  Model model(Network({4}, {Dense{.units = 1}}), kOnCpu);
  std::vector<float> x;
  std::vector<float> y;
  for (int i = 0; i < 200; ++i) x.push_back(static_cast<float>(i % 7));
  for (int i = 0; i < 50; ++i) y.push_back(static_cast<float>(i));
  calibrate_intervals(model, Dataset({{"input", Tensor(x, {50, 4})}}, {{"y", Tensor(y, {50, 1})}}));
  const OnnxImport import = exported(model);
  EXPECT_EQ(held_out_errors(import.model), held_out_errors(model));
  EXPECT_TRUE(import.metadata.contains("linnet.intervals"));
  EXPECT_EQ(import.producer.substr(0, 7), "linnet ");
}

TEST(OnnxMetadata, that_does_not_fit_is_left_out) {
  OnnxBytes bytes;
  bytes.nodes = {OnnxBytes::node("Relu", {"x"}, {"y"}, "n")};
  std::string file = bytes.bytes();
  protobuf::put_bytes(file, 2, "pyt\x1borch");
  protobuf::put_bytes(file, 3, "2.9");
  const std::vector<std::pair<std::string, std::string>> entries = {
      {"linnet.classes", R"(["a", "b", "c", "d", "e"])"},
      {"linnet.table", "{"},
      {"linnet.intervals", R"({"samples": 3})"},
      {"linnet.onnx", "damaged"},
      {"linnet.outputs", "[1]"},
      {"names", "one\xfftwo"}};
  for (const auto& [key, text] : entries) {
    std::string entry;
    protobuf::put_bytes(entry, 1, key);
    protobuf::put_bytes(entry, 2, text);
    protobuf::put_bytes(file, 14, entry);
  }
  const OnnxImport import = read(file);
  EXPECT_EQ(import.left_out, (std::vector<std::string>{"linnet.classes", "linnet.intervals",
                                                       "linnet.outputs", "linnet.table"}));
  EXPECT_TRUE(import.model.class_names().empty());
  EXPECT_EQ(import.producer, "pyt\\x1Borch 2.9");
  EXPECT_EQ(import.metadata.at("names"), "one\\xFFtwo");
  expect_same(exported(import.model).inputs[0], import.inputs[0]);
}

}  // namespace
}  // namespace linnet
