// SPDX-License-Identifier: Apache-2.0
// Loops of a constant number of iterations.
#include <gtest/gtest.h>
#include <linnet/onnx.h>
#include <linnet/tensor.h>

#include <string>
#include <vector>

#include "onnx/byte_models.h"
#include "onnx/onnx_bytes.h"

namespace linnet {
namespace {

using B = testing::OnnxBytes;

/// What tests change of a loop over the steps of x, (N, 3, 2), which adds each to a state.
struct LoopBytes {
  std::vector<std::string> inputs{"i", "on", "state"};
  std::vector<std::string> outputs{"goes_on", "next", "row"};
  std::vector<std::string> nodes{B::node("Add", {"i", "one"}, {"count"}, ""),
                                 B::node("Less", {"count", "three"}, {"goes_on"}, ""),
                                 B::node("Gather", {"steps", "i"}, {"step"},
                                         ""),  // of the graph around it
                                 B::node("Add", {"state", "step"}, {"next"}, ""),
                                 B::node("Mul", {"next", "half"}, {"row"}, "")};
  std::int64_t iterations = 3;
  std::vector<std::string> given{"n", "true", "start"};
  std::vector<std::string> results{"last", "rows"};

  B model() const {
    std::string graph;
    for (const std::string& node : nodes) protobuf::put_bytes(graph, 1, node);
    protobuf::put_bytes(graph, 5, B::floats("half", {}, {0.5F}));
    protobuf::put_bytes(graph, 5, testing::integers("one", {1}, {}));
    protobuf::put_bytes(graph, 5, testing::integers("three", {3}, {}));
    for (const std::string& name : inputs) protobuf::put_bytes(graph, 11, B::value(name, {}));
    for (const std::string& name : outputs) protobuf::put_bytes(graph, 12, B::value(name, {}));
    std::string body;
    protobuf::put_bytes(body, 1, "body");
    protobuf::put_bytes(body, 6, graph);
    protobuf::put_integer(body, 20, 5);
    B model;
    model.dims = {0, 3, 2};
    model.initializers = {testing::integers("n", {iterations}, {}),
                          B::tensor("true", {}, 9, std::string(1, '\1')),
                          B::floats("zero", {1, 2}, {0, 0}), B::floats("half", {}, {7})};
    model.nodes = {B::node("Transpose", {"x"}, {"steps"}, "t", {B::integers("perm", {1, 0, 2})}),
                   B::node("ReduceSum", {"x", "axis"}, {"all"}, "a", {B::integer("keepdims", 0)}),
                   B::node("Mul", {"all", "zero"}, {"start"}, "z"),
                   B::node("Loop", given, results, "l", {body}),
                   B::node("Transpose", {"rows"}, {"turned"}, "u",
                           {B::integers("perm", {1, 0, 2})}),
                   B::node("Flatten", {"turned"}, {"flat"}, "f"),
                   B::node("Concat", {"flat", "last"}, {"y"}, "c", {B::integer("axis", 1)})};
    model.initializers.push_back(testing::integers("axis", {1}, {1}));
    return model;
  }
  std::string said() const { return testing::refusal(model()); }
};

TEST(OnnxLoop, gives_each_iteration_and_the_last_state) {
  const LoopBytes loop;
  EXPECT_EQ(loop.said(), "");
  // Sample 1 has the steps (6, 7), (8, 9) and (10, 11).
  testing::expect_near(testing::computed(loop.model(), 2),
                       testing::floats({0, .5, 1, 2, 3, 4.5, 6, 9,  //
                                        3, 3.5, 7, 8, 12, 13.5, 24, 27},
                                       {2, 8}),
                       0);
}

TEST(OnnxLoop, is_refused_where_it_is_none_that_is_known) {
  const auto says = [](const LoopBytes& loop, const std::string& what) {
    EXPECT_NE(loop.said().find("[Loop 'l'] " + what), std::string::npos) << loop.said();
  };
  for (const std::int64_t iterations : {-1L, 0L, 4097L, 1L << 62}) {
    LoopBytes loop;
    loop.iterations = iterations;
    says(loop, "expected an initializer with the number of iterations, 1 to 4096; got");
  }
  LoopBytes loop;
  loop.given[0] = "start";
  says(loop, "expected an initializer with the number of iterations, 1 to 4096");
  loop.given = {};
  says(loop, "expected an initializer");
  loop.given = {"n"};
  says(loop, "its body has 3 inputs and 3 outputs, which do not fit its 1 and 2");
  loop.given = {"n", "true", "start", "start"};
  says(loop, "its body has 3 inputs and 3 outputs, which do not fit its 4 and 2");
  loop = {};
  loop.outputs = {};
  says(loop, "its body has 3 inputs and 0 outputs");
  loop = {};
  loop.results.emplace_back("more");
  says(loop, "its body has 3 inputs and 3 outputs");
  loop = {};
  loop.iterations = 4000;
  says(loop, "4000 iterations of 5 nodes are too many");
  loop.nodes.resize(1);
  loop.nodes[0] = B::node("Identity", {"i"}, {std::string(10000, 'a')}, "");
  says(loop, "4000 iterations of 1 nodes are too many");
  LoopBytes short_one;  // the first iteration says that there is no second
  short_one.nodes[1] = B::node("Greater", {"count", "three"}, {"goes_on"}, "");
  EXPECT_NE(short_one.said().find("a loop depends on 'goes_on': expected a constant number"),
            std::string::npos)
      << short_one.said();
  LoopBytes unknown;
  unknown.outputs[0] = "nothing";
  EXPECT_NE(unknown.said().find("a loop depends on 'nothing'"), std::string::npos)
      << unknown.said();
}

TEST(OnnxReverseSequence, turns_all_steps) {
  B model;
  model.dims = {0, 3, 2};
  model.initializers = {testing::integers("n", {3}, {1})};
  model.nodes = {B::node("ReverseSequence", {"x", "n"}, {"y"}, "r",
                         {B::integer("batch_axis", 0), B::integer("time_axis", 1)})};
  testing::expect_near(testing::computed(model, 1), testing::floats({4, 5, 2, 3, 0, 1}, {1, 3, 2}),
                       0);
  model.initializers = {testing::integers("n", {2}, {1})};
  EXPECT_NE(testing::refusal(model).find("expected lengths of 3, which all samples have"),
            std::string::npos)
      << testing::refusal(model);
}

}  // namespace
}  // namespace linnet
