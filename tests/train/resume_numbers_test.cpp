// SPDX-License-Identifier: Apache-2.0
// A checkpoint is somebody's file: each of its numbers is compared with the training that goes on.
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "lines.h"
#include "message_of.h"
#include "temporary_folder.h"

namespace linnet::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// 3 epochs of 3 steps; checkpoints after each.
History fit(const Checkpoints& checkpoints) {
  Objective objective;
  objective.schedule = Plateau{};
  Trainer trainer(Model(Network({2}, {Dense{.units = 3}, ReLU{}, Dense{.units = 1}}),
                        {.device = "cpu", .threads = 1, .seed = 3}),
                  objective);
  FitOptions options{.epochs = 3, .batch = 4};
  options.validation = line_data(5);
  options.checkpoints = checkpoints;
  return trainer.fit(line_data(12), options);
}

Tensor whole(std::int64_t value) { return {std::vector<std::int64_t>{value}, Shape{}}; }

/// The entry with its number at `at` set to `value`.
template <class T>
Tensor with(const Tensor& entry, std::size_t at, T value) {
  std::vector<T> values(entry.as<T>().begin(), entry.as<T>().end());
  values.at(at) = value;
  return {std::move(values), entry.shape()};
}

TEST(ResumeNumbers, AreComparedWithTheTraining) {
  const TemporaryFolder folder;
  Checkpoints all{.folder = folder / "all", .every_steps = 1, .keep = 100};
  fit(all);
  const std::vector<fs::path> files = checkpoint_files(all.folder);
  ASSERT_EQ(files.size(), 9U);
  const State good = read_state(files[4]);  // after 5 steps: the first two of the second epoch
  const auto d = [&](const char* name, std::size_t at, double value) {
    return std::pair<std::string, Tensor>(name, with(good[name], at, value));
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::pair<std::string, Tensor>> wrong;
  for (const std::int64_t value : {std::int64_t{1}, std::int64_t{2}, std::int64_t{4}, kMost}) {
    wrong.emplace_back("fit/last_epoch", whole(value));
  }
  for (const std::int64_t value : {std::int64_t{1}, std::int64_t{3}, std::int64_t{5}, kMost}) {
    wrong.emplace_back("fit/epoch", whole(value));
  }
  for (const std::int64_t value : {std::int64_t{2}, kMost}) {
    wrong.emplace_back("fit/first_epoch", whole(value));
  }
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{4}, kMost}) {
    wrong.emplace_back("fit/updates", whole(value));
    wrong.emplace_back("position/epochs", whole(value));
  }
  wrong.emplace_back("position/steps", whole(0));
  wrong.emplace_back("position/steps", whole(4));
  wrong.emplace_back("fit/best_step", whole(6));
  wrong.emplace_back("fit/best_step", whole(-2));
  for (const double value : {-1.0, nan}) wrong.push_back(d("fit/seconds", 0, value));
  for (const double value : {-1.0, 0.5, 2.0, 1e300, nan})
    wrong.push_back(d("fit/waited", 0, value));
  wrong.push_back(d("fit/waited", 1, nan));
  for (const double value : {13.0, -1.0, nan}) wrong.push_back(d("fit/counters", 2, value));
  for (const double value : {-1.0, std::numeric_limits<double>::infinity()}) {
    wrong.push_back(d("fit/counters", 5, value));
  }
  wrong.emplace_back("fit/losses", with(good["fit/losses"], 0, std::nanf("")));
  for (const double value : {2.0, 0.5, 1e300, nan}) wrong.push_back(d("fit/epochs", 0, value));
  for (const std::size_t samples : {3U, 6U, 9U}) {
    for (const double value : {13.0, -1.0, 1e300, nan}) {
      wrong.push_back(d("fit/epochs", samples, value));
    }
  }
  for (const double value : {4.0, 0.5, nan}) wrong.push_back(d("fit/epochs", 13, value));
  for (const double value : {0.0, 2.0, nan}) wrong.push_back(d("schedule/plateau", 0, value));
  for (const double value : {-1.0, 1e300, nan}) wrong.push_back(d("schedule/plateau", 2, value));
  int number = 0;
  for (const auto& [name, value] : wrong) {
    State state = good;
    state.set(name, value);
    const Checkpoints one{.folder = folder / std::to_string(number++), .resume = true};
    fs::create_directory(one.folder);
    const fs::path file = one.folder / files[4].filename();
    write_state(file, state);
    const std::string message = message_of([&] { fit(one); });
    const std::string begin = "the checkpoint '" + file.string() + "' ";
    EXPECT_TRUE(message.starts_with(begin)) << name << ' ' << to_string(value) << ": " << message;
  }
  const Checkpoints one{.folder = folder / "good", .resume = true};
  fs::create_directory(one.folder);
  write_state(one.folder / files[4].filename(), good);
  EXPECT_EQ(fit(one).epochs.size(), 3U);
}

}  // namespace
}  // namespace linnet::testing
