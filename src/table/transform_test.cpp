// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/table_transform.h>

#include <cmath>
#include <nlohmann/json.hpp>
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

TEST(TableTransform, KeepsTheDigitsForDoublePrecision) {
  const Table table = parse_table("x,y\n0,1.1\n1,1000.7\n5,-3.3\n");
  const TableTransform transform = TableTransform::fit(table, "y");
  const Dataset data = transform.transform(table);
  const std::span<const double> x = data.inputs()[0].exact.as<double>();
  const double std = std::sqrt(14.0 / 3);  // of 0, 1, 5
  ASSERT_EQ(x.size(), 3U);
  EXPECT_NEAR(x[0], -2 / std, 1e-15);
  EXPECT_NEAR(x[2], 3 / std, 1e-15);
  const std::span<const double> y = data.targets()[0].exact.as<double>();
  EXPECT_EQ(std::vector<double>(y.begin(), y.end()), (std::vector<double>{1.1, 1000.7, -3.3}));
  EXPECT_EQ(vector_of(data.targets()[0].data), (std::vector<float>{1.1F, 1000.7F, -3.3F}));
}

TEST(TableTransform, NothingButItsRowsCounts) {
  const Table table = parse_table("x,y\n0,1.5\n2,2.5\n1000,3.5\n");
  const std::vector<std::int64_t> first{0, 1};
  const TableTransform transform = TableTransform::fit(table.take(first), "y");
  const std::vector<float> x = vector_of(transform.inputs(table).inputs()[0].data);
  EXPECT_EQ(x, (std::vector<float>{-1, 1, 999}));
  EXPECT_EQ(transform.target_means(), (std::vector<double>{2}));
  EXPECT_EQ(transform.target_stds(), (std::vector<double>{0.5}));
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

TEST(TableTransform, CategoriesMayBeCalledAsMissingValues) {
  std::string text = "c,y\n";
  for (int i = 0; i < 12; ++i) text += fmt::format("{},{}.5\n", i % 2 == 0 ? "None" : "A", i);
  const TableTransform transform = TableTransform::fit(parse_table(text), "y");
  EXPECT_EQ(transform.feature_names(), (std::vector<std::string>{"c unknown", "c=A", "c=None"}));
  const Table one = parse_table("c\nNone\n", "r", {.header = true});
  EXPECT_EQ(vector_of(transform.inputs(one).inputs()[0].data), (std::vector<float>{0, 0, 1}));
  const TableTransform target = TableTransform::fit(parse_table("x,y\n1,None\n2,A\n3,A\n"), "y");
  EXPECT_EQ(target.classes(), (std::vector<std::string>{"A", "None"}));
  const Dataset data = target.transform(parse_table("x,y\n1,None\n", "r", {.header = true}));
  EXPECT_EQ(vector_of<std::int32_t>(data.targets()[0].data), (std::vector<std::int32_t>{1}));
}

TEST(TableTransform, BlankOrNotIsInformation) {
  std::string text = "vip,cabin,few,y\n";
  for (int i = 0; i < 40; ++i) {
    text += fmt::format("{},{},{},{}.5\n", i % 2 == 0 ? "x" : "",
                        i % 3 == 0 ? "" : fmt::format("c{}", i), i == 7 ? "" : "a", i);
  }
  const Table table = parse_table(text);
  const TableTransform transform = TableTransform::fit(table, "y");
  EXPECT_EQ(transform.feature_names(),
            (std::vector<std::string>{"vip unknown", "vip=x", "vip missing", "cabin unknown",
                                      "cabin missing"}));
  const Dataset data = transform.inputs(parse_table("vip,cabin,few\n,c99,a\nx,,b\n"));
  EXPECT_EQ(vector_of(data.inputs()[0].data), (std::vector<float>{0, 0, 1, 1, 0, 0, 1, 0, 0, 1}));
  EXPECT_TRUE(data.info().notes.empty());
  EXPECT_EQ(TableTransform::from_json(transform.to_json()).to_json(), transform.to_json());
}

TEST(TableTransform, WholeNumbersAreOneCategory) {
  const TableOptions categories{.header = true, .types = {{"g", ColumnType::category}}};
  std::string text = "g,flag,zip,y\n";
  for (int i = 0; i < 12; ++i) {
    text += fmt::format("{},{},{},{}.5\n", i % 2 == 0 ? "1" : "2.0", i % 2,
                        i % 2 == 0 ? "02116" : "2116", i);
  }
  const TableTransform transform = TableTransform::fit(parse_table(text, "t", categories), "y");
  const auto inputs = [&](const std::string& row) {
    return vector_of(
        transform.inputs(parse_table("g,flag,zip\n" + row + "\n", "r", {.header = true}))
            .inputs()[0]
            .data);
  };
  EXPECT_EQ(inputs("1,1,2116"), inputs("1.0,1.0,2116"));
  EXPECT_EQ(inputs("2.0,0,02116"), inputs("2,0.0,02116"));
  EXPECT_EQ(inputs("2,true,02116"), inputs("2,1,02116"));
  EXPECT_NE(inputs("1,1,02116"), inputs("1,1,2116"));
  const TableTransform classes =
      TableTransform::fit(parse_table("x,y\n1,0.0\n2,1.0\n3,0.0\n"), "y");
  EXPECT_EQ(vector_of<std::int32_t>(
                classes.transform(parse_table("x,y\n1,1\n2,0\n")).targets()[0].data),
            (std::vector<std::int32_t>{1, 0}));
}

TEST(TableTransform, ATextThatABooleanNeverHadIsUnknown) {
  const TableTransform transform =
      TableTransform::fit(parse_table("f,x,y\n0,1,2.5\n1,2,3.5\n0,3,4.5\n1,4,5.5\n"), "y");
  const Dataset data = transform.inputs(parse_table("f,x\n2,1\n1,2\n", "r"));
  EXPECT_EQ(vector_of(data.inputs()[0].data)[0], 0.5F) << "as a missing value";
  EXPECT_EQ(data.info().notes,
            std::vector<std::string>{
                "1 value of 'r' in column 'f' is unknown to the model, such as '2'"});
  const TableTransform words =
      TableTransform::fit(parse_table("f,x,y\nF,1,2.5\nT,2,3.5\nF,3,4.5\n"), "y");
  EXPECT_FALSE(words.inputs(parse_table("f,x\nN,1\n", "r")).info().notes.empty()) << "F is not N";
  EXPECT_TRUE(words.inputs(parse_table("f,x\nt,1\n", "r", {.header = true})).info().notes.empty());
}

TEST(TableTransform, FewRowsAreReadAsTheTrainingRows) {
  const auto inputs = [](const TableTransform& transform, const std::string& text) {
    return vector_of(
        transform.inputs(parse_table(text, "r", transform.reading())).inputs()[0].data);
  };
  std::string text = "x;y\n";
  for (int i = 0; i < 9; ++i) text += fmt::format("{}.717;{},5\n", i + 1, i);
  const TableTransform grouped = TableTransform::fit(parse_table(text + "674;9,5\n"), "y");
  EXPECT_EQ(inputs(grouped, "x;z\n1.717;1\n"), inputs(grouped, "x;z\n1717;1\n"));
  const TableTransform percent =
      TableTransform::fit(parse_table("x;y\n12 %;1.5\n15 %;2.5\n9 %;1.5\n"), "y");
  EXPECT_EQ(inputs(percent, "x;z\n12 %;1\n"), inputs(percent, "x;z\n12;1\n"));
  const TableTransform plain = TableTransform::fit(parse_table("x,y\n1,1.5\n2,2.5\n4,1.5\n"), "y");
  EXPECT_EQ(message_of([&] { inputs(plain, "x,z\n1 %,1\n"); }),
            "'r', row 1 (line 2), column 'x': expected a finite number; got '1 %'");
}

TEST(TableTransform, TargetsFarFromZeroKeepTheirDigits) {
  std::string text = "x,t,u\n";
  for (int i = 0; i < 8; ++i) text += fmt::format("{},{}.25,{}.5\n", i % 5, 1700000000 + i, i);
  const Table table = parse_table(text);
  const TableTransform transform = TableTransform::fit(table, "t", {.ignore = {"u"}});
  const std::vector<double> offsets = transform.target_offsets();
  ASSERT_EQ(offsets.size(), 1U);
  const std::vector<float> values = vector_of(transform.transform(table).targets()[0].data);
  for (int i = 0; i < 8; ++i) {
    EXPECT_NEAR(offsets[0] + values[static_cast<std::size_t>(i)], 1700000000.25 + i, 1e-6);
  }
  EXPECT_EQ(TableTransform::from_json(transform.to_json()).target_offsets(), offsets);
  const TableTransform two = TableTransform::fit(table, {"t", "u"});
  EXPECT_EQ(two.target_offsets(), (std::vector<double>{offsets[0], 0}));
  EXPECT_EQ(TableTransform::from_json(two.to_json()).target_offsets(), two.target_offsets());
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
  const auto expect_same = [&](const TableTargets& target, const TableTransformOptions& options) {
    const TableTransform transform = TableTransform::fit(table, target, options);
    const TableTransform read = TableTransform::from_json(transform.to_json());
    EXPECT_EQ(read.to_json(), transform.to_json());
    EXPECT_EQ(vector_of(read.inputs(table).inputs()[0].data),
              vector_of(transform.inputs(table).inputs()[0].data));
    EXPECT_EQ(read.target_stds(), transform.target_stds());
  };
  expect_same("species", {.most_one_hot = 1});
  expect_same("age", {.most_one_hot = 1});
  expect_same({"age", "weight"}, {.missing = MissingValues::most_frequent});
  for (const Scaling scaling : {Scaling::min_max, Scaling::robust, Scaling::quantile}) {
    expect_same("species", {.missing = MissingValues::interpolate, .scaling = scaling});
  }
}

/// As the first version wrote it.
const char* const kVersion1 =
    R"({"version":1,"header":true,"missing":["?","NA"],"columns":["size","member","colour","town",)"
    R"("seen","kind","price"],"inputs":[{"kind":"number","column":"size","mean":4.5,"std":2,)"
    R"("fill":4.5,"indicator":true},{"kind":"boolean","column":"member","fill":0.25,"indicator":)"
    R"(false},{"kind":"category","column":"colour","categories":["blue","red"],"missing":true,)"
    R"("embedded":false},{"kind":"category","column":"town","categories":["t0","t1"],"missing":)"
    R"(false,"embedded":true},{"kind":"date","column":"seen","order":"year_first","mean":19900,)"
    R"("std":100,"fill":19900,"times":false,"indicator":false}],"target":)";

TEST(TableTransform, ReadsTheFirstVersion) {
  const Table rows = parse_table(
      "size,member,colour,town,seen,kind,price\n6.5,yes,red,t1,2024-06-26,b,3\n"
      ",?,,other,2024-06-26,a,5\n");
  const TableTransform value = TableTransform::from_json(
      std::string(kVersion1) + R"({"kind":"value","column":"price","mean":106.5,"std":22}})");
  EXPECT_EQ(value.target_means(), (std::vector<double>{106.5}));
  EXPECT_EQ(value.target_stds(), (std::vector<double>{22}));
  const Dataset data = value.transform(rows);
  const std::vector<float> x = vector_of(data.column("numbers").data);
  EXPECT_EQ(std::vector<float>(x.begin(), x.begin() + 8),
            (std::vector<float>{1, 0, 1, 0, 0, 1, 0, 0}));
  EXPECT_EQ(std::vector<float>(x.begin() + 12, x.begin() + 20),
            (std::vector<float>{0, 1, 0.25, 0, 0, 0, 1, 0}));
  EXPECT_EQ(vector_of<std::int32_t>(data.column("categories").data),
            (std::vector<std::int32_t>{2, 0}));
  EXPECT_EQ(vector_of(data.targets()[0].data), (std::vector<float>{3, 5}));
  const TableTransform classes = TableTransform::from_json(
      std::string(kVersion1) + R"({"kind":"classes","column":"kind","classes":["a","b"]}})");
  EXPECT_EQ(vector_of<std::int32_t>(classes.transform(rows).targets()[0].data),
            (std::vector<std::int32_t>{1, 0}));
}

/// The numbers of a column "x" as samples hold them, fitted on others.
std::vector<float> scaled(const std::string& fitted, const std::string& rows,
                          const TableTransformOptions& options) {
  const TableTransform transform =
      TableTransform::fit(parse_table("x,y\n" + fitted, "t"), "y", options);
  return vector_of(
      transform.inputs(parse_table("x\n" + rows, "r", {.header = true})).column("numbers").data);
}

TEST(TableTransform, ScalesAsScikitLearn) {
  const std::string fitted = "1,1.5\n2,2.5\n2,1.5\n3,2.5\n10,3.5\n-4,4.5\n100,5.5\n2.5,2.5\n";
  const std::string rows = "0\n2\n5\n1000\n-4\n-50\n2.75\n";
  const auto expect = [&](Scaling scaling, const std::vector<float>& wanted) {
    const std::vector<float> got = scaled(fitted, rows, {.scaling = scaling});
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], wanted[i], 1e-6 * (1 + std::abs(wanted[i]))) << "row " << i;
    }
  };
  // StandardScaler, MinMaxScaler, RobustScaler and QuantileTransformer(n_quantiles=8,
  // output_distribution="normal") of scikit-learn 1.9; log1p is StandardScaler of signed
  // logarithms.
  expect(Scaling::standard, {-0.448243553F, -0.386682207F, -0.294340187F, 30.3324296F,
                             -0.571366246F, -1.98727721F, -0.363596702F});
  expect(Scaling::min_max, {0.0384615385F, 0.0576923077F, 0.0865384615F, 9.65384615F, 0,
                            -0.442307692F, 0.0649038462F});
  expect(Scaling::robust, {-0.75F, -0.0833333333F, 0.916666667F, 332.583333F, -2.08333333F,
                           -17.4166667F, 0.166666667F});
  expect(Scaling::quantile, {-1.20404696F, -0.366106357F, 0.690633454F, 5.19933758F, -5.19933758F,
                             -5.19933758F, 0.366106357F});
  expect(Scaling::log1p, {-0.841822288F, -0.165092592F, 0.261876309F, 3.41387335F, -1.83321337F,
                          -3.2637715F, -0.0276393069F});
}

