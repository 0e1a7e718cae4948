// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fake_op.h"
#include "ops/collect/collect.h"
#include "plan/plan.h"

namespace linnet {
namespace {

using testing::add_fake;
using testing::add_fake_one;
using testing::fake_workspace;
using testing::floats;

/// x -> a -> (b, b2) with workspace -> c, which reads a as well; d takes c over -> view v -> e.
class VerifyPlan : public ::testing::Test {
 protected:
  VerifyPlan() {
    Graph graph;
    const Value x = graph.add_value("x", floats(16), Storage::external);
    a_ = add_fake_one(graph, {}, {x}, "a");
    const std::vector<Value> both = add_fake(graph, {.outputs = 2, .workspace = 16}, {a_}, "b");
    b_ = both[0];
    b2_ = both[1];
    c_ = add_fake_one(graph, {}, {a_, b_, b2_}, "c");
    d_ = add_fake_one(graph, {.in_place = 1, .workspace = 16}, {c_}, "d");
    v_ = add_fake_one(graph, {.view = true}, {d_}, "v");
    add_fake_one(graph, {}, {v_}, "e");
    plan_ = make_plan(graph, fake_workspace);
  }

  Placement& place(Value value) { return plan_.values[static_cast<std::size_t>(value.id)]; }

  Plan plan_;
  Value a_, b_, b2_, c_, d_, v_;
};

TEST_F(VerifyPlan, AcceptsAGoodPlan) {
  EXPECT_EQ(place(d_).root, c_.id);
  EXPECT_NO_THROW(verify_plan(plan_));
}

TEST_F(VerifyPlan, CatchesAValueOverOneThatIsReadLater) {
  place(b_).offset = place(a_).offset;  // a is read by node c too
  EXPECT_THROW(verify_plan(plan_), InternalError);
}

TEST_F(VerifyPlan, CatchesAPartialOverlap) {
  place(b2_).offset = place(a_).offset + place(a_).bytes - 4;
  EXPECT_THROW(verify_plan(plan_), InternalError);
}

TEST_F(VerifyPlan, CatchesTwoOutputsAtOnePlace) {
  place(b2_).offset = place(b_).offset;
  EXPECT_THROW(verify_plan(plan_), InternalError);
}

TEST_F(VerifyPlan, CatchesAnOutputOverAnOperandOfItsOwnNode) {
  place(c_).offset = place(d_).offset = place(b_).offset;
  EXPECT_THROW(verify_plan(plan_), InternalError);
}

TEST_F(VerifyPlan, CatchesAViewThatHasMoved) {
  ASSERT_EQ(place(v_).root, c_.id);
  place(v_).offset = place(a_).offset;
  EXPECT_THROW(verify_plan(plan_), InternalError);
}

TEST_F(VerifyPlan, CatchesAValueThatNobodyWrote) {
  Graph graph = plan_.graph;
  const Value lost = graph.add_value("lost", floats(16), Storage::arena);
  add_fake_one(graph, {}, {lost}, "reader");
  EXPECT_THROW(verify_plan(make_plan(graph, fake_workspace)), InternalError);
}

TEST_F(VerifyPlan, CatchesWorkspaceOverAnInput) {
  plan_.workspaces[1].offset = place(a_).offset;
  EXPECT_THROW(verify_plan(plan_), InternalError);
}

TEST_F(VerifyPlan, CatchesWorkspaceOverAnOutput) {
  plan_.workspaces[1].offset = place(b_).offset;
  EXPECT_THROW(verify_plan(plan_), InternalError);
}

TEST_F(VerifyPlan, CatchesWorkspaceOverAResultInPlace) {
  plan_.workspaces[3].offset = place(d_).offset;
  EXPECT_THROW(verify_plan(plan_), InternalError);
}

/// What runs together keeps its memory from the first of its nodes to the last.
TEST_F(VerifyPlan, CatchesMemoryThatNodesRunningTogetherShare) {
  const Together all{0, plan_.graph.nodes().size() - 1};
  const Plan apart = make_plan(plan_.graph, fake_workspace, {.together = {all}});
  EXPECT_NO_THROW(verify_plan(apart));
  const auto arena = static_cast<std::size_t>(Storage::arena);
  ASSERT_GT(apart.bytes[arena], plan_.bytes[arena]);
  plan_.together = {all};
  EXPECT_THROW(verify_plan(plan_), InternalError);
}

TEST_F(VerifyPlan, CatchesWhatLiesBeyondTheEnd) {
  Plan beyond = plan_;
  beyond.values[static_cast<std::size_t>(b_.id)].offset = 1 << 20;
  EXPECT_THROW(verify_plan(beyond), InternalError);
  plan_.workspaces[1].offset = 1 << 20;
  EXPECT_THROW(verify_plan(plan_), InternalError);
}

TEST(VerifyCollected, CatchesAnOperandThatLiesElsewhereInTheResult) {
  Graph graph;
  const Value x = graph.add_value("x", floats(16), Storage::external);
  const Value a = add_fake_one(graph, {}, {x}, "a");
  const Value all = graph.emit(CollectOp({.length = 64, .begins = {16}}), {a}, "all");
  add_fake_one(graph, {}, {all}, "end");
  Plan plan = make_plan(graph, [](const Node&) { return std::size_t{0}; });
  EXPECT_NO_THROW(verify_plan(plan));
  plan.values[static_cast<std::size_t>(a.id)].offset += 64;
  EXPECT_THROW(verify_plan(plan), InternalError);
}

}  // namespace
}  // namespace linnet
