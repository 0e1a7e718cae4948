// SPDX-License-Identifier: Apache-2.0
// An option that is described is everywhere: here one more field of a training.
#include <gtest/gtest.h>

#include "config/options.h"
#include "config/section.h"
#include "config/training.h"
#include "model/options.h"
#include "train/fit_settings.h"

namespace linnet::command {
namespace {

struct More : TrainingOptions {
  double added = 0.5;
};

Description more() {
  Description all = training_table();
  all.fields.push_back(field<&More::added>("added")
                           .between(0, 1)
                           .group("Novelties")
                           .flag("--added", "Share of what is new"));
  all.defaults = std::make_shared<const More>();
  return all;
}

TEST(AddedOption, IsAKeyOfFiles) {
  const toml::table table = toml::parse("epochs = 2\nadded = 0.25\n");
  Section section(table, "a.toml", "[training]");
  More read;
  section.fields(more(), &read);
  section.close();
  EXPECT_EQ(read.epochs, 2);
  EXPECT_EQ(read.added, 0.25);
}

TEST(AddedOption, IsAFlagWithHelpInItsGroup) {
  CLI::App app;
  Setting given = {SettingTable()};
  add_flags(app, more(), given);
  const CLI::Option* option = app.get_option("--added");
  EXPECT_EQ(option->get_group(), "Novelties");
  const std::string page = app.help();  // which the manual shows
  EXPECT_NE(page.find("Novelties"), std::string::npos);
  EXPECT_NE(page.find("Share of what is new"), std::string::npos);
  app.parse("--added 0.75");
  More read;
  more().read(&read, given, "");
  EXPECT_EQ(read.added, 0.75);
  EXPECT_THROW(app.parse("--added 2"), CLI::ParseError);
}

TEST(AddedOption, IsPartOfKeysAndCheckpoints) {
  const Description described = more();
  More other;
  other.added = 0.125;
  const std::string key = to_toml({described.write(&other, true)});  // as key_of() writes it
  EXPECT_NE(key.find("added = 0.125"), std::string::npos) << key;
  FitSettings settings;
  add_fields(described, &other, {}, settings);
  const std::pair<std::string, std::string> entry{"added", "0.125"};
  EXPECT_EQ(std::ranges::count(settings, entry), 1);
  // A fit that is continued may be older than the option.
  const FitSettings before{{"epochs", "5"}};
  FitSettings now;
  add_fields(described, &other, before, now);
  EXPECT_THROW(check_settings(before, now, "the checkpoint"), Error);
  now.clear();
  other.added = 0.5;
  add_fields(described, &other, before, now);
  EXPECT_NO_THROW(check_settings(before, now, "the checkpoint"));
}

}  // namespace
}  // namespace linnet::command