TEST(TableTransform, ColumnsHaveScalingsOfTheirOwn) {
  const Table table = parse_table("a,b,c,y\n1,10,u,1.5\n3,20,v,2.5\n5,60,u,3.5\n", "t");
  const TableTransform transform = TableTransform::fit(
      table, "y", {.scaling = Scaling::robust, .column_scaling = {{"2", Scaling::min_max}}});
  const std::vector<float> x = vector_of(transform.inputs(table).inputs()[0].data);
  EXPECT_EQ(x[0], -1);
  EXPECT_EQ(x[1], 0);
  EXPECT_FLOAT_EQ(x[x.size() / 3 + 1], 0.2F);
  EXPECT_EQ(message_of([&] {
              TableTransform::fit(table, "y", {.column_scaling = {{"c", Scaling::log1p}}});
            }),
            "the column 'c' of 't' is of the type category; scalings are for numbers");
  EXPECT_EQ(message_of([&] {
              TableTransform::fit(table, "y", {.column_scaling = {{"y", Scaling::log1p}}});
            }),
            "the target 'y' is always standardised; scalings are for inputs");
}

TEST(TableTransform, AColumnOfEqualQuartilesIsScaled) {
  const std::string fitted = "0,1.5\n0,2.5\n0,1.5\n0,2.5\n0,3.5\n1000,4.5\n";
  EXPECT_LT(scaled(fitted, "1000\n", {.scaling = Scaling::robust})[0], 3);
}

