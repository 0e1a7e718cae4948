// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "data_sets.h"
#include "message_of.h"
#include "temporary_folder.h"

namespace linnet::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMembers = 4;
constexpr std::int64_t kWild = 3;  ///< a member whose weights overflow

Dataset waves(std::int64_t count) {
  std::vector<float> x;
  std::vector<float> y;
  for (std::int64_t n = 0; n < count; ++n) {
    for (int i = 0; i < 4; ++i) x.push_back(static_cast<float>(std::sin(0.7 * (n * 13.0 + i * 5))));
    y.push_back(std::tanh(x[x.size() - 1] - x[x.size() - 3]));
  }
  return data_of(records(std::move(x), {4}), records(std::move(y), {1}));
}

Network small_network() {
  return Network({4},
                 {Dense{.units = 8}, BatchNorm{}, Tanh{}, Dropout{.rate = 0.2}, Dense{.units = 1}});
}

/// A slow member, one that stops early, one with an average and one that fails.
std::vector<Objective> aims() {
  return {{.optimizer = Adam{.learning_rate = 1e-3}},
          {.optimizer = Adam{.learning_rate = 0.5}},
          {.optimizer = Adam{.learning_rate = 0.01}, .average = {.decay = 0.9}},
          {.optimizer = SGD{.learning_rate = 1e18}}};
}

Fleet fleet_of(int threads) {
  return {small_network(), kMembers, {.objectives = aims(), .threads = threads}};
}

FitOptions options_in(const fs::path& folder) {
  const auto [training, validation] = waves(60).split(0.3, {.seed = 1});
  return {.epochs = 8,
          .batch = 8,
          .validation = validation,
          .patience = 2,
          .keep_best = true,
          .checkpoints = {.folder = folder, .every_steps = 3, .keep = 1000, .resume = true}};
}

Dataset training_set() { return waves(60).split(0.3, {.seed = 1}).first; }

