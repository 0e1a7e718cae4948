// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/tuner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"
#include "fake_op.h"

namespace linnet::cpu {
namespace {

using linnet::testing::FakeAttrs;
using linnet::testing::FakeOp;

/// Kernels that go over their input once ("quick") or a hundred times ("slow"), and count runs.
class TunerTest : public ::testing::Test {
 protected:
  TunerTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("linnet_tuner_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
  }
  ~TunerTest() override { std::filesystem::remove_all(folder_); }

  Candidate candidate(std::string_view engine, int passes) {
    return {engine, [=, this]() -> std::optional<Kernel> {
              if (passes == 0) return std::nullopt;
              Kernel kernel;
              kernel.stages.push_back({4, [=, this](const Args& args, const Task& task) {
                                         ++runs_;
                                         const Range part = split(kElements, 4, task.index);
                                         for (int pass = 0; pass < passes; ++pass) {
                                           for (auto i = part.begin; i < part.end; ++i) {
                                             args.out(kFirst)[i] += args.in(kFirst)[i];
                                           }
                                         }
                                       }});
              return kernel;
            }};
  }
  std::vector<Candidate> candidates() {
    return {candidate("never", 0), candidate("slow", 100), candidate("quick", 1)};
  }
  std::optional<Kernel> choose(Tuner& tuner) { return tuner.choose(node_, candidates()); }
  Tuner tuner(const CpuOptions& options) {
    return {options, Products::fp32, std::make_shared<ThreadTeam>(2)};
  }

  static constexpr std::int64_t kElements = 20'000;
  std::filesystem::path folder_;
  std::atomic<int> runs_{0};
  FakeOp op_{FakeAttrs{}};
  std::vector<ValueType> types_{linnet::testing::floats(kElements)};
  NodeView node_{op_, types_, types_, {true}};
};

TEST_F(TunerTest, TakesTheFirstUnmeasured) {
  Tuner tuner = this->tuner({.cache_folder = folder_.string()});
  const auto kernel = choose(tuner);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->engine, "");
  EXPECT_EQ(runs_, 0);
  tuner.save();
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

TEST_F(TunerTest, TakesTheFastestAndTellsTheTimes) {
  Tuner tuner = this->tuner({.tune = true});
  const auto kernel = choose(tuner);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->engine.find("quick "), 0U) << kernel->engine;
  EXPECT_NE(kernel->engine.find(" ms, slow "), std::string::npos) << kernel->engine;
  EXPECT_EQ(kernel->engine.find("never"), std::string::npos) << kernel->engine;
  ASSERT_EQ(tuner.choices().size(), 1U);
  EXPECT_EQ(tuner.choices().begin()->second, kernel->engine);
}

TEST_F(TunerTest, MeasuresOnceOnAMachine) {
  const CpuOptions options{.tune = true, .cache_folder = folder_.string()};
  Tuner first = tuner(options);
  const auto measured = choose(first);
  first.save();
  runs_ = 0;
  Tuner second = tuner(options);
  const auto kept = choose(second);
  ASSERT_TRUE(measured && kept);
  EXPECT_EQ(runs_, 0);
  EXPECT_EQ(kept->engine, measured->engine);
  EXPECT_EQ(second.choices(), first.choices());
}

TEST_F(TunerTest, KeepsToWhatARunChose) {
  Tuner measured = tuner({.tune = true});
  choose(measured);
  auto choices = measured.choices();
  choices.begin()->second = "slow 1.000 ms";
  for (const bool tune : {false, true}) {
    Tuner again = tuner({.tune = tune, .choices = choices});
    const auto kernel = choose(again);
    ASSERT_TRUE(kernel);
    EXPECT_EQ(kernel->engine, "slow 1.000 ms");
  }
}

TEST_F(TunerTest, AChoiceThatIsNoneAnyMoreIsMeasuredAnew) {
  const CpuOptions options{.tune = true, .cache_folder = folder_.string()};
  Tuner first = tuner(options);
  choose(first);
  first.save();
  const std::filesystem::path file = folder_ / "cpu-tuning.json";
  std::string text = read_file(file);
  for (const std::string_view gone : {"never ", "unknown ", " "}) {
    std::string changed = text;
    changed.replace(changed.find("quick "), 6, gone);
    write_file_atomically(file, changed);
    Tuner second = tuner(options);
    const auto kernel = choose(second);
    ASSERT_TRUE(kernel);
    EXPECT_EQ(kernel->engine.find("quick "), 0U) << kernel->engine;
  }
}

TEST_F(TunerTest, NothingWhereNoEngineTakesTheNode) {
  for (const bool tune : {false, true}) {
    Tuner tuner = this->tuner({.tune = tune});
    EXPECT_FALSE(tuner.choose(node_, {candidate("never", 0)}));
    EXPECT_TRUE(tuner.choices().empty());
  }
}

}  // namespace
}  // namespace linnet::cpu
