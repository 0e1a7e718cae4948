// SPDX-License-Identifier: Apache-2.0
#include "base/thread_team.h"

#include <gtest/gtest.h>
#include <linnet/error.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

namespace linnet {
namespace {

using namespace std::chrono_literals;

/// Stages of given numbers of tasks. Counts every task's runs, and every breach of the contract: a
/// task before the stage before it was done, or two tasks at once on one thread.
class CountedWork : public StagedWork {
 public:
  explicit CountedWork(std::vector<std::uint32_t> tasks, int threads = 64)
      : tasks_(std::move(tasks)), busy_(static_cast<std::size_t>(threads)), done_(tasks_.size()) {
    for (std::uint32_t count : tasks_) runs_.emplace_back(count, 0);
  }

  std::uint64_t stages() const override { return tasks_.size(); }
  std::uint32_t tasks(std::uint64_t stage) const override { return tasks_[stage]; }
  void run(std::uint64_t stage, std::uint32_t task, int thread) override {
    if (busy_.at(static_cast<std::size_t>(thread)).exchange(true)) ++breaches_;
    if (stage > 0 && done_[stage - 1] != tasks_[stage - 1]) ++breaches_;
    ++runs_[stage][task];  // not atomic: the team must keep two threads from it
    if (action) action(stage, task);
    ++done_[stage];
    busy_[static_cast<std::size_t>(thread)] = false;
  }

  int breaches() const { return breaches_; }
  bool all_ran_once() const {
    for (const auto& stage : runs_) {
      for (int runs : stage) {
        if (runs != 1) return false;
      }
    }
    return true;
  }
  /// Tasks that ran, of all stages.
  int total() const {
    int sum = 0;
    for (const auto& stage : runs_) {
      for (int runs : stage) sum += runs;
    }
    return sum;
  }

  std::function<void(std::uint64_t stage, std::uint32_t task)> action;