std::vector<float> numbers_of(const Model& model) {
  std::vector<float> all;
  for (const auto& [name, value] : model.weights()) {
    const std::vector<float> values = vector_of(value);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

void expect_same(Fleet& fleet, const FleetHistory& got, Fleet& expected,
                 const FleetHistory& history) {
  EXPECT_EQ(got.failures, history.failures);
  for (std::int64_t k = 0; k < kMembers; ++k) {
    SCOPED_TRACE("member " + std::to_string(k));
    const History& a = got.members[static_cast<std::size_t>(k)];
    const History& b = history.members[static_cast<std::size_t>(k)];
    if (!a.epochs.empty()) {  // a member that failed before is not loaded
      EXPECT_EQ(numbers_of(fleet.member(k)), numbers_of(expected.member(k)));
    }
    EXPECT_EQ(a.stopped_early, b.stopped_early);
    ASSERT_EQ(a.epochs.size(), b.epochs.size());
    for (std::size_t e = 0; e < a.epochs.size(); ++e) {
      EXPECT_EQ(a.epochs[e].step_losses, b.epochs[e].step_losses);
      EXPECT_EQ(a.epochs[e].validation.loss, b.epochs[e].validation.loss);
    }
    if (k == kWild) continue;
    EXPECT_EQ(numbers_of(fleet.best(k)), numbers_of(expected.best(k)));
  }
}

/// Counts what it hears; stops a member after an epoch.
struct Witness : FleetCallback {
  void on_epoch(std::int64_t member, const EpochReport& report) override {
    epochs[static_cast<std::size_t>(member)] = report.epoch;
  }
  bool stop_requested(std::int64_t member) override {
    return member == stopped && epochs[static_cast<std::size_t>(member)] >= stop_after;
  }
  void on_resume(std::int64_t member, const ResumeReport& /*report*/) override {
    resumed.insert(member);
  }
  void on_checkpoint(const CheckpointReport& report) override { files.push_back(report); }

  std::vector<std::int64_t> epochs = std::vector<std::int64_t>(kMembers);
  std::int64_t stopped = -1;
  std::int64_t stop_after = 0;
  std::set<std::int64_t> resumed = {};
  std::vector<CheckpointReport> files = {};
};

TEST(FleetResume, AFleetThatIsKilledAndContinuedHasTheBitsOfOneThatIsNot) {
  const TemporaryFolder folder;
  FitOptions plain = options_in({});
  plain.checkpoints = {};
  Fleet never = fleet_of(1);
  const FleetHistory alone = never.fit(training_set(), plain);
  EXPECT_NE(alone.failures[kWild], "");
  EXPECT_TRUE(alone.members[1].stopped_early);

  Witness witness;
  Fleet whole = fleet_of(2);
  const FitOptions all = options_in(folder / "all");
  const FleetHistory history = whole.fit(training_set(), all, &witness);
  expect_same(whole, history, never, alone);

  const std::vector<fs::path> files = checkpoint_files(folder / "all");
  ASSERT_GE(files.size(), 6U);
  EXPECT_EQ(witness.files.back().file, files.front());
  for (std::size_t i = 0; i < files.size(); ++i) {
    SCOPED_TRACE(files[i].string());
    const fs::path one = folder / std::to_string(i);
    fs::create_directory(one);
    fs::copy_file(files[i], one / files[i].filename());
    Fleet continued = fleet_of(i % 3 == 0 ? 4 : static_cast<int>(i % 3));
    Witness heard;
    expect_same(continued, continued.fit(training_set(), options_in(one), &heard), never, alone);
    EXPECT_EQ(heard.resumed.size(), static_cast<std::size_t>(kMembers));
  }
}

TEST(FleetResume, AMemberThatFailedInAnEarlierFitStaysSo) {
  const TemporaryFolder folder;
  FitOptions first = options_in({});
  first.checkpoints = {};
  Fleet fleet = fleet_of(2);
  const std::string failure = fleet.fit(training_set(), first).failures[kWild];
  const FitOptions second = options_in(folder / "second");
  const FleetHistory history = fleet.fit(training_set(), second);
  EXPECT_EQ(history.failures[kWild], failure);

  Fleet continued = fleet_of(1);
  expect_same(continued, continued.fit(training_set(), second), fleet, history);
}

TEST(FleetResume, ACallbackStopsAMemberWhichContinuesLater) {
  const TemporaryFolder folder;
  FitOptions plain = options_in({});
  plain.checkpoints = {};
  Fleet never = fleet_of(2);
  const FleetHistory alone = never.fit(training_set(), plain);

  Witness witness;
  witness.stopped = 2;
  witness.stop_after = 1;
  Fleet stopped = fleet_of(2);
  const FleetHistory cut = stopped.fit(training_set(), options_in(folder / "a"), &witness);
  EXPECT_TRUE(cut.members[2].interrupted);
  EXPECT_LE(cut.members[2].epochs.size(), 2U);
  EXPECT_FALSE(cut.members[0].interrupted);

  witness = {};
  witness.stopped = 0;
  Fleet unbegun = fleet_of(1);
  const FleetHistory without = unbegun.fit(training_set(), options_in(folder / "b"), &witness);
  EXPECT_TRUE(without.members[0].interrupted);
  EXPECT_TRUE(without.members[0].epochs.empty());

  for (const char* name : {"a", "b"}) {
    Fleet continued = fleet_of(2);
    expect_same(continued, continued.fit(training_set(), options_in(folder / name)), never, alone);
  }
}

TEST(FleetResume, AnErrorOfACallbackEndsTheFitOfAllAndReachesTheCaller) {
  struct Thrower : FleetCallback {
    void on_epoch(std::int64_t member, const EpochReport& /*report*/) override {
      if (member == 1) throw Error("enough");
    }
  } thrower;
  FitOptions options = options_in({});
  options.checkpoints = {};
  options.patience = 0;
  options.epochs = 1'000'000;  // the others would train for minutes
  Fleet fleet = fleet_of(4);
  EXPECT_EQ(message_of([&] { fleet.fit(training_set(), options, &thrower); }), "enough");
}

TEST(FleetResume, ACheckpointOfAnotherFleetIsRefused) {
  const TemporaryFolder folder;
  FitOptions options = options_in(folder / "a");
  options.epochs = 2;
  fleet_of(1).fit(training_set(), options);
  const auto refused = [&](Fleet fleet, const FitOptions& by) {
    return message_of([&] { fleet.fit(training_set(), by); });
  };
  const std::string other =
      refused(Fleet(small_network(), kMembers, {.seeds = {7, 1, 2, 3}, .objectives = aims()}),
              options);
  EXPECT_NE(other.find("written by a fleet of 4 members, seeds 0 1 2 3; this one has 4 members, "
                       "seeds 7 1 2 3"),
            std::string::npos)
      << other;
  std::vector<Objective> changed = aims();
  changed[2].optimizer = Adam{.learning_rate = 0.02};
  const std::string rate =
      refused(Fleet(small_network(), kMembers, {.objectives = changed}), options);
  EXPECT_NE(rate.find("learning_rate"), std::string::npos) << rate;
  FitOptions again = options;
  again.checkpoints.resume = false;
  EXPECT_NE(refused(fleet_of(1), again).find("has checkpoints of another fit"), std::string::npos);

  Trainer trainer(Model(small_network(), {.device = "cpu"}));
  FitOptions solo = options_in(folder / "b");
  trainer.fit(training_set(), solo);
  const std::string of_trainer = refused(fleet_of(1), solo);
  EXPECT_NE(of_trainer.find("is not a checkpoint of a fleet"), std::string::npos) << of_trainer;
}

}  // namespace
}  // namespace linnet::testing
