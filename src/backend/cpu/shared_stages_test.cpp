// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/shared_stages.h"

#include <gtest/gtest.h>

#include "fake_op.h"
#include "runtime/task_times.h"

namespace linnet::cpu {
namespace {

using linnet::testing::add_fake;
using linnet::testing::add_fake_one;
using linnet::testing::fake_backend;
using linnet::testing::floats;

using Places = std::vector<std::vector<std::size_t>>;

Access reads(std::size_t at) { return {Storage::arena, at, at + 4, false}; }
Access writes(std::size_t at) { return {Storage::arena, at, at + 4, true}; }

TEST(SharedStages, AreThoseThatNeedNothingOfEachOther) {
  const std::vector<StageUse> stages{{{0}, {reads(0), writes(4)}},
                                     {{1}, {reads(0), writes(8)}},
                                     {{2}, {reads(4), writes(12)}},
                                     {{3}, {reads(8), writes(16)}}};
  EXPECT_EQ(share_stages(stages), (Places{{0, 1}, {2, 3}}));
}

TEST(SharedStages, WaitForWhatTheyReadAndWhatTheyOverwrite) {
  EXPECT_EQ(share_stages(std::vector<StageUse>{{{0}, {writes(4)}}, {{1}, {reads(6)}}}),
            (Places{{0}, {1}}));
  EXPECT_EQ(share_stages(std::vector<StageUse>{{{0}, {reads(4)}}, {{1}, {writes(6)}}}),
            (Places{{0}, {1}}));
  EXPECT_EQ(share_stages(std::vector<StageUse>{{{0}, {writes(4)}}, {{1}, {writes(6)}}}),
            (Places{{0}, {1}}));
  EXPECT_EQ(share_stages(std::vector<StageUse>{{{0}, {reads(4)}}, {{1}, {reads(6)}}}),
            (Places{{0, 1}}));
}

TEST(SharedStages, OfOneNodeFollowEachOther) {
  EXPECT_EQ(share_stages(std::vector<StageUse>{
                {{0}, {reads(0)}}, {{0}, {reads(0)}}, {{1}, {reads(0)}}, {{1}, {reads(0)}}}),
            (Places{{0, 2}, {1, 3}}));
}

TEST(SharedStages, PassNothingThatTheyConflictWith) {
  // The third needs nothing of the first, but comes after the second, which needs it.
  EXPECT_EQ(share_stages(std::vector<StageUse>{{{0}, {writes(0)}},
                                               {{1}, {reads(0), writes(4)}},
                                               {{2}, {reads(4)}}}),
            (Places{{0}, {1}, {2}}));
}

TEST(SharedStages, LeaveAloneWhatMeetsOthers) {
  EXPECT_EQ(share_stages(std::vector<StageUse>{{{0}, {reads(0)}},
                                               {{1}, {reads(0)}, true},
                                               {{2}, {reads(0)}}}),
            (Places{{0}, {1}, {2}}));
}

TEST(SharedStages, DoNotComeFarEarlier) {
  std::vector<StageUse> stages;
  for (std::size_t n = 0; n < 20; ++n) stages.push_back({{n}, {writes(0)}});
  stages.push_back({{20}, {writes(4)}});
  const Places places = share_stages(stages);
  ASSERT_EQ(places.size(), 20U);
  EXPECT_EQ(places[14], (std::vector<std::size_t>{14, 20}));
}

TEST(SharedStages, ThatPackMayBeginBeforeOtherOperandsStand) {
  Graph graph;
  const Value x = graph.add_value("x", floats(16), Storage::external, 0);
  const Value w = graph.add_value("w", floats(16), Storage::parameter, 64);
  const Value a = add_fake_one(graph, {}, {x}, "a");
  add_fake_one(graph, {.workspace = 4}, {a, w}, "b");
  Plan plan = make_plan(std::move(graph), linnet::testing::fake_workspace);
  Kernel kernel;
  kernel.early_stages = 1;
  kernel.early_operands = {1};
  const auto waits = [&](std::size_t stage) {
    const std::vector<StageUse> uses{use_of(plan, {}, 0, 0), use_of(plan, kernel, 1, stage)};
    return share_stages(uses).size() == 2;
  };
  EXPECT_FALSE(waits(0));
  EXPECT_TRUE(waits(1));
  plan.workspaces[1].offset = plan.values[static_cast<std::size_t>(a.id)].offset;
  EXPECT_TRUE(waits(0)) << "what it writes is read until then";
}

/// x -> two operators of it, `first` and `second` -> their sum. Each has workspace, which only a
/// plan that keeps it apart gives both.
class Pair : public ::testing::Test {
 protected:
  Pair() {
    const Value x = graph_.add_value("x", floats(kSize), Storage::external, 0);
    const Value a = add_fake_one(graph_, {}, {x}, "a");
    const Value first = add_fake_one(graph_, {.workspace = 8}, {a}, "first");
    const Value second = add_fake_one(graph_, {.workspace = 8}, {a}, "second");
    // More memory is alive here than both need.
    const std::vector<Value> wide =
        add_fake(graph_, {.outputs = 4, .workspace = 64}, {first, second}, "wide");
    const Value y = add_fake_one(graph_, {}, wide, "y");
    graph_.info(y).storage = Storage::external;
    graph_.info(y).offset = 1;
  }

  struct Ran {
    std::vector<float> result;
    std::vector<int> handed_out;  ///< stages of each hand-out
    std::size_t arena = 0;
    std::string text;
  };
  Ran run(int threads, bool shared_stages) const {
    CpuBackend backend = fake_backend(threads);
    std::vector<std::vector<float>> memory{std::vector<float>(kSize), std::vector<float>(kSize, 1)};
    for (std::size_t i = 0; i < kSize; ++i) memory[0][i] = static_cast<float>(i);
    const auto program =
        linnet::testing::prepare_fake(backend, graph_, {.shared_stages = shared_stages}, memory);
    for (int step = 0; step < 50; ++step) program->run({}, 1, 0);
    Ran ran{.result = memory[1],
            .handed_out = {},
            .arena = program->plan().bytes[static_cast<std::size_t>(Storage::arena)],
            .text = dump(program->plan())};
    verify_plan(program->plan());
    for (const StageTimes& stage : dynamic_cast<TimesTasks&>(*program.program).stage_times({}, 1)) {
      if (!stage.beside) ran.handed_out.push_back(0);
      ++ran.handed_out.back();
    }
    return ran;
  }

  static constexpr std::size_t kSize = 1 << 12;
  Graph graph_;
};

TEST_F(Pair, SharesStagesAndNoBitChanges) {
  const Ran one_by_one = run(1, false);
  EXPECT_EQ(one_by_one.handed_out, (std::vector<int>{1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(run(2, true).result, one_by_one.result);
  for (const int threads : {4, 5}) {
    const Ran shared = run(threads, true);
    EXPECT_EQ(shared.result, one_by_one.result) << threads;
    EXPECT_EQ(shared.arena, one_by_one.arena);
    EXPECT_EQ(shared.handed_out, (std::vector<int>{1, 2, 2, 1, 1, 1})) << threads;
    EXPECT_NE(shared.text.find("shares stages with 2"), std::string::npos) << shared.text;
  }
}

}  // namespace
}  // namespace linnet::cpu
