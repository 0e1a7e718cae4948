// SPDX-License-Identifier: Apache-2.0
// Optimizers and schedules are described once: what follows from their lists of fields.
#include "model/optimizers.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "describe/docstrings.h"
#include "describe/setting_json.h"

namespace linnet {
namespace {

template <class V>
void expect_described_in_order(const Kinds<V>& kinds) {
  for (const Kind<V>& kind : kinds.all()) {
    const StructDocs docs = docs_of(kind.fields.name, optimizer_headers());
    EXPECT_FALSE(docs.text.empty()) << kind.fields.kind << ": no struct of this name";
    std::vector<std::string> members;
    std::vector<std::string> keys;
    for (const MemberDocs& member : docs.members) members.push_back(member.name);
    for (const Field& field : kind.fields.fields) keys.emplace_back(field.key);
    EXPECT_EQ(members, keys) << kind.fields.kind;
    for (const Field& field : kind.fields.fields) {
      // The headers say once that every number is finite.
      std::string range = field.range.text();
      range = range.substr(0, range.find(" and finite"));
      EXPECT_NE(docs.of(field.key).find(range), std::string_view::npos)
          << kind.fields.kind << "." << field.key << " says '" << docs.of(field.key)
          << "', but its range is " << range;
    }
  }
}

TEST(OptimizerKinds, EveryFieldIsDescribedInTheHeadersOrderWithItsRange) {
  expect_described_in_order(optimizers());
  expect_described_in_order(schedules());
}

TEST(OptimizerKinds, EveryAlternativeIsDescribed) {
  EXPECT_EQ(optimizers().all().size(), std::variant_size_v<Optimizer>);
  EXPECT_EQ(schedules().all().size(), std::variant_size_v<Schedule> - 1);  // functions
  EXPECT_EQ(name_of(Schedule(ScheduleFunction())), "function");
  EXPECT_TRUE(schedules().fields_of(ScheduleFunction(), true).empty());
}

template <class V>
void expect_read_as_written(const Kinds<V>& kinds) {
  for (const Kind<V>& kind : kinds.all()) {
    for (const V& value : {kind.defaults, kind.example}) {
      for (const bool all : {true, false}) {
        const Setting written = kinds.write(value, all);
        const std::string text = json_of(written, 2).dump();
        const V read = kinds.read(setting_from(nlohmann::ordered_json::parse(text)), "a file", "");
        EXPECT_EQ(read.index(), value.index());
        EXPECT_EQ(Setting(kinds.fields_of(read, true)), Setting(kinds.fields_of(value, true)))
            << text;
      }
    }
    EXPECT_NO_THROW(kinds.check(kind.example));
  }
}

TEST(OptimizerKinds, AreReadFromJsonAsTheyAreWritten) {
  expect_read_as_written(optimizers());
  expect_read_as_written(schedules());
  EXPECT_EQ(to_toml(optimizers().write(SGD{.momentum = 0.9}, false)),
            "{ kind = \"sgd\", momentum = 0.9 }");
  EXPECT_EQ(optimizers().cpp(SGD{.momentum = 0.9, .nesterov = true}),
            "SGD{.momentum = 0.9, .nesterov = true}");
}

std::string mistake(SettingTable table) {
  try {
    schedules().read({std::move(table), {3, 1}}, "[schedule]", "plateau");
  } catch (const SettingError& error) {
    return std::to_string(error.place.line) + ": " + error.what();
  }
  return "";
}

TEST(OptimizerKinds, MistakesAreSentencesWithAPlace) {
  const Setting one{std::int64_t{1}};
  EXPECT_EQ(
      mistake({{"kind", {std::string("cosin"), {4, 1}}}}),
      "4: 'kind' in [schedule] must be constant, step, cosine, linear, polynomial, one_cycle, "
      "piecewise or plateau; got 'cosin'; did you mean 'cosine'?");
  EXPECT_EQ(mistake({{"factor", {1.0, {5, 1}}}}),
            "5: 'factor' in [schedule] must be in (0, 1); got 1");
  EXPECT_EQ(mistake({{"patiense", one, {6, 1}}}),
            "6: unknown key 'patiense' in [schedule]; did you mean 'patience'?");
  EXPECT_EQ(mistake({{"gamma", one, {6, 1}}}),
            "6: unknown key 'gamma' in [schedule]; plateau takes factor, patience, threshold, "
            "floor");
  EXPECT_EQ(mistake({{"kind", {std::string("constant")}}, {"zzz", one, {7, 1}}}),
            "7: unknown key 'zzz' in [schedule]; constant takes none");
}

}  // namespace
}  // namespace linnet
