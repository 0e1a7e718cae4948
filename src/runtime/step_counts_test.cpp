// SPDX-License-Identifier: Apache-2.0
#include "runtime/step_counts.h"

#include <gtest/gtest.h>

#include "fake_op.h"

namespace linnet {
namespace {

using testing::add_fake;
using testing::add_fake_one;
using testing::fake_workspace;
using testing::floats;

struct Planned {
  Plan plan;
  StepLaunches launches;
};

/// Each node launches one own kernel, but for views.
Planned planned(Graph graph, const PlanOptions& options = {}) {
  Planned planned{make_plan(std::move(graph), fake_workspace, options), {}};
  for (std::size_t n = 0; n < planned.plan.graph.nodes().size(); ++n) {
    planned.launches.nodes.emplace_back(planned.plan.runs(n) ? 1 : 0);
  }
  planned.launches.ending = {{.name = "advance"}};
  return planned;
}

StepCounts count(const Planned& planned) { return count_step(planned.plan, planned.launches); }

TEST(StepCounts, SeparatesOwnKernelsFromLibraries) {
  Graph graph;
  const Value x = graph.add_value("x", floats(100), Storage::external);
  const Value a = add_fake_one(graph, {}, {x}, "a");
  add_fake(graph, {}, {a}, "b");
  Planned step = planned(graph);
  step.launches.nodes[0] = {{.name = "product", .library = "cudnn"}, {.name = "tail"}};
  const StepCounts counts = count(step);
  EXPECT_EQ(counts.operators, 2U);
  EXPECT_EQ(counts.nodes(), 4U);
  EXPECT_EQ(counts.own_kernels, 3U);
  EXPECT_EQ(counts.calls(), 1U);
  EXPECT_EQ(counts.library_calls, (std::map<std::string, std::size_t>{{"cudnn", 1}}));
  EXPECT_EQ(counts.planned_bytes, step.plan.total_bytes());
}

TEST(StepCounts, TheDataPathLeavesOutWhatNobodyWaitsFor) {
  Graph graph;
  const Value x = graph.add_value("x", floats(100), Storage::external);
  const Value a = add_fake_one(graph, {}, {x}, "a");
  add_fake(graph, {}, {a}, "beside");
  const Value view = add_fake_one(graph, {.view = true}, {a}, "view");
  const Value b = add_fake_one(graph, {}, {view}, "b");
  add_fake(graph, {}, {b}, "c");
  const StepCounts counts = count(planned(graph));
  EXPECT_EQ(counts.captured, 5U);
  EXPECT_EQ(counts.data, 4U) << "a, b, c and the end";
}

TEST(StepCounts, MemoryThatOutlivesAStepOrdersItsReadersAndWriters) {
  const auto path = [](std::size_t second_offset) {
    Graph graph;
    const Value x = graph.add_value("x", floats(16), Storage::external);
    const Value all = graph.add_value("all", floats(32), Storage::gradient, 0);
    const Value a = add_fake_one(graph, {}, {x}, "a");
    const Value b = add_fake_one(graph, {}, {x}, "b");
    graph.info(a).storage = graph.info(b).storage = Storage::gradient;
    graph.info(b).offset = second_offset;
    add_fake(graph, {}, {all}, "reads both");
    return count(planned(graph)).data;
  };
  EXPECT_EQ(path(64), 3U) << "a and b side by side, then the reader, then the end";
  EXPECT_EQ(path(0), 4U) << "b overwrites a";
}

TEST(StepCounts, BranchesHideNodes) {
  Graph graph;
  const Value x = graph.add_value("x", floats(100), Storage::external);
  const Value all = graph.add_value("all", floats(100), Storage::gradient);
  const Value a = add_fake_one(graph, {}, {x}, "a");
  const Value weight = add_fake_one(graph, {}, {a}, "gradient");
  graph.info(weight).storage = Storage::gradient;
  const Value b = add_fake_one(graph, {}, {a}, "b");
  add_fake(graph, {}, {b}, "c");
  add_fake(graph, {}, {all}, "finish");
  const auto counted = [&](bool branches) {
    Planned step = planned(graph, {.branches = branches});
    step.launches.ending.clear();
    return count(step);
  };
  EXPECT_EQ(counted(false).captured, 5U);
  const StepCounts beside = counted(true);
  EXPECT_EQ(beside.nodes(), 5U);
  EXPECT_EQ(beside.captured, 4U) << "a, b, c, finish";
}

}  // namespace
}  // namespace linnet
