// SPDX-License-Identifier: Apache-2.0
// What thread_team.h says about signals and limits, which Windows has not.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/error.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <functional>

#include "base/thread_team.h"

namespace linnet {
namespace {

/// Two stages of one task each, which call `action`.
class TwoStages : public StagedWork {
 public:
  std::uint64_t stages() const override { return 2; }
  std::uint32_t tasks(std::uint64_t /*stage*/) const override { return 1; }
  void run(std::uint64_t stage, std::uint32_t task, int /*thread*/) override {
    action(stage, task);
  }

  std::function<void(std::uint64_t stage, std::uint32_t task)> action;
};

volatile std::sig_atomic_t signals_handled = 0;

TEST(ThreadTeam, HoldsSignalsUntilTheWorkIsDone) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { signals_handled = signals_handled + 1; };
  sigemptyset(&action.sa_mask);
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  for (const int threads : {1, 3}) {
    signals_handled = 0;
    ThreadTeam team(threads);
    TwoStages work;
    std::atomic<int> handled_inside{0};
    work.action = [&](std::uint64_t, std::uint32_t) {
      ::kill(::getpid(), SIGUSR1);
      handled_inside += signals_handled;
    };
    team.run(work);
    EXPECT_EQ(handled_inside, 0) << threads;
    EXPECT_GE(signals_handled, 1) << threads;
  }
  sigaction(SIGUSR1, &before, nullptr);
}

[[noreturn]] void start_threads_without_room() {
  rlimit room{};
  room.rlim_cur = room.rlim_max = std::size_t{64} << 20;  // the stacks of a few threads
  setrlimit(RLIMIT_AS, &room);
  try {
    const ThreadTeam team(1000);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    _exit(2);
  }
  _exit(0);
}

TEST(ThreadTeamDeathTest, SaysWhenThreadsCannotBeStarted) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes more address space than the limit of this test";
#endif
  EXPECT_EXIT(start_threads_without_room(), ::testing::ExitedWithCode(2),
              "only [0-9]+ of 1000 threads started");
}

}  // namespace
}  // namespace linnet
