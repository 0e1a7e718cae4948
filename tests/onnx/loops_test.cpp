// SPDX-License-Identifier: Apache-2.0
// Loops of a constant number of iterations, and known conditions.
#include <gtest/gtest.h>
#include <linnet/onnx.h>
#include <linnet/tensor.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "onnx/byte_models.h"
#include "onnx/decompose.h"
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
  for (const std::int64_t iterations :
       {-1L, 0L, 4097L, 1L << 62, std::numeric_limits<std::int64_t>::max()}) {
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
  EXPECT_NE(short_one.said().find("the condition 'goes_on' of a Loop is not constant and true"),
            std::string::npos)
      << short_one.said();
  LoopBytes unknown;
  unknown.outputs[0] = "nothing";
  EXPECT_NE(unknown.said().find("the condition 'nothing' of a Loop is not constant"),
            std::string::npos)
      << unknown.said();
}

TEST(OnnxLoop, asks_for_conditions_of_one_element) {
  LoopBytes loop;
  loop.outputs[0] = "many";
  B model = loop.model();
  for (const std::vector<float>& many : {std::vector<float>{}, std::vector<float>{1, 1}}) {
    model.initializers.push_back(B::floats("many", {std::ssize(many)}, many));
    EXPECT_NE(testing::refusal(model).find("the condition 'many' of a Loop is not constant"),
              std::string::npos)
        << testing::refusal(model);
    model.initializers.pop_back();
  }
  model.initializers.push_back(B::floats("many", {1}, {1}));
  EXPECT_EQ(testing::refusal(model), "");
}

TEST(OnnxLoop, share_the_number_of_nodes) {
  LoopBytes loop;
  loop.iterations = 2000;
  loop.nodes[1] = B::node("Equal", {"one", "one"}, {"goes_on"}, "");
  loop.nodes[2] = B::node("Identity", {"state"}, {"step"}, "");
  B model = loop.model();
  EXPECT_EQ(testing::refusal(model).find("are too many"), std::string::npos);
  std::string second = model.nodes[3];
  const auto name = second.find("last");
  second.replace(name, 4, "tsal");
  second.replace(second.find("rows"), 4, "swor");
  model.nodes.insert(model.nodes.begin() + 3, second);
  EXPECT_NE(testing::refusal(model).find("2000 iterations of 5 nodes are too many: expected at "
                                         "most 32768 nodes in all"),
            std::string::npos)
      << testing::refusal(model);
}

TEST(OnnxLoop, gives_rows_before_opset_13) {
  B model = LoopBytes().model();
  model.opset = 12;
  model.nodes[1] = B::node("ReduceSum", {"x"}, {"all"}, "a",
                           {B::integers("axes", {1}), B::integer("keepdims", 0)});
  testing::expect_near(testing::computed(model, 1),
                       testing::floats({0, .5, 1, 2, 3, 4.5, 6, 9}, {1, 8}), 0);
}

TEST(OnnxLoop, refuses_a_loop_in_a_loop) {
  LoopBytes loop;
  loop.nodes[4] = B::node("Loop", {"three", "goes_on", "next"}, {"row"}, "inner");
  EXPECT_NE(loop.said().find("[Loop 'inner'] this operator is not supported"), std::string::npos)
      << loop.said();
}

// Each byte of a good file damaged, and the file cut at each: an Error, or a network.
TEST(OnnxLoop, survives_damage) {
  const testing::TemporaryFolder folder;
  const std::string good = LoopBytes().model().bytes();
  int accepted = 0;
  const auto take = [&](const std::string& bytes) {
    testing::write_quickly(folder / "m.onnx", bytes);
    if (testing::message_of([&] {
          import_onnx(folder / "m.onnx", {}, {.device = "cpu", .threads = 1});
        }).empty()) {
      ++accepted;
    }
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
    take(bytes);
    take(good.substr(0, i));
  }
  EXPECT_GT(accepted, 0);
}

TEST(OnnxLoop, names_rows_by_short_names) {
  LoopBytes loop;
  const std::string name(1000, 'a');
  loop.outputs[2] = name;  // of the graph around it
  B around = loop.model();
  around.initializers.push_back(B::floats(name, {1, 2}, {0, 0}));
  onnx::ModelProto model = onnx::parse_model(std::make_shared<const std::string>(around.bytes()));
  onnx::decompose(model);
  EXPECT_EQ(std::ranges::count_if(model.made, [](const auto& made) { return made.size() > 100; }),
            0);
}