 private:
  std::vector<std::uint32_t> tasks_;
  std::vector<std::atomic<bool>> busy_;
  std::vector<std::atomic<std::uint32_t>> done_;
  std::vector<std::vector<int>> runs_;
  std::atomic<int> breaches_{0};
};

/// The message of what run() throws, "" if nothing.
std::string thrown_by(ThreadTeam& team, StagedWork& work) {
  try {
    team.run(work);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(ThreadTeam, CountsItsCaller) {
  EXPECT_EQ(ThreadTeam(1).threads(), 1);
  EXPECT_EQ(ThreadTeam(3).threads(), 3);
  EXPECT_GE(available_processors(), 1);
  EXPECT_EQ(ThreadTeam().threads(), available_processors());
  EXPECT_THROW(ThreadTeam(-1), Error);
  EXPECT_THROW(ThreadTeam(1025), Error);
}

TEST(ThreadTeam, RunsManyShortStagesInOrder) {
  for (int threads : {1, 2, 3, 4, 8}) {
    ThreadTeam team(threads);
    std::vector<std::uint32_t> tasks;
    for (std::uint32_t i = 0; i < 5000; ++i) tasks.push_back(i * 7 % 5 + 1);
    CountedWork work(tasks, threads);
    team.run(work);
    EXPECT_TRUE(work.all_ran_once()) << threads << " threads";
    EXPECT_EQ(work.breaches(), 0) << threads << " threads";
  }
}

TEST(ThreadTeam, RunsManyMoreTasksThanThreads) {
  ThreadTeam team(4);
  CountedWork work({10'000, 1, 10'000}, 4);
  team.run(work);
  EXPECT_TRUE(work.all_ran_once());
  EXPECT_EQ(work.breaches(), 0);
}

TEST(ThreadTeam, PassesOverStagesWithoutTasks) {
  for (int threads : {1, 4}) {
    ThreadTeam team(threads);
    for (const std::vector<std::uint32_t>& tasks :
         {std::vector<std::uint32_t>{}, {0}, {0, 0, 0}, {0, 3}, {3, 0}, {0, 2, 0, 0, 5, 0}}) {
      CountedWork work(tasks, threads);
      team.run(work);
      EXPECT_TRUE(work.all_ran_once()) << tasks.size() << " stages, " << threads << " threads";
    }
  }
}

TEST(ThreadTeam, FirstStagesOfOneTaskRunOnTheCaller) {
  ThreadTeam team(4);
  for (const std::vector<std::uint32_t>& tasks :
       {std::vector<std::uint32_t>{1, 1, 0, 1}, {1, 0, 1, 5, 1}}) {
    CountedWork work(tasks, 4);
    const std::thread::id caller = std::this_thread::get_id();
    int others = 0;
    work.action = [&](std::uint64_t stage, std::uint32_t /*task*/) {
      if (stage < 3 && std::this_thread::get_id() != caller) ++others;
    };
    team.run(work);
    EXPECT_EQ(others, 0);
    EXPECT_TRUE(work.all_ran_once());
    EXPECT_EQ(work.breaches(), 0);
  }
  CountedWork failing({1, 1, 3}, 4);
  failing.action = [](std::uint64_t stage, std::uint32_t /*task*/) {
    if (stage == 1) throw std::runtime_error("second");
  };
  EXPECT_EQ(thrown_by(team, failing), "second");
  EXPECT_EQ(failing.total(), 2);
}

// Plain memory: a stage must see all that the one before it wrote, whoever wrote it.
TEST(ThreadTeam, HandsMemoryFromStageToStage) {
  constexpr std::uint32_t kTasks = 8;
  ThreadTeam team(4);
  CountedWork work(std::vector<std::uint32_t>(1000, kTasks), 4);
  std::array<std::vector<std::int64_t>, 2> rows{std::vector<std::int64_t>(kTasks, 1),
                                                std::vector<std::int64_t>(kTasks, 0)};
  work.action = [&](std::uint64_t stage, std::uint32_t task) {
    const auto& from = rows[stage % 2];
    rows[(stage + 1) % 2][task] = (from[task] + 3 * from[(task + 1) % kTasks]) % 1'000'003;
  };
  team.run(work);
  std::vector<std::int64_t> expected(kTasks, 1);
  for (int stage = 0; stage < 1000; ++stage) {
    for (std::int64_t& x : expected) x = 4 * x % 1'000'003;  // all elements are alike
  }
  EXPECT_EQ(rows[0], expected);
}

TEST(ThreadTeam, RunsAgainAndAgain) {
  ThreadTeam team(4);
  for (int i = 0; i < 3000; ++i) {
    CountedWork work({1, 4}, 4);
    team.run(work);
    ASSERT_TRUE(work.all_ran_once()) << "run " << i;
  }
}

TEST(ThreadTeam, RethrowsAndSkipsTheRest) {
  for (int threads : {1, 2, 4}) {
    ThreadTeam team(threads);
    for (std::uint64_t bad : {0U, 1U, 4U}) {
      CountedWork work({3, 3, 3, 3, 3}, threads);
      work.action = [&](std::uint64_t stage, std::uint32_t task) {
        EXPECT_LE(stage, bad);
        if (stage == bad && task == 1) throw std::runtime_error("stage " + std::to_string(stage));
      };
      EXPECT_EQ(thrown_by(team, work), "stage " + std::to_string(bad)) << threads << " threads";
      EXPECT_LE(work.total(), static_cast<int>(3 * bad + 3));
      CountedWork next({5, 5}, threads);
      EXPECT_EQ(thrown_by(team, next), "") << "the exception was kept";
      EXPECT_TRUE(next.all_ran_once());
    }
  }
}

TEST(ThreadTeam, SurvivesExceptionsOfAllTasksAtOnce) {
  ThreadTeam team(4);
  for (int i = 0; i < 200; ++i) {
    CountedWork work({16, 16}, 4);
    work.action = [](std::uint64_t stage, std::uint32_t) {
      if (stage == 0) throw Error("thrown");
      FAIL() << "a stage after the failure ran";
    };
    ASSERT_EQ(thrown_by(team, work), "thrown");
  }
}

TEST(ThreadTeam, LetsCallersTakeTurns) {
  ThreadTeam team(3);
  std::atomic<int> here{0};
  std::atomic<int> running{0};
  std::atomic<int> good{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      ++here;
      while (here < 4) std::this_thread::yield();
      for (int i = 0; i < 100; ++i) {
        CountedWork work({1, 5, 2}, 3);
        std::atomic<bool> alone{true};
        work.action = [&](std::uint64_t stage, std::uint32_t) {
          if (stage == 0 && running++ != 0) alone = false;
          std::this_thread::yield();  // lets another caller in, if anything does
          if (stage == 1 && running != 1) alone = false;
          if (stage == 2) running = 0;
        };
        team.run(work);
        if (alone && work.all_ran_once() && work.breaches() == 0) ++good;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(good, 400);
}

TEST(ThreadTeam, EndsWithoutEverHavingRun) {
  for (int i = 0; i < 100; ++i) {
    const ThreadTeam team(4);
    EXPECT_EQ(team.threads(), 4);
  }
}

/// Two tasks, which the caller does while the team's other thread is held between having seen the
/// open stage and asking for a task of it; it is let go when that stage has been closed.
class StragglerWork final : public StagedWork {
 public:
  std::uint64_t stages() const override {
    if (ran_) closing_ = true;
    return 1;
  }
  std::uint32_t tasks(std::uint64_t /*stage*/) const override {
    if (std::this_thread::get_id() != caller_) {
      straggler_ = true;
      while (!closing_) std::this_thread::yield();
      std::this_thread::sleep_for(1ms);  // the ticket is stored meanwhile
    } else if (asked_++ > 1) {
      // Two questions open the stage; the third comes before the caller takes a task.
      for (int i = 0; i < 100 && !straggler_; ++i) std::this_thread::sleep_for(1ms);
    }
    return 2;
  }
  void run(std::uint64_t /*stage*/, std::uint32_t /*task*/, int /*thread*/) override {
    while (!straggler_) std::this_thread::yield();
    if (++runs_ == 2) ran_ = true;
  }
  bool ran() const { return ran_; }

 private:
  std::thread::id caller_ = std::this_thread::get_id();
  std::atomic<bool> ran_{false};
  int runs_ = 0;           // by the caller, as what follows
  mutable int asked_ = 0;  // by the caller
  mutable std::atomic<bool> straggler_{false};
  mutable std::atomic<bool> closing_{false};
};

/// Leaves the team's worker asleep over a closed ticket that its lateness moved on.
void come_late(ThreadTeam& team) {
  StragglerWork work;
  team.run(work);
  ASSERT_TRUE(work.ran());
  std::this_thread::sleep_for(2ms);  // the worker has gone to sleep
}

TEST(ThreadTeam, EndsAfterAThreadCameLate) {
  for (int i = 0; i < 20; ++i) {
    ThreadTeam team(2);
    come_late(team);
  }
}

// The worker has hardly woken for the next work when that is done and the team ends: it must not
// take the last ticket for the one that it fell asleep over.
TEST(ThreadTeam, EndsWhileAThreadWakes) {
  for (int i = 0; i < 20; ++i) {
    ThreadTeam team(2);
    come_late(team);
    CountedWork next({2});
    team.run(next);
    ASSERT_TRUE(next.all_ran_once());
  }
}

}  // namespace
}  // namespace linnet