TEST(TableTransform, MissingValuesAreFilled) {
  const std::string fitted = "1,1.5\n2,2.5\n2,1.5\n7,2.5\n7,2.5\n,3.5\n";
  const auto fill = [&](MissingValues missing) {
    return scaled(fitted, "?\n", {.missing = missing, .scaling = Scaling::min_max})[0];
  };
  EXPECT_FLOAT_EQ(fill(MissingValues::mean), 2.8F / 6);
  EXPECT_FLOAT_EQ(fill(MissingValues::median), 1.0F / 6);
  EXPECT_FLOAT_EQ(fill(MissingValues::most_frequent), 1.0F / 6) << "of several the least";
  EXPECT_FLOAT_EQ(fill(MissingValues::interpolate), 2.8F / 6) << "no row has a number";
  // Each row has a number and an indicator.
  EXPECT_EQ(scaled("0,1.5\n,1.5\n8,2.5\n,3.5\n", "NA\n4\nNA\nNA\n1\nNA\n",
                   {.missing = MissingValues::interpolate, .scaling = Scaling::min_max}),
            (std::vector<float>{0.5F, 1, 0.5F, 0, 0.375F, 1, 0.25F, 1, 0.125F, 0, 0.125F, 1}));
}

TEST(TableTransform, AMissingCategoryIsTheMostFrequentOne) {
  const Table table = parse_table("c,y\na,1.5\na,2.5\nb,3.5\nb,4.5\nb,4.5\n,5.5\n", "t");
  const TableTransform transform =
      TableTransform::fit(table, "y", {.missing = MissingValues::most_frequent});
  EXPECT_EQ(transform.feature_names(), (std::vector<std::string>{"c unknown", "c=a", "c=b"}));
  EXPECT_EQ(
      vector_of(
          transform.inputs(parse_table("c\n?\nz\n", "r", {.header = true})).column("numbers").data),
      (std::vector<float>{0, 0, 1, 1, 0, 0}));
}

