// SPDX-License-Identifier: Apache-2.0
#include "plan/branches.h"

#include <gtest/gtest.h>

#include "fake_op.h"
#include "plan/plan.h"

namespace linnet {
namespace {

using testing::add_fake;
using testing::add_fake_one;
using testing::fake_workspace;
using testing::floats;

constexpr std::size_t kWeights = 6;

/// A backward pass: dz of each layer from the one after it, and from dz the gradient of its weight,
/// which needs a workspace; then what reads all gradients, and an update.
class Backward : public ::testing::Test {
 protected:
  Backward() {
    const Value x = graph_.add_value("x", floats(16), Storage::external);
    const Value all = graph_.add_value("all", floats(16 * kWeights), Storage::gradient);
    Value dz = add_fake_one(graph_, {}, {x}, "loss");
    for (std::size_t i = 0; i < kWeights; ++i) {
      weights_.push_back(graph_.nodes().size());
      const Value dw = add_fake_one(graph_, {.workspace = 8}, {dz}, "weight");
      graph_.info(dw).storage = Storage::gradient;
      graph_.info(dw).offset = 64 * i;
      dz = add_fake_one(graph_, {.in_place = 1, .workspace = 4}, {dz}, "input");
    }
    finish_ = graph_.nodes().size();
    add_fake(graph_, {}, {all}, "finish");
    add_fake(graph_, {}, {dz}, "update");
  }

  Graph graph_;
  std::vector<std::size_t> weights_;
  std::size_t finish_ = 0;
};

TEST_F(Backward, GradientsOfWeightsStandAside) {
  const Branches branches = find_branches(graph_);
  for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
    EXPECT_EQ(branches.is_side(n), graph_.nodes()[n].name == "weight") << n;
  }
}

TEST_F(Backward, AFewMayBeUnfinished) {
  const Branches branches = find_branches(graph_);
  for (std::size_t i = 0; i < kWeights; ++i) {
    const std::size_t node_after = weights_[i] + 1;
    if (i < kSideNodes) {
      EXPECT_EQ(branches.awaited[node_after], Branches::kNobody) << i;
    } else {
      EXPECT_EQ(branches.awaited[node_after], weights_[i - kSideNodes]) << i;
      EXPECT_EQ(branches.end_of(weights_[i - kSideNodes]), node_after);
    }
  }
}

TEST_F(Backward, WhoReadsGradientsWaits) {
  const Branches branches = find_branches(graph_);
  EXPECT_EQ(branches.awaited[finish_], weights_.back());
  EXPECT_EQ(branches.end_of(weights_.back()), finish_);
}

TEST_F(Backward, TheLastNodeWaitsForAll) {
  Graph graph;
  const Value x = graph.add_value("x", floats(16), Storage::external);
  const Value a = add_fake_one(graph, {}, {x}, "a");
  graph.info(add_fake_one(graph, {}, {a}, "weight")).storage = Storage::gradient;
  add_fake(graph, {}, {a}, "last");
  EXPECT_EQ(find_branches(graph).awaited[2], 1U);
}

TEST_F(Backward, AStepWithoutGradientsHasOneBranch) {
  Graph graph;
  const Value x = graph.add_value("x", floats(16), Storage::external);
  add_fake(graph, {}, {add_fake_one(graph, {}, {x}, "a")}, "b");
  EXPECT_TRUE(find_branches(graph).side.empty());
  EXPECT_TRUE(make_plan(graph_, fake_workspace).branches.side.empty()) << "nobody asked";
}

TEST_F(Backward, ItsPlanIsProven) {
  const Plan plan = make_plan(graph_, fake_workspace, {.branches = true});
  EXPECT_NO_THROW(verify_plan(plan));
  const Plan one = make_plan(graph_, fake_workspace);
  EXPECT_GT(plan.bytes[0], one.bytes[0]) << "what branches read stays";
}

/// A plan for one branch reuses memory in an order that two branches do not keep.
TEST_F(Backward, APlanForOneBranchIsRefusedForTwo) {
  Plan plan = make_plan(graph_, fake_workspace);
  EXPECT_NO_THROW(verify_plan(plan));
  plan.branches = find_branches(graph_);
  try {
    verify_plan(plan);
    FAIL() << "expected an error";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("run side by side, and both touch bytes"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(Backward, AMissingWaitIsFound) {
  Plan plan = make_plan(graph_, fake_workspace, {.branches = true});
  plan.branches.awaited[finish_] = Branches::kNobody;
  EXPECT_THROW(verify_plan(plan), InternalError);
}

TEST_F(Backward, AWorkspaceInTheOtherBranchIsFound) {
  Plan plan = make_plan(graph_, fake_workspace, {.branches = true});
  plan.workspaces[weights_[1]].offset = plan.workspaces[weights_[1] + 1].offset;
  EXPECT_THROW(verify_plan(plan), InternalError);
}

}  // namespace
}  // namespace linnet
