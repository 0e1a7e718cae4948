// SPDX-License-Identifier: Apache-2.0
#include "describe/field.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace linnet {

enum class Colour : std::uint8_t { red, green };
constexpr std::array<std::string_view, 2> enum_names(Colour) { return {"red", "green"}; }
constexpr std::string_view enum_type(Colour) { return "Colour"; }

namespace {

struct Brush {
  std::int64_t size = 2;
  double share = 0.5;
  bool soft = false;
  Colour colour = Colour::red;
  std::vector<double> weights = {1};
  Shape shape = {};
  std::string name = {};
};

Description brush() {
  return {.kind = "brush",
          .name = "Brush",
          .fields = {field<&Brush::size>("size").at_least(1).required(),
                     field<&Brush::share>("share").from_to_below(0, 1).formerly("part"),
                     field<&Brush::soft>("soft"), field<&Brush::colour>("colour"),
                     field<&Brush::weights>("weights").above(0), field<&Brush::shape>("shape"),
                     field<&Brush::name>("name")},
          .defaults = std::make_shared<const Brush>()};
}

std::string mistake(SettingTable table) {
  Brush object;
  try {
    brush().read(&object, {std::move(table), {3, 7}}, "[brush]", {"kind"});
  } catch (const SettingError& error) {
    return std::to_string(error.place.line) + ": " + error.what();
  }
  return "";
}

TEST(Description, ReadsWhatItWrites) {
  const Brush painted{.size = 7,
                      .share = 0.25,
                      .soft = true,
                      .colour = Colour::green,
                      .weights = {1, INFINITY},
                      .shape = {3, 4},
                      .name = "a \"b\""};
  Brush read;
  brush().read(&read, {brush().write(&painted, true)}, "[brush]");
  EXPECT_EQ(Setting(brush().write(&read, true)), Setting(brush().write(&painted, true)));
  EXPECT_EQ(read.size, 7);
  EXPECT_EQ(read.shape, (Shape{3, 4}));
  EXPECT_EQ(read.weights[1], INFINITY);
  EXPECT_EQ(brush().cpp(&painted),
            "Brush{.size = 7, .share = 0.25, .soft = true, .colour = Colour::green, "
            ".weights = {1, INFINITY}, .shape = {3, 4}, .name = \"a \\\"b\\\"\"}");
  EXPECT_EQ(to_toml({brush().write(&painted, false)}),
            "{ size = 7, share = 0.25, soft = true, colour = \"green\", weights = [1, inf], "
            "shape = [3, 4], name = \"a \\\"b\\\"\" }");
}

TEST(Description, DefaultsAreLeftOutOrNot) {
  const Brush plain;
  EXPECT_TRUE(brush().write(&plain, false).empty());
  EXPECT_EQ(brush().write(&plain, true).size(), 7U);
  EXPECT_EQ(brush().cpp(&plain), "Brush{}");
}

TEST(Description, MistakesAreSentencesWithAPlace) {
  const Setting one{std::int64_t{1}};
  EXPECT_EQ(mistake({{"size", {std::int64_t{0}, {4, 1}}}}),
            "4: 'size' in [brush] must be at least 1; got 0");
  EXPECT_EQ(mistake({{"size", one}, {"colour", {std::string("gren"), {5, 2}}}}),
            "5: 'colour' in [brush] must be red or green; got 'gren'; did you mean 'green'?");
  EXPECT_EQ(mistake({{"size", one}, {"share", {NAN, {5, 2}}}}),
            "5: 'share' in [brush] must be in [0, 1); got nan");
  EXPECT_EQ(mistake({{"size", one}, {"weights", {Setting::List{{0.5}, {0.0}}, {6, 2}}}}),
            "6: 'weights' in [brush] must be above 0; got [0.5, 0]");
  EXPECT_EQ(mistake({{"size", one}, {"sofd", one, {8, 1}}}),
            "8: unknown key 'sofd' in [brush]; did you mean 'soft'?");
  EXPECT_EQ(mistake({{"size", one}, {"bristles", one, {8, 1}}}),
            "8: unknown key 'bristles' in [brush]; brush takes size, share, soft, colour, weights, "
            "shape, name");
  EXPECT_EQ(mistake({{"size", one}, {"part", one, {9, 1}}}),
            "9: unknown key 'part' in [brush]; it is called 'share' now");
  EXPECT_EQ(mistake({{"kind", one}}), "3: [brush] needs the key 'size'");
  EXPECT_EQ(mistake({{"size", one}, {"shape", {Setting::List{{true}}, {6, 2}}}}),
            "6: 'shape' in [brush] must be an array of integers; got an array");
}

TEST(Description, ObjectsOutOfRangeAreRefused) {
  const Brush bad{.weights = {2, -1}};
  try {
    brush().check(&bad, "b");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "[brush 'b'] expected weights to be above 0; got [2, -1]");
  }
}

