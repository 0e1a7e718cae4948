// SPDX-License-Identifier: Apache-2.0
#include "commands/train_within.h"

#include <gtest/gtest.h>
#include <linnet/error.h>

#include <string>

#include "config/duration.h"
#include "report/run_start.h"
#include "temporary_folder.h"

namespace linnet::command {
namespace {

/// A training whose parts take the times that a test says, on a clock that only it moves.
struct SimulatedRun {
  double startup = 0.05;
  double epoch = 1;
  double evaluation = 0.1;
  double results = 0.2;
  double slower = 1;  ///< factor of the epochs after the rehearsal
  double now = 0;

  /// As Trainer::fit() calls a callback; returns the epochs that were whole.
  std::int64_t fit(Callback& callback, std::int64_t epochs, double factor) {
    constexpr std::int64_t kRuns = 20;
    now += startup;
    for (std::int64_t done = 0; done < epochs; ++done) {
      EpochReport report;
      report.epoch = done + 1;
      bool stopped = false;
      for (std::int64_t run = 1; run <= kRuns && !stopped; ++run) {
        now += factor * epoch / kRuns;
        callback.on_progress({.epoch = done + 1, .samples_done = run, .samples = kRuns});
        stopped = callback.stop_requested();
        report.complete = run == kRuns;
      }
      if (stopped) callback.on_stop();
      now += factor * evaluation;
      callback.on_epoch(report);
      if (stopped) return done + (report.complete ? 1 : 0);
      if (done + 1 < epochs && callback.stop_requested()) {
        callback.on_stop();
        return done + 1;
      }
    }
    return epochs;
  }