TEST(TableTransform, NoveltiesHaveNoTarget) {
  const Table table = parse_table("x,c\n1,p\n2,q\n3,p\n4,q\n", "t");
  const TableTransform fitted = TableTransform::fit(table, {}, {.target = TableTarget::novelty});
  EXPECT_EQ(fitted.input_columns(), (std::vector<std::string>{"x", "c"}));
  EXPECT_EQ(fitted.targets(), (std::vector<std::string>{"novelty"}));
  const TableTransform read = TableTransform::from_json(fitted.to_json());
  EXPECT_EQ(read.target_kind(), TableTarget::novelty);
  const Dataset data = read.transform(parse_table("c,x\nq,7\np,8\n", "rows"));
  EXPECT_EQ(data.targets()[0].name, "novelty");
  EXPECT_EQ(vector_of(data.targets()[0].data), (std::vector<float>{0, 0}));
  EXPECT_EQ(message_of([&] { TableTransform::fit(table, "x", {.target = TableTarget::novelty}); }),
            "a novelty is learned of all columns, without a target; got 'x'");
}

TEST(TableTransform, SeveralTargets) {
  const Table table = parse_table(
      "x,hot,wet,t,p\n1,yes,no,10,100\n2,no,no,20,300\n3,yes,yes,30,500\n4,no,yes,20,300\n", "t");
  const TableTransform values = TableTransform::fit(table, {"t", "5"}, {.ignore = {"hot", "wet"}});
  EXPECT_EQ(values.targets(), (std::vector<std::string>{"t", "p"}));
  EXPECT_EQ(values.target_kind(), TableTarget::value);
  EXPECT_EQ(values.target_means(), (std::vector<double>{20, 300}));
  EXPECT_EQ(values.input_columns(), (std::vector<std::string>{"x"}));
  const Dataset data = values.transform(table);
  EXPECT_EQ(data.targets()[0].name, "targets");
  EXPECT_EQ(vector_of(data.targets()[0].data),
            (std::vector<float>{10, 100, 20, 300, 30, 500, 20, 300}));
  const TableTransform labels = TableTransform::fit(table, {"wet", "hot"}, {.ignore = {"t", "p"}});
  EXPECT_EQ(labels.target_kind(), TableTarget::labels);
  EXPECT_EQ(labels.classes(), (std::vector<std::string>{"wet", "hot"}));
  EXPECT_EQ(vector_of(labels.transform(table).targets()[0].data),
            (std::vector<float>{0, 1, 0, 0, 1, 1, 1, 0}));
  const Table bare = parse_table("1,2\n", "r", {.header = false});
  EXPECT_EQ(message_of([&] { values.inputs(bare); }),
            "'r' has 2 columns; the model learned from 5, 2 targets among them");
  const auto error = [&](const TableTargets& targets, TableTarget kind = TableTarget::automatic) {
    return message_of([&] { TableTransform::fit(table, targets, {.target = kind}); });
  };
  EXPECT_EQ(error({"hot", "t"}),
            "several targets are all numbers or all booleans; the target 'hot' of 't' is of the "
            "type boolean, 't' of the type integer");
  EXPECT_EQ(error({"hot", "wet"}, TableTarget::classes),
            "one class of several is learned of one target column; got 2 columns");
  EXPECT_EQ(error({"hot", "hot"}), "the target 'hot' is named twice");
  EXPECT_EQ(error({}), "name the target column of 't'");
  EXPECT_EQ(message_of(
                [&] { labels.transform(parse_table("x,hot,wet\n1,yes,maybe\n2,no,no\n", "r")); }),
            "'r', row 1 (line 2), column 'wet': expected a label of 0 or 1; got 'maybe'");
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
  EXPECT_NE(error("\"version\":5", "\"version\":6"), "");
  EXPECT_NE(error("\"range\":[", "\"range\":[1,"), "");
  EXPECT_NE(error("\"scale\":1.1", "\"scale\":-1.1"), "");
  EXPECT_NE(error("\"column\":\"age\"", "\"column\":\"agf\""), "");
  EXPECT_NE(error("\"column\":\"age\"", "\"column\":\"sex\""), "");
  EXPECT_NE(error("\"kind\":\"number\"", "\"kind\":\"numbers\""), "");
  EXPECT_NE(error("[\"cat\",\"dog\"]", "[]"), "");
  EXPECT_NE(error("[\"cat\",\"dog\"]", "[\"cat\",\"cat\"]"), "");
  EXPECT_NE(error("[\"cat\",\"dog\"]", "[1]"), "");
  EXPECT_NE(error("\"inputs\"", "\"outputs\""), "");
  const std::string quantiles =
      TableTransform::fit(parse_table(kRows), "species", {.scaling = Scaling::quantile}).to_json();
  for (const char* wrong : {"[4.0,3.0]", "3.0", "[1.0,\"x\"]"}) {
    std::string text = quantiles;
    const std::size_t at = text.find("\"quantiles\":[") + 12;
    text.replace(at, text.find(']', at) + 1 - at, wrong);
    EXPECT_NE(message_of([&] { TableTransform::from_json(text); }), "") << wrong;
  }
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

TEST(TableTransform, NamesCategoriesThatAreUnknown) {
  std::string text = "c,many,x,y\n";
  for (int i = 0; i < 120; ++i)
    text += fmt::format("{},m{},{}.5,{}\n", "ab"[i % 2], i % 40, i, i * i);
  const TableTransform transform = TableTransform::fit(parse_table(text), "y");
  ASSERT_EQ(transform.id_columns(), 1);
  const Table rows = parse_table("c,many,x,y\nA,m1,1,1\nb,m40,2,2\nB,m41,3,3\n,m2,4,4\n", "t");
  const std::vector<std::string> notes{
      "2 values of 't' in column 'c' are unknown to the model, such as 'A'",
      "2 values of 't' in column 'many' are unknown to the model, such as 'm40'"};
  EXPECT_EQ(transform.inputs(rows).info().notes, notes);
  EXPECT_EQ(transform.transform(rows).info().notes, notes);
  EXPECT_TRUE(transform.inputs(parse_table(text)).info().notes.empty());
}

TEST(TableTransform, NamesNumbersAndDatesThatTheTrainingHadNot) {
  std::string text = "x,when,y\n";
  for (int i = 0; i < 100; ++i)
    text += fmt::format("{},2024-{:02}-01,{}.5\n", i * 37 % 100, 1 + i % 11, i);
  const TableTransform fitted = TableTransform::fit(parse_table(text), "y");
  const TableTransform transform = TableTransform::from_json(fitted.to_json());
  // The range is 305 days: a date within 30 of its ends is not far.
  const Table rows = parse_table(
      "x,when,y\n0,2024-11-30,1\n99,2023-12-03,1\n,,1\n-7,2023-11-30,1\n1e3,2031-05-01,1\n", "t");
  const std::vector<std::string> notes{
      "2 values of 't' in column 'x' are outside the training's range, 0 to 99, such as -7",
      "2 values of 't' in column 'when' are far from the training's dates, 2024-01-01 to "
      "2024-11-01, such as 2023-11-30"};
  EXPECT_EQ(transform.inputs(rows).info().notes, notes);
  EXPECT_TRUE(transform.inputs(parse_table(text)).info().notes.empty());
  nlohmann::json damaged = nlohmann::json::parse(fitted.to_json());
  damaged["inputs"][1]["range"] = {0, 1e300};
  EXPECT_EQ(message_of([&] { TableTransform::from_json(damaged.dump()); }),
            "its table transform: the column 'when' has dates within 10000000 days of 1970-01-01; "
            "got 1e+300");
}

TEST(TableTransform, NamesFiveColumnsOfValuesOutsideTheTraining) {
  const std::string names = "a,b,c,d,e,f,g,y\n";
  const TableTransform transform =
      TableTransform::fit(parse_table(names + "2,2,2,2,2,2,2,0.5\n4,5,6,7,8,4,5,9.5\n"), "y");
  const Dataset rows = transform.inputs(parse_table(names + "9,9,9,9,9,9,9,1\n", "t"));
  ASSERT_EQ(rows.info().notes.size(), 6U);
  EXPECT_EQ(rows.info().notes.back(),
            "2 further columns of 't' have values outside the training's range, too");
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
      "learn; give it a type if that is wrong; 'y' counts the rows: --type 'y=integer' reads it as "
      "numbers");
  EXPECT_EQ(error("x,y\n1,2024-01-01\n2,2024-01-02\n", "y"),
            "the target 'y' of 't' is a date; expected a category or a number");
  EXPECT_EQ(
      error("x,y\n1,2.5\n1,3.5\n", "y"),
      "'t' has no column to learn from: all but the target are constants, identifiers or left "
      "out");
  std::string line = "x,y\n";
  for (int i = 0; i < 25; ++i) line += fmt::format("{},{}.5\n", i + 1, 2 * i * i);
  EXPECT_EQ(error(line, "y"),
            "'t' has no column to learn from: all but the target are constants, identifiers or "
            "left out; 'x' counts the rows: --type 'x=integer' reads it as numbers");
  EXPECT_EQ(error("x,y\n1,2.5\ninf,3.5\n", "y"),
            "'t', row 2 (line 3), column 'x': expected a finite number; got 'inf'");
  EXPECT_EQ(error("x,y\n1,2.5e25\n2,3.5e25\n", "y"),
            "the target 'y' of 't' has the mean 3e+25 and the std 5e+24, whose squares 32-bit "
            "numbers do not hold; expected a std from 1e-18 to 1e+18: change its unit, or look for "
            "wrong values");
  EXPECT_TRUE(error("x,y\n1,2.5e-25\n2,3.5e-25\n", "y").starts_with("the target 'y' of 't' has"));
  std::string typing = "x,y\n";
  for (int i = 0; i < 30; ++i) {
    typing += fmt::format("{}.5,{}\n", i % 4, i == 9 ? "soon" : std::to_string(i * i));
  }
  EXPECT_EQ(
      error(typing, "y"),
      "the target 'y' of 't' is an identifier, another value in each row: there is nothing to "
      "learn; give it a type if that is wrong; the values of 'y' are read as texts, since "
      "line 11 holds 'soon': 29 of its 30 different values are numbers "
      "(--missing-text reads a text as a missing value)");
  EXPECT_EQ(error("size,y\n1,2.5\n2,3.5\n", "siz"),
            "'t' has no column 'siz'; did you mean 'size'?");
}

}  // namespace
}  // namespace linnet::test
