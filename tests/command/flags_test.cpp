// SPDX-License-Identifier: Apache-2.0
// What a configuration file and the command line say of the described options of a training.
#include <gtest/gtest.h>

#include "config/options.h"
#include "config/section.h"
#include "config/training.h"
#include "message_of.h"
#include "model/options.h"

namespace linnet::command {
namespace {

using linnet::testing::message_of;

TrainingOptions read_flags(const std::string& arguments, TrainingOptions options = {}) {
  CLI::App app;
  Setting given = {SettingTable()};
  add_flags(app, training_table(), given);
  app.parse(arguments);
  training_table().read(&options, given, "the options");
  return options;
}

TrainingOptions read_file(const std::string& text, TrainingOptions options = {}) {
  const toml::table table = toml::parse(text);
  Section section(table, "a.toml", "[training]");
  section.fields(training_table(), &options);
  section.close();
  return options;
}

TEST(TrainingTable, FlagsReplaceWhatAFileSays) {
  const TrainingOptions file = read_file(
      "epochs = 3\nsave_best = true\ndrop_last = true\nclip_norm = 2\naverage = 0.5\nloss = "
      "\"mse\"\nmemory_limit = 5000000000\n");
  EXPECT_EQ(file.epochs, 3);
  EXPECT_TRUE(file.keep_best && file.drop_last);
  EXPECT_EQ(file.clip.norm, 2);
  EXPECT_EQ(file.average.decay, 0.5);
  EXPECT_EQ(file.loss, Loss::mse);
  EXPECT_EQ(file.memory_limit, 5'000'000'000U);
  const TrainingOptions flags =
      read_flags("--epochs 4 --no-drop-last --recompute --memory-limit 1KiB --bucket 9", file);
  EXPECT_EQ(flags.epochs, 4);
  EXPECT_FALSE(flags.drop_last);
  EXPECT_TRUE(flags.recompute && flags.keep_best);
  EXPECT_EQ(flags.memory_limit, 1024U);
  EXPECT_EQ(flags.bucket_bytes, 9U);
}

TEST(TrainingTable, MistakesAreNamed) {
  EXPECT_EQ(message_of([] { read_file("batch = 0"); }),
            "a.toml:1:9: 'batch' in [training] must be at least 1; got 0");
  EXPECT_EQ(message_of([] { read_file("epochs = 3000000000"); }),
            "a.toml:1:10: 'epochs' in [training] must be at most 2147483647; got 3000000000");
  EXPECT_EQ(message_of([] { read_file("shufle = true"); }),
            "a.toml:1:1: unknown key 'shufle' in [training]; did you mean 'shuffle'?");
  EXPECT_EQ(message_of([] { read_file("average = 1"); }),
            "a.toml:1:11: 'average' in [training] must be in [0, 1); got 1");
  try {
    read_flags("--batch 0");
    FAIL();
  } catch (const CLI::ParseError& error) {
    EXPECT_STREQ(error.what(), "--batch: expected an integer of at least 1; got '0'");
  }
}

/// Returns a value of the field's type that the defaults do not have.
Setting another(const Field& field, const Setting& otherwise) {
  if (const auto* flag = otherwise.get_if<bool>()) return {!*flag};
  if (otherwise.get_if<std::int64_t>() != nullptr) return {std::int64_t{16}};
  if (otherwise.get_if<double>() != nullptr) return {0.25};
  if (otherwise.get_if<Setting::List>() != nullptr) {
    return {Setting::List{{SettingTable{{"name", {std::string("a*")}}}}}};  // of freeze
  }
  if (const auto* table = otherwise.get_if<SettingTable>()) {
    SettingTable changed = *table;
    changed.front().value = {std::string("a")};  // the layer of whiten
    return {std::move(changed)};
  }
  return {field.names.empty() ? field.format->names().back() : field.names.back()};
}

TEST(TrainingTable, EveryFieldIsAKeyAndEveryFlagReachesIt) {
  const TrainingOptions plain;
  for (const Field& field : training_table().fields) {
    const Setting value = another(field, field.write(&plain));
    const TrainingOptions read = read_file(std::string(field.key) + " = " + to_toml(value));
    EXPECT_EQ(field.write(&read), value) << field.key;
    if (field.flag_name.empty()) continue;
    const bool off = value == Setting(false);
    const std::string flag =
        off ? "--no-" + std::string(field.flag_name.substr(2)) : std::string(field.flag_name);
    const TrainingOptions flagged =
        read_flags(value.get_if<bool>() != nullptr ? flag : flag + " " + to_toml(value));
    EXPECT_EQ(field.write(&flagged), value) << field.flag_name;
  }
}

}  // namespace
}  // namespace linnet::command
