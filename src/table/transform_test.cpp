// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/table_transform.h>

#include <numeric>

#include "data_sets.h"
#include "message_of.h"

namespace linnet::test {
namespace {

using linnet::testing::message_of;
using linnet::testing::vector_of;

const char* const kRows =
    "age,sex,member,weight,species\n"
    "1,m,yes,10,cat\n"
    "2,f,no,NA,dog\n"
    "3,f,yes,30,cat\n"
    "4,m,no,20,dog\n";

TEST(TableTransform, StandardisesFillsAndEncodes) {
  const Table table = parse_table(kRows);
  const TableTransform transform = TableTransform::fit(table, "species");
  EXPECT_EQ(transform.feature_names(),
            (std::vector<std::string>{"age", "sex unknown", "sex=f", "sex=m", "member", "weight",
                                      "weight missing"}));
  EXPECT_EQ(transform.classes(), (std::vector<std::string>{"cat", "dog"}));
  const Dataset data = transform.transform(table);
  const std::vector<float> x = vector_of(data.column("numbers").data);
  const float low = -1.3416408F;  // (1 - 2.5) / sqrt(1.25)
  EXPECT_EQ(std::vector<float>(x.begin(), x.begin() + 7),
            (std::vector<float>{low, 0, 0, 1, 1, -1.2247449F, 0}));
  EXPECT_EQ(x[7 + 5], 0) << "a missing number is the mean";
  EXPECT_EQ(x[7 + 6], 1);
  EXPECT_EQ(vector_of<std::int32_t>(data.targets()[0].data),
            (std::vector<std::int32_t>{0, 1, 0, 1}));
}

TEST(TableTransform, NothingButItsRowsCounts) {
  const Table table = parse_table("x,y\n0,1.5\n2,2.5\n1000,3.5\n");
  const std::vector<std::int64_t> first{0, 1};
  const TableTransform transform = TableTransform::fit(table.take(first), "y");
  const std::vector<float> x = vector_of(transform.inputs(table).inputs()[0].data);
  EXPECT_EQ(x, (std::vector<float>{-1, 1, 999}));
  EXPECT_EQ(transform.target_mean(), 2);
  EXPECT_EQ(transform.target_std(), 0.5);
}

TEST(TableTransform, UnseenAndMissingCategoriesHaveAPlace) {
  const Table table =
      parse_table("c,y\na,1.5\na,2.5\nb,3.5\nb,4.5\n,5.5\nrare,6.5\n", "t", {.header = true});
  const TableTransform transform = TableTransform::fit(table, "y");
  EXPECT_EQ(transform.feature_names(),
            (std::vector<std::string>{"c unknown", "c=a", "c=b", "c missing"}));
  const Table rows = parse_table("c\nb\nnew\nNA\nrare\n", "r", {.header = true});
  EXPECT_EQ(vector_of(transform.inputs(rows).inputs()[0].data),
            (std::vector<float>{0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0}));
  const TableTransform ids = TableTransform::fit(table, "y", {.most_one_hot = 1});
  EXPECT_EQ(ids.vocabulary(), 4);
  EXPECT_EQ(ids.id_columns(), 1);
  EXPECT_EQ(vector_of<std::int32_t>(ids.inputs(rows).column("categories").data),
            (std::vector<std::int32_t>{2, 0, 3, 0}));
}

TEST(TableTransform, DatesGoInCircles) {
  const Table table = parse_table("d,y\n2024-01-01,1.5\n2024-07-01,2.5\n2024-12-31,4\n");
  const TableTransform transform = TableTransform::fit(table, "y");
  EXPECT_EQ(transform.feature_names().size(), 5U);
  const std::vector<float> x = vector_of(transform.inputs(table).inputs()[0].data);
  EXPECT_EQ(x[1], 0);  // sine of the year's first day
  EXPECT_EQ(x[2], 1);
  EXPECT_NEAR(x[5 + 2], -1, 1e-3);
}

TEST(TableTransform, ChoosesWhatItLearns) {
  const auto classes = [](const std::string& values, TableTarget target = TableTarget::automatic) {
    std::string text = "x,y\n";
    for (std::size_t i = 0; i < values.size(); ++i) {
      text += fmt::format("{}.5,{}\n", i, values[i]);
    }
    return TableTransform::fit(parse_table(text), "y", {.target = target}).classes().size();
  };
  EXPECT_EQ(classes("2442"), 2U) << "two whole numbers";
  EXPECT_EQ(classes("01201"), 3U) << "from 0 without a gap";
  EXPECT_EQ(classes("12312"), 3U);
  EXPECT_EQ(classes("34567"), 0U) << "a value";
  EXPECT_EQ(classes("34567", TableTarget::classes), 5U);
  EXPECT_EQ(classes("01201", TableTarget::value), 0U);
  EXPECT_EQ(classes("abab"), 2U);
}

TEST(TableTransform, SurvivesItsJson) {
  const Table table = parse_table(std::string(kRows) + "5,m,yes,10,dog\n");
  for (const char* target : {"species", "age"}) {
    const TableTransform transform = TableTransform::fit(table, target, {.most_one_hot = 1});
    const TableTransform read = TableTransform::from_json(transform.to_json());
    EXPECT_EQ(read.to_json(), transform.to_json());
    EXPECT_EQ(vector_of(read.inputs(table).inputs()[0].data),
              vector_of(transform.inputs(table).inputs()[0].data));
  }
}

TEST(TableTransform, DamagedJsonIsRefused) {
  const std::string good = TableTransform::fit(parse_table(kRows), "species").to_json();
  const auto error = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    return message_of([&] { TableTransform::from_json(text); });
  };
  EXPECT_NE(error("\"version\":1", "\"version\":2"), "");
  EXPECT_NE(error("\"std\":1.1", "\"std\":-1.1"), "");
  EXPECT_NE(error("\"column\":\"age\"", "\"column\":\"agf\""), "");
  EXPECT_NE(error("\"column\":\"age\"", "\"column\":\"sex\""), "");
  EXPECT_NE(error("\"kind\":\"number\"", "\"kind\":\"numbers\""), "");
  EXPECT_NE(error("[\"cat\",\"dog\"]", "[]"), "");
  EXPECT_NE(error("[\"cat\",\"dog\"]", "[\"cat\",\"cat\"]"), "");
  EXPECT_NE(error("[\"cat\",\"dog\"]", "[1]"), "");
  EXPECT_NE(error("\"inputs\"", "\"outputs\""), "");
  EXPECT_NE(message_of([&] { TableTransform::from_json(good.substr(0, good.size() / 2)); }), "");
  EXPECT_NE(message_of([&] { TableTransform::from_json("[]"); }), "");
}

TEST(TableTransform, ColumnsBelongTogetherByNameOrPlace) {
  const TableTransform named = TableTransform::fit(parse_table("x,y,c\n1,2.5,5\n3,4.5,9\n"), "y");
  const auto inputs = [](const TableTransform& transform, const std::string& text) {
    return vector_of(
        transform.inputs(parse_table(text, "r.csv", transform.reading())).inputs()[0].data);
  };
  EXPECT_EQ(inputs(named, "c,x,more\n9,1,7\n"), (std::vector<float>{-1, 1}));
  EXPECT_EQ(inputs(named, "1,2.5,9\n"), (std::vector<float>{-1, 1})) << "by place";
  EXPECT_EQ(inputs(named, "1,9\n"), (std::vector<float>{-1, 1})) << "by place, without the target";
  EXPECT_EQ(message_of([&] { inputs(named, "x,d\n1,2\n"); }),
            "'r.csv' has no column 'c', from which the model learned");
  EXPECT_EQ(message_of([&] { inputs(named, "1,2,3,4\n"); }),
            "'r.csv' has 4 columns; the model learned from 3, the target 'y' among them");
  EXPECT_EQ(message_of([&] { inputs(named, "x,c\n1,2\nno,3\n"); }),
            "'r.csv', row 2 (line 3), column 'x': expected a finite number; got 'no'");
}

TEST(TableTransform, LabelsWithALastDotAreKnown) {
  const TableTransform transform =
      TableTransform::fit(parse_table("x,y\n1,<=50K\n2,>50K\n3,<=50K\n"), "y");
  const Dataset data = transform.transform(parse_table("x,y\n1,>50K.\n2,<=50K.\n", "test.csv"));
  EXPECT_EQ(vector_of<std::int32_t>(data.targets()[0].data), (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(data.info().notes, (std::vector<std::string>{
                                   "2 labels of 'test.csv' end in a dot that the model's classes "
                                   "lack; they are read without it"}));
  EXPECT_EQ(message_of([&] { transform.transform(parse_table("x,y\n1,rich\n2,>50K\n", "t")); }),
            "'t', row 1 (line 2), column 'y': the label 'rich' is none of the model's 2 classes: "
            "<=50K or >50K");
}

TEST(TableTransform, NonsenseIsRefused) {
  const auto error = [](const std::string& text, const std::string& target,
                        const TableTransformOptions& options = {}) {
    return message_of([&] { TableTransform::fit(parse_table(text, "t"), target, options); });
  };
  EXPECT_EQ(error("x,y\n1,2\n2,2\n", "y"),
            "the target 'y' of 't' is constant, '2' in all rows: there is nothing to learn");
  std::string ids = "x,y\n";
  for (int i = 0; i < 25; ++i) ids += fmt::format("{}.5,{}\n", i % 4, 100 + i);
  EXPECT_EQ(
      error(ids, "y"),
      "the target 'y' of 't' is an identifier, another value in each row: there is nothing to "
      "learn; give it a type if that is wrong");
  EXPECT_EQ(error("x,y\n1,2024-01-01\n2,2024-01-02\n", "y"),
            "the target 'y' of 't' is a date; expected a category or a number");
  EXPECT_EQ(
      error("x,y\n1,2.5\n1,3.5\n", "y"),
      "'t' has no column to learn from: all but the target are constants, identifiers or left "
      "out");
  EXPECT_EQ(error("x,y\n1,2.5\ninf,3.5\n", "y"),
            "'t', row 2 (line 3), column 'x': expected a finite number; got 'inf'");
  EXPECT_EQ(error("size,y\n1,2.5\n2,3.5\n", "siz"),
            "'t' has no column 'siz'; did you mean 'size'?");
}

}  // namespace
}  // namespace linnet::test
