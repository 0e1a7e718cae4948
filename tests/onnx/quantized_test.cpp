// SPDX-License-Identifier: Apache-2.0
// Files in 8 bits, of onnxruntime (make_quantized_fixtures.py) and of bytes.
#include <gtest/gtest.h>
#include <linnet/dataset.h>
#include <linnet/onnx.h>
#include <linnet/tensor.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include "onnx/byte_models.h"
#include "onnx/onnx_bytes.h"
#include "onnx/ports.h"

namespace linnet {
namespace {

using testing::computed;
using testing::expect_near;
using testing::floats;
using testing::OnnxBytes;
using testing::refusal;

TEST(EightBits, refuses_scales_of_levels_that_are_none) {
  OnnxBytes model;
  model.nodes = {OnnxBytes::node("QuantizeLinear", {"x", "s"}, {"q"}, "n"),
                 OnnxBytes::node("DequantizeLinear", {"q", "s"}, {"y"}, "m")};
  model.initializers = {OnnxBytes::floats("s", {}, {0.5F})};
  EXPECT_EQ(refusal(model), "");
  for (const float scale : {0.0F, HUGE_VALF, std::numeric_limits<float>::quiet_NaN()}) {
    model.initializers = {OnnxBytes::floats("s", {}, {scale})};
    EXPECT_NE(refusal(model).find("finite scales other than 0; got"), std::string::npos)
        << refusal(model);
  }
  model.initializers = {OnnxBytes::floats("s", {3}, {1, 1, 1})};
  EXPECT_NE(refusal(model).find("one for each of axis 1 of (N, 4)"), std::string::npos)
      << refusal(model);
}

const std::filesystem::path kQuantized = LINNET_ONNX_FIXTURES;

class InEightBits : public ::testing::TestWithParam<const char*> {};

TEST_P(InEightBits, rounds_values_as_the_file_says) {
  const std::string name = GetParam();
  const OnnxImport import =
      import_onnx(kQuantized / (name + ".onnx"), {}, {.device = "cpu", .threads = 1});
  const Tensor images = read_npy(kQuantized / "quantized_x.npy");
  const Dataset data({{"x", testing::to_network(images, import.inputs[0], true, DType::f32)}}, {});
  Model model = import.model;
  expect_near(model.predict(data), read_npy(kQuantized / (name + "_y.npy")), 1e-5F);
  const std::vector<std::string> names = model.parameter_names();
  const std::set<std::string> all(names.begin(), names.end());
  EXPECT_TRUE(all.contains("stem.weight") && all.contains("fc.bias"))
      << ::testing::PrintToString(names);
}

INSTANTIATE_TEST_SUITE_P(Onnx, InEightBits, ::testing::Values("quantized", "quantized_operators"),
                         [](const auto& info) { return std::string(info.param); });

/// A product of levels with a constant of two columns, whose scales and zero points differ.
OnnxBytes product_of_levels(const std::string& op) {
  using B = OnnxBytes;
  const std::string weight("\x01\xff\x02\x03\xfe\x00\x05\xfc", 8);  // int8, (4, 2)
  B model;
  model.initializers = {B::floats("s", {}, {1}),
                        B::tensor("z", {}, 2, std::string(1, '\x02')),
                        B::tensor("w", {4, 2}, 3, weight),
                        B::floats("ws", {2}, {0.5F, 2}),
                        B::tensor("wz", {2}, 3, std::string("\x01\xff", 2)),
                        B::tensor("yz", {}, 2, std::string(1, '\x64'))};
  model.nodes = {B::node("QuantizeLinear", {"x", "s", "z"}, {"q"}, "a")};
  if (op == "MatMulInteger") {
    model.nodes.push_back(B::node(op, {"q", "w", "z", "wz"}, {"i"}, "b"));
    model.nodes.push_back(B::node("Cast", {"i"}, {"y"}, "c", {B::integer("to", 1)}));
  } else {
    model.nodes.push_back(B::node(op, {"q", "s", "z", "w", "ws", "wz", "s", "yz"}, {"i"}, "b"));
    model.nodes.push_back(B::node("DequantizeLinear", {"i", "s", "yz"}, {"y"}, "c"));
  }
  return model;
}

TEST(EightBits, multiplies_levels) {
  // Samples 0 1 2 3 and 4 5 6 7 by the columns (0, 1, -3, 4) and (0, 4, 1, -3).
  expect_near(computed(product_of_levels("MatMulInteger"), 2), floats({7, -3, 15, 5}, {2, 2}), 0);
  // Halves go to the even number; the second column is multiplied by 2.
  expect_near(computed(product_of_levels("QLinearMatMul"), 2), floats({4, -6, 8, 10}, {2, 2}), 0);
}

TEST(EightBits, refuses_operators_in_8_bits_that_lack_operands) {
  using B = OnnxBytes;
  B model;
  const auto refused = [&](const std::string& op, std::vector<std::string> inputs) {
    model = product_of_levels("MatMulInteger");
    model.nodes.resize(1);
    model.nodes.push_back(B::node(op, inputs, {"y"}, "n"));
    return refusal(model);
  };
  EXPECT_NE(refused("QLinearMatMul", {"q"}).find("expected 7 to 8 inputs and one output; got 1"),
            std::string::npos)
      << refused("QLinearMatMul", {"q"});
  EXPECT_NE(refused("MatMulInteger", {"q", ""}).find("expected 2 to 4 inputs"), std::string::npos);
  EXPECT_NE(refused("MatMulInteger", {}).find("expected 2 to 4 inputs"), std::string::npos);
  EXPECT_NE(refused("MatMulInteger", {"q", "w", "wz"}).find("expected one number, or one for each"),
            std::string::npos)
      << refused("MatMulInteger", {"q", "w", "wz"});
  EXPECT_NE(refused("ConvInteger", {"q", "w"}).find("[Conv 'n']"), std::string::npos)
      << refused("ConvInteger", {"q", "w"});
  model.nodes[1] = B::node("QLinearSoftmax", {"q", "s", "z", "s", "z"}, {"y"}, "n",
                           {B::integer("opset", 13), B::integer("axis", -1)});
  protobuf::put_bytes(model.nodes[1], 7, "com.microsoft");
  EXPECT_EQ(refusal(model).find("QLinearSoftmax"), std::string::npos) << refusal(model);
  model.opset = 12;
  EXPECT_NE(refusal(model).find("[QLinearSoftmax 'n'] expected a model of opset 13 or later; got "
                                "12"),
            std::string::npos)
      << refusal(model);
  model.opset = 17;
  for (const std::size_t count : {0, 1, 2, 4, 6}) {  // of a concatenation's own domain
    model.nodes[1] = B::node("QLinearConcat", std::vector<std::string>(count, "s"), {"y"}, "n");
    protobuf::put_bytes(model.nodes[1], 7, "com.microsoft");
    EXPECT_NE(refusal(model).find("[QLinearConcat 'n'] expected 5"), std::string::npos)
        << refusal(model);
  }
}

}  // namespace
}  // namespace linnet