  /// Returns the epochs that were trained; `now` is then the end of the command.
  std::int64_t within(double seconds, double open = 1.5) {
    const TimeBudget budget(seconds, [this] { return now; });
    Rehearsal rehearsal(budget);
    fit(rehearsal, 1000, 1);
    now += results;
    const TrainingTimes times = rehearsal.times(startup);
    const std::int64_t planned = epochs_within(budget, times, "T");
    Deadline deadline(budget, times);
    const auto most = static_cast<std::int64_t>(open * static_cast<double>(planned));
    const std::int64_t trained = fit(deadline, most, slower);
    now += results;
    return trained;
  }
};

TEST(Within, UsesTheTimeAndNoMore) {
  for (const double seconds : {5.0, 20.0, 300.0}) {
    for (const double epoch : {0.002, 0.03, 0.4, 1.3}) {
      for (const double open : {1.0, 1.5}) {
        SimulatedRun run{.epoch = epoch, .evaluation = epoch / 10, .now = 0.3};
        const std::int64_t epochs = run.within(seconds, open);
        EXPECT_LE(run.now, 1.02 * seconds) << seconds << " s, epochs of " << epoch << " s";
        EXPECT_GE(run.now, 0.95 * seconds - 1.2 * epoch) << seconds << " s, epoch " << epoch;
        EXPECT_GE(epochs, 1);
      }
    }
  }
}

TEST(Within, EndsInTimeWhereEpochsBecomeSlower) {
  for (const double slower : {1.3, 3.0, 10.0}) {
    SimulatedRun run{.epoch = 0.5, .slower = slower};
    run.within(20);
    EXPECT_LE(run.now, 1.02 * 20) << slower;
  }
}

TEST(Within, RehearsesPartOfALongEpoch) {
  SimulatedRun run{.epoch = 40, .evaluation = 4};
  const TimeBudget budget(100, [&] { return run.now; });
  Rehearsal rehearsal(budget);
  run.fit(rehearsal, 1000, 1);
  run.now += run.results;
  const TrainingTimes times = rehearsal.times(run.startup);
  EXPECT_LT(run.now, 10 + run.evaluation);
  EXPECT_NEAR(times.epoch, 44, 1e-9);
  EXPECT_NEAR(times.results, 0.2, 1e-9);
}

TEST(Within, RefusesATimeBelowAnEpoch) {
  SimulatedRun run{.epoch = 10};
  std::string sentence;
  try {
    run.within(8);
  } catch (const Error& error) {
    sentence = error.what();
  }
  EXPECT_NE(sentence.find("--within T is too short"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("one epoch 10 s"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("give at least 12s"), std::string::npos) << sentence;
}

TEST(Within, TakesAnEpochOfNoTimeAsAShortOne) {
  SimulatedRun run{.epoch = 0, .evaluation = 0};
  const TimeBudget budget(1e-9, [&] { return run.now; });
  Rehearsal rehearsal(budget);
  run.fit(rehearsal, 1000, 1);
  EXPECT_GT(rehearsal.times(run.startup).epoch, 0);
}

TEST(Within, TakesNoEvaluationForAStep) {
  double now = 0;
  const TimeBudget budget(10, [&] { return now; });
  Deadline deadline(budget, {.epoch = 3});
  for (int epoch = 0; epoch < 3; ++epoch) {  // of one step
    now += 1.5;
    EXPECT_FALSE(deadline.stop_requested()) << now;
    now += 1.5;
    deadline.on_epoch({});
  }
  EXPECT_TRUE(deadline.stop_requested());
}

/// A run's folder with the record of its start.
struct RecordedRun {
  const testing::TemporaryFolder temporary;
  RunFolder folder{temporary / "run", "timed"};
  TrainingOptions training = {.epochs = 15, .patience = 0, .keep_best = true};
  History history;

  RecordedRun() {
    write_run_start(folder.start(), {.options = {{"--within", {"20s"}}, {"--epochs", {"15"}}}});
  }

  /// Returns the note of a training of this number of epochs; `cut`: the last one was not whole.
  std::string note(std::int64_t epochs, bool cut = false) {
    history.epochs.clear();
    for (std::int64_t i = 1; i <= epochs; ++i) {
      EpochReport report;
      report.epoch = i;
      report.complete = !cut || i < epochs;
      history.epochs.push_back(report);
    }
    return note_on_time(training, history, folder, TimeBudget(20, [] { return 19.5; }), "20s");
  }
  std::string recorded(const std::string& option) {
    const RunStart start = read_run_start(folder.start());
    return start.options.contains(option) ? start.options.at(option).at(0) : "none";
  }
};

TEST(Within, RecordsTheEpochsThatTheClockAllowed) {
  RecordedRun run;
  run.training.schedule = Constant{};
  EXPECT_EQ(run.note(12), "12 epochs took 19.5 s of 20s; --epochs 12 --patience 0 repeats the run");
  EXPECT_EQ(run.recorded("--epochs"), "12");
  EXPECT_EQ(run.recorded("--within"), "none");
  run.note(12, true);  // its best epoch is a whole one
  EXPECT_EQ(run.recorded("--epochs"), "11");
}

TEST(Within, RecordsTheLengthOfARunThatStopsEarly) {
  RecordedRun run;
  run.training.patience = 3;
  run.history.stopped_early = true;
  for (const Schedule& schedule : {Schedule(Constant{}), Schedule(CosineDecay{})}) {
    run.training.schedule = schedule;
    EXPECT_EQ(run.note(12),
              "12 epochs took 19.5 s of 20s; --epochs 15 --patience 3 repeats the run");
    EXPECT_EQ(run.recorded("--epochs"), "15");
    EXPECT_EQ(run.recorded("--patience"), "3");
  }
}

TEST(Within, SaysWhereNoNumberOfEpochsRepeatsTheRun) {
  RecordedRun run;
  run.training.schedule = CosineDecay{};
  EXPECT_EQ(run.note(12, true),
            "epoch 12 was cut short: epochs became slower than in the rehearsal; the run took 19.5 "
            "s of 20s and cannot be repeated by a number of epochs");
  EXPECT_EQ(run.note(12).substr(0, 40), "the training ended after epoch 12 of 15:");
  run.training.schedule = Constant{};
  run.training.keep_best = false;
  EXPECT_EQ(run.note(3, true).substr(0, 23), "epoch 3 was cut short: ");
  run.training.keep_best = true;
  EXPECT_EQ(run.note(1, true).substr(0, 23), "epoch 1 was cut short: ");
}

TEST(Within, KnowsSchedulesThatNeedALength) {
  EXPECT_TRUE(follows_length(CosineDecay{}));
  EXPECT_TRUE(follows_length(OneCycle{}));
  EXPECT_TRUE(follows_length(Piecewise{}));
  EXPECT_FALSE(follows_length(Piecewise{.epochs = 1}));
  EXPECT_FALSE(follows_length(CosineDecay{.epochs = 5}));
  EXPECT_FALSE(follows_length(Constant{}));
  EXPECT_FALSE(follows_length(StepDecay{}));
}

TEST(Within, ReadsTimes) {
  EXPECT_EQ(seconds_of("60s"), 60);
  EXPECT_EQ(seconds_of("1.5m"), 90);
  EXPECT_EQ(seconds_of("10min"), 600);
  EXPECT_EQ(seconds_of("2h"), 7200);
  for (const char* wrong : {"", "60", "s", "0s", "-1s", "1d", "nans", "infh", "1e300h", "5 s"}) {
    EXPECT_FALSE(seconds_of(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace linnet::command