struct Pencil {
  std::optional<char> mark = {};
  std::map<std::string, Colour> colours = {};
  bool hard = false;
  Colour lead = Colour::red;
  std::int64_t steps = -1;
  std::vector<std::string> columns = {};
  Shape size = {};
};

Description pencil() {
  return {.kind = "pencil",
          .name = "Pencil",
          .fields = {field<&Pencil::mark>("mark").as({",", "tab"}).flag("--mark", ""),
                     field<&Pencil::colours>("colours").flag("--colours", ""),
                     field<&Pencil::hard>("hard").as({"soft", "hard"}),
                     field<&Pencil::lead>("lead").as({"rouge", "vert"}),
                     field<&Pencil::steps>("steps").between(1, 9).as({"off", "all"}, {0, -1}),
                     field<&Pencil::columns>("columns").column(), field<&Pencil::size>("size")},
          .defaults = std::make_shared<const Pencil>()};
}

std::string not_a_pencil(SettingTable table, const std::string& where = "[pencil]") {
  Pencil object;
  try {
    pencil().read(&object, {std::move(table)}, where);
  } catch (const SettingError& error) {
    return error.what();
  }
  return "";
}

TEST(Field, HasTextsForItsValues) {
  const Setting columns{Setting::List{{std::string("a")}, {std::int64_t{2}}}};
  const SettingTable table{{"mark", {std::string("tab")}},
                           {"colours", {SettingTable{{"sky", {std::string("green")}}}}},
                           {"hard", {std::string("hard")}},
                           {"lead", {std::string("vert")}},
                           {"steps", {std::string("off")}},
                           {"columns", columns},
                           {"size", {std::string("3x4")}}};
  Pencil read;
  pencil().read(&read, {table}, "[pencil]");
  EXPECT_EQ(read.mark, '\t');
  EXPECT_EQ(read.colours, (std::map<std::string, Colour>{{"sky", Colour::green}}));
  EXPECT_TRUE(read.hard);
  EXPECT_EQ(read.lead, Colour::green);
  EXPECT_EQ(read.steps, 0);
  EXPECT_EQ(read.columns, (std::vector<std::string>{"a", "2"}));
  EXPECT_EQ(read.size, Shape({3, 4}));
  Pencil again;
  pencil().read(&again, {pencil().write(&read, true)}, "[pencil]");
  EXPECT_EQ(Setting(pencil().write(&again, true)), Setting(pencil().write(&read, true)));
  EXPECT_EQ(to_toml(pencil().find("steps")->write(&read)), "\"off\"");
}

TEST(Field, TakesEntriesAsTexts) {
  Pencil read;
  const Setting texts{
      Setting::List{{std::string("sky=green")}, {std::string("a=b=red")}, {std::string("red")}}};
  pencil().read(&read, {SettingTable{{"colours", texts}}}, "[pencil]");
  EXPECT_EQ(read.colours, (std::map<std::string, Colour>{{"sky", Colour::green},
                                                         {"a=b", Colour::red},
                                                         {"", Colour::red}}));
  EXPECT_EQ(not_a_pencil({{"colours", {std::string("sky=blue")}}}),
            "'colours.sky' in [pencil] must be red or green; got 'blue'");
  EXPECT_EQ(not_a_pencil({{"colours", {std::string("sky=blue")}}}, ""),
            "--colours sky: expected red or green; got 'blue'");
}

TEST(Field, RefusesOtherTexts) {
  EXPECT_EQ(not_a_pencil({{"mark", {std::string(";")}}}, ""), "--mark: expected , or tab; got ';'");
  EXPECT_EQ(not_a_pencil({{"hard", {std::string("firm")}}}),
            "'hard' in [pencil] must be soft or hard; got 'firm'");
  EXPECT_EQ(not_a_pencil({{"steps", {std::int64_t{12}}}}),
            "'steps' in [pencil] must be off, all or an integer in [1, 9]; got 12");
  EXPECT_EQ(not_a_pencil({{"size", {std::string("3x")}}}),
            "'size' in [pencil] must be a number, or several such as 224x192; got '3x'");
}

}  // namespace
}  // namespace linnet