std::string branch(std::string_view name, const std::vector<std::string>& nodes,
                   const std::string& output, const std::string& initializer = "") {
  std::string graph;
  for (const std::string& node : nodes) protobuf::put_bytes(graph, 1, node);
  if (!initializer.empty()) protobuf::put_bytes(graph, 5, initializer);
  protobuf::put_bytes(graph, 12, B::value(output, {}));
  std::string attribute;
  protobuf::put_bytes(attribute, 1, name);
  protobuf::put_bytes(attribute, 6, graph);
  protobuf::put_integer(attribute, 20, 5);
  return attribute;
}

/// Doubles x (N, 3, 2) where its axis 1 has `steps`, and adds 5 where it has not; squeezes with
/// another If within the first branch.
B chosen(std::int64_t steps) {
  B model;
  model.dims = {0, 3, 2};
  model.initializers = {testing::integers("place", {1}, {}), testing::integers("n", {steps}, {}),
                        testing::integers("never", {0}, {}), B::floats("two", {}, {2})};
  const std::string inner =
      B::node("If", {"never_is"}, {"inside"}, "inner",
              {branch("then_branch", {B::node("Neg", {"x"}, {"value"}, "neg")}, "value"),
               branch("else_branch", {B::node("Mul", {"x", "two"}, {"value"}, "double")},
                      "value")});
  model.nodes = {B::node("Shape", {"x"}, {"shape"}, "s"),
                 B::node("Gather", {"shape", "place"}, {"dim"}, "g"),
                 B::node("Equal", {"dim", "n"}, {"is"}, "e"),
                 B::node("Equal", {"dim", "never"}, {"never_is"}, "v"),
                 B::node("If", {"is"}, {"result"}, "outer",
                         {branch("then_branch", {inner}, "inside"),
                          branch("else_branch", {B::node("Add", {"x", "five"}, {"more"}, "add")},
                                 "more", B::floats("five", {}, {5}))}),
                 B::node("Identity", {"result"}, {"y"}, "i")};
  return model;
}

TEST(OnnxIf, takes_the_branch_of_a_known_condition) {
  testing::expect_near(testing::computed(chosen(3), 1),
                       testing::floats({0, 2, 4, 6, 8, 10}, {1, 3, 2}), 0);
  testing::expect_near(testing::computed(chosen(4), 1),
                       testing::floats({5, 6, 7, 8, 9, 10}, {1, 3, 2}), 0);
}

TEST(OnnxIf, keeps_what_its_branches_read) {
  B model = chosen(3);
  model.nodes[4] = B::node("If", {"is"}, {"result"}, "outer",
                           {branch("then_branch", {B::node("Neg", {"above"}, {"out"}, "n")}, "out"),
                            branch("else_branch", {}, "twice")});
  for (const char* name : {"above", "twice", "unread"}) {
    model.nodes.insert(model.nodes.begin(), B::node("Add", {"x", "x"}, {name}, name));
  }
  OnnxImport import = testing::import_of(model, {.until = {"result"}});
  testing::expect_near(import.model.predict(testing::floats({0, 1, 2, 3, 4, 5}, {1, 3, 2})),
                       testing::floats({0, -2, -4, -6, -8, -10}, {1, 3, 2}), 0);
  model.initializers[1] = testing::integers("n", {4}, {});
  import = testing::import_of(model, {.until = { "result" }});
  testing::expect_near(import.model.predict(testing::floats({0, 1, 2, 3, 4, 5}, {1, 3, 2})),
                       testing::floats({0, 2, 4, 6, 8, 10}, {1, 3, 2}), 0);
}

TEST(OnnxIf, is_refused_where_it_depends_on_the_inputs) {
  B model = chosen(3);
  model.nodes[2] = B::node("ReduceMax", {"x"}, {"is"}, "e", {B::integer("keepdims", 0)});
  EXPECT_NE(testing::refusal(model), "");
  model = chosen(3);
  model.nodes[4] = B::node("If", {"x"}, {"result"}, "outer");
  EXPECT_NE(testing::refusal(model).find(
                "[If 'outer'] expected a condition that does not depend on the inputs"),
            std::string::npos)
      << testing::refusal(model);
  model.nodes[4] = B::node("If", {"is"}, {"result"}, "outer");
  EXPECT_NE(testing::refusal(model).find("[If 'outer'] has no then_branch"), std::string::npos)
      << testing::refusal(model);
}

TEST(OnnxIf, is_refused_where_it_is_too_deep) {
  B model = chosen(3);
  std::string inner = B::node("Identity", {"x"}, {"deep"}, "id");
  for (int i = 0; i < 40; ++i) {
    inner = B::node("If", {"is"}, {"deep"}, "if", {branch("then_branch", {inner}, "deep")});
  }
  model.nodes[4] = inner;
  EXPECT_NE(testing::refusal(model).find("more than 16 deep in each other"), std::string::npos)
      << testing::refusal(model);
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
