// SPDX-License-Identifier: Apache-2.0
// Recurrent layers of ONNX files with initial states: a sequence in two parts is the sequence.
#include <gtest/gtest.h>
#include <linnet/dataset.h>
#include <linnet/onnx.h>
#include <linnet/tensor.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "onnx/byte_models.h"
#include "onnx/onnx_bytes.h"

namespace linnet {
namespace {

using B = testing::OnnxBytes;

constexpr std::int64_t kUnits = 3;

std::string drawn(const std::string& name, const std::vector<std::int64_t>& dims) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(0.4F * std::sin(1.7F * static_cast<float>(i) + static_cast<float>(name[0])));
  }
  return B::floats(name, dims, values);
}

/// A layer over the six steps of x (N, 6, 2), and the same over three and three, of which the later
/// ones begin with the earlier ones' states; y is both results, (N, 12, units).
B in_parts(const std::string& op, std::int64_t gates, bool reverse,
           std::vector<std::string> attributes = {}) {
  attributes.push_back(B::integer("hidden_size", kUnits));
  attributes.push_back(B::text("direction", reverse ? "reverse" : "forward"));
  B model;
  model.dims = {0, 6, 2};
  model.initializers = {
      drawn("w", {1, gates * kUnits, 2}),   drawn("r", {1, gates * kUnits, kUnits}),
      drawn("b", {1, 2 * gates * kUnits}),  testing::integers("axis", {0}, {1}),
      testing::integers("begin", {0}, {1}), testing::integers("half", {3}, {1}),
      testing::integers("end", {6}, {1}),   B::floats("small", {}, {0.1F})};
  const bool cell = op == "LSTM";
  const std::string earlier = reverse ? "second" : "first";
  const std::string later = reverse ? "first" : "second";
  std::vector<std::string> states{earlier + "_y", "h"};
  std::vector<std::string> given{later, "w", "r", "b", "", "h"};
  if (cell) {
    states.emplace_back("c");
    given.emplace_back("c");
  }
  model.nodes = {B::node("Mul", {"x", "small"}, {"scaled"}, "m"),
                 B::node("Transpose", {"scaled"}, {"steps"}, "t", {B::integers("perm", {1, 0, 2})}),
                 B::node("Slice", {"steps", "begin", "half", "axis"}, {"first"}, "s1"),
                 B::node("Slice", {"steps", "half", "end", "axis"}, {"second"}, "s2"),
                 B::node(op, {"steps", "w", "r", "b"}, {"whole"}, "all", attributes),
                 B::node(op, {earlier, "w", "r", "b"}, states, "early", attributes),
                 B::node(op, given, {later + "_y"}, "late", attributes),
                 B::node("Concat", {"whole", "first_y", "second_y"}, {"joined"}, "j",
                         {B::integer("axis", 0)}),
                 B::node("Transpose", {"joined"}, {"turned"}, "u",
                         {B::integers("perm", {2, 0, 1, 3})}),
                 B::node("Squeeze", {"turned", "two"}, {"y"}, "q")};
  model.initializers.push_back(testing::integers("two", {2}, {1}));
  return model;
}

void expect_same_halves(const B& model) {
  const Tensor y = testing::computed(model, 2);
  ASSERT_EQ(y.shape(), (Shape{2, 12, kUnits}));
  const std::int64_t half = 6 * kUnits;
  for (std::int64_t n = 0; n < 2; ++n) {
    for (std::int64_t i = 0; i < half; ++i) {
      const auto at = static_cast<std::size_t>(n * 2 * half + i);
      EXPECT_NEAR(y.as<float>()[at], y.as<float>()[at + static_cast<std::size_t>(half)], 1e-6F)
          << n << ' ' << i;
    }
  }
}

TEST(OnnxStates, a_sequence_in_two_parts_is_the_sequence) {
  for (const bool reverse : {false, true}) {
    expect_same_halves(in_parts("LSTM", 4, reverse));
    expect_same_halves(in_parts("GRU", 3, reverse));
    expect_same_halves(in_parts("GRU", 3, reverse, {B::integer("linear_before_reset", 1)}));
    expect_same_halves(in_parts("RNN", 1, reverse));
    expect_same_halves(in_parts("RNN", 1, reverse, {B::texts("activations", {"Relu"})}));
  }
}

/// A step from a constant state: tanh of numbers that can be added up by hand.
TEST(OnnxStates, constant_ones_are_weights) {
  B model;
  model.dims = {0, 1, 1};
  model.initializers = {B::floats("w", {1, 1, 1}, {0.5F}), B::floats("r", {1, 1, 1}, {2}),
                        B::floats("h", {1, 1, 1}, {0.25F}), testing::integers("axes", {1, 2}, {2})};
  model.nodes = {B::node("RNN", {"x", "w", "r", "", "", "h"}, {"", "last"}, "rnn",
                         {B::integer("hidden_size", 1), B::integer("layout", 1)}),
                 B::node("Squeeze", {"last", "axes"}, {"flat"}, "q"),
                 B::node("Unsqueeze", {"flat", "one"}, {"y"}, "u")};
  model.initializers.push_back(testing::integers("one", {1}, {1}));
  testing::expect_near(testing::computed(model, 2),
                       testing::floats({std::tanh(0.5F), std::tanh(1.0F)}, {2, 1}), 1e-6F);
}

