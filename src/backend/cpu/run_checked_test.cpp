// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fake_op.h"

namespace linnet {
namespace {

using testing::add_fake_one;
using testing::fake_backend;
using testing::FakeAttrs;
using testing::floats;

/// Returns what run_checked() throws for x (16) -> "first" -> "second", whose output is external.
std::string fault_found(const FakeAttrs& second) {
  Graph graph;
  const Value x = graph.add_value("x", floats(16), Storage::external, 0);
  const Value h = add_fake_one(graph, {}, {x}, "first");
  const Value y = add_fake_one(graph, second, {h}, "second");
  graph.info(y).storage = Storage::external;
  graph.info(y).offset = 1;
  cpu::CpuBackend backend = fake_backend(1);
  std::vector<std::vector<float>> memory{std::vector<float>(16, 1), std::vector<float>(16, 1)};
  const auto program = testing::prepare_fake(backend, graph, {}, memory);
  try {
    program->run_checked({});
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

TEST(RunChecked, AcceptsAKernelThatWritesAll) {
  EXPECT_EQ(fault_found({}), "");
  EXPECT_EQ(fault_found({.workspace = 4}), "");
}

TEST(RunChecked, NamesTheElementThatWasLeftUnwritten) {
  EXPECT_EQ(fault_found({.fault = "last element"}),
            "[fake 'second'] has left element 15 of output 0 f32 (16) unwritten or NaN");
}

TEST(RunChecked, FindsAKernelThatReadsWorkspaceItDidNotWrite) {
  EXPECT_EQ(fault_found({.workspace = 4, .fault = "workspace"}),
            "[fake 'second'] has left element 0 of output 0 f32 (16) unwritten or NaN");
}

TEST(RunChecked, FindsAKernelThatReadsScratchItDidNotWrite) {
  EXPECT_EQ(fault_found({.fault = "scratch"}),
            "[fake 'second'] has left element 0 of output 0 f32 (16) unwritten or NaN");
}

// A value in the arena: its memory is full of what another value left there.
TEST(RunChecked, FindsItInTheMiddleOfAGraph) {
  Graph graph;
  const Value x = graph.add_value("x", floats(16), Storage::external, 0);
  const Value a = add_fake_one(graph, {}, {x}, "a");
  const Value b = add_fake_one(graph, {.fault = "last element"}, {a}, "b");
  add_fake_one(graph, {}, {b}, "c");
  cpu::CpuBackend backend = fake_backend(1);
  std::vector<std::vector<float>> memory{std::vector<float>(16, 1)};
  const auto program = testing::prepare_fake(backend, graph, {}, memory);
  EXPECT_NO_THROW(program->run({}, 1, 0));
  EXPECT_THROW(program->run_checked({}), InternalError);
}

TEST(Run, AsksForEveryInputToBeBound) {
  Graph graph;
  const Value x = graph.add_value("pixels", floats(16), Storage::external, 0);
  add_fake_one(graph, {}, {x}, "a");
  cpu::CpuBackend backend = fake_backend(1);
  std::vector<std::vector<float>> memory;
  const auto program = testing::prepare_fake(backend, graph, {}, memory);
  try {
    program->run({}, 1, 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "[fake 'a'] input 'pixels' is bound to no memory");
  }
}

}  // namespace
}  // namespace linnet