/// The last states, (1, N, units), of x (N, 6, 2) from the states h, times `rate`.
B stream() {
  B model;
  model.dims = {0, 6, 2};
  model.more_inputs = {B::value("h", {1, 0, kUnits}), B::value("rate", {}, 7)};
  model.outputs = {B::value("y", {1, 0, kUnits})};
  model.initializers = {drawn("w", {1, 3 * kUnits, 2}), drawn("r", {1, 3 * kUnits, kUnits}),
                        drawn("b", {1, 6 * kUnits})};
  model.nodes = {B::node("Transpose", {"x"}, {"steps"}, "t", {B::integers("perm", {1, 0, 2})}),
                 B::node("GRU", {"steps", "w", "r", "b", "", "h"}, {"", "last"}, "gru",
                         {B::integer("hidden_size", kUnits)}),
                 B::node("Cast", {"rate"}, {"factor"}, "f", {B::integer("to", 1)}),
                 B::node("Mul", {"last", "factor"}, {"y"}, "m")};
  return model;
}

TEST(OnnxStates, are_inputs_with_the_batch_along_their_second_axis) {
  OnnxImport import = testing::import_of(stream(), {.shapes = {}, .constants = {{"rate", 3}}});
  OnnxImport single = testing::import_of(stream(), {.shapes = {}, .constants = {{"rate", 1}}});
  ASSERT_EQ(import.inputs.size(), 2U);
  const OnnxPort& h = import.inputs[1];
  EXPECT_EQ(h.batch, 1);
  EXPECT_EQ(h.axes, (std::vector<int>{0, 2}));
  EXPECT_EQ(h.sample, Shape({1, kUnits}));
  EXPECT_EQ(h.dims, (std::vector<std::int64_t>{1, -1, kUnits}));
  EXPECT_EQ(import.outputs[0].batch, 1);
  const Tensor x = testing::floats(std::vector<float>(24, 0.3F), {2, 6, 2});
  const Tensor states = testing::floats({0, 0, 0, 0.5F, -0.5F, 1}, {2, 1, kUnits});
  const Dataset data({{"x", x}, {"h", states}}, {});
  const Tensor y = import.model.predict(data);
  const Tensor once = single.model.predict(data);
  const auto units = static_cast<std::size_t>(kUnits);
  for (std::size_t i = 0; i < units; ++i) {
    EXPECT_NEAR(y.as<float>()[i], 3 * once.as<float>()[i], 1e-6F);
    EXPECT_GT(std::abs(y.as<float>()[i] - y.as<float>()[units + i]), 1e-3F) << "another state";
  }
  const testing::TemporaryFolder folder;
  export_onnx(import.model, folder / "m.onnx");
  OnnxImport again = import_onnx(folder / "m.onnx", {}, {.device = "cpu", .threads = 1});
  ASSERT_EQ(again.inputs.size(), 2U);
  EXPECT_EQ(again.inputs[1].dims, h.dims);
  EXPECT_EQ(again.inputs[1].batch, 1);
  EXPECT_EQ(again.outputs[0].dims, import.outputs[0].dims);
  testing::expect_near(again.model.predict(data), y, 1e-6F);
}

TEST(OnnxStates, and_constant_inputs_are_refused_where_they_do_not_fit) {
  const auto says = [](const std::map<std::string, double>& constants,
                       const std::map<std::string, Shape>& shapes = {}) {
    return testing::refusal(stream(), {.shapes = shapes, .constants = constants});
  };
  EXPECT_NE(says({}).find("the input 'rate' has no batch axis"), std::string::npos) << says({});
  EXPECT_NE(says({{"rates", 1}}).find("a constant 1 is given for 'rates', which is not an input"),
            std::string::npos);
  EXPECT_NE(says({{"rate", 0.5}}).find("the constant input 'rate' is a whole number; got 0.5"),
            std::string::npos);
  const std::map<std::string, double> both = {{"rate", 1}, {"h", 0}};
  EXPECT_NE(says(both).find("the file leaves dims of the constant input 'h' open: give it a shape"),
            std::string::npos);
  EXPECT_EQ(says(both, {{"h", {1, 1, kUnits}}}), "");
}

TEST(OnnxStates, are_refused_where_they_do_not_fit) {
  const auto says = [](const B& model, const std::string& what) {
    EXPECT_NE(testing::refusal(model).find(what), std::string::npos) << testing::refusal(model);
  };
  B model = in_parts("GRU", 3, false);
  model.initializers.push_back(B::floats("two_rows", {1, 2, kUnits}, std::vector<float>(6, 1)));
  model.initializers.push_back(B::floats("wide", {1, 1, 4}, std::vector<float>(4, 1)));
  const auto layer = [&](const std::string& state) {
    return B::node("GRU", {"second", "w", "r", "b", "", state}, {"second_y"}, "late",
                   {B::integer("hidden_size", kUnits)});
  };
  model.nodes[6] = layer("two_rows");
  says(model, "constant initial states that differ from sample to sample are not supported");
  model.nodes[6] = layer("wide");
  says(model, "expected initial states of 1 directions and 3 units; got (1, 1, 4)");
  model.nodes[6] = layer("steps");
  says(model, "expected initial states of 1 directions and 3 units; got (6, N, 2)");
}

}  // namespace
}  // namespace linnet
