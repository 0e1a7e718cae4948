// SPDX-License-Identifier: Apache-2.0
// The search of inputs, on networks set by hand whose optima are known.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/expression.h>
#include <linnet/functions.h>
#include <linnet/layers.h>
#include <linnet/optimize_inputs.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "analysis/input_search.h"
#include "analysis/linear_expression.h"
#include "message_of.h"
#include "table/transform_record.h"

namespace linnet::test {
namespace {

using linnet::testing::message_of;

/// a and b from -10 to 10, n whole from 0 to 6, c one of p, q, r.
Table points() {
  std::string text = "a,b,n,c,y\n";
  for (int i = 0; i <= 40; ++i) {
    text += fmt::format("{:.1f},{:.1f},{},{},{:.2f}\n", -10 + 0.5 * i, -10 + 0.5 * (i * 7 % 41),
                        i % 7, "pqr"[i % 3], 0.1 * i + 0.01);
  }
  return parse_table(text, "points");
}

/// y = (a - 3)^2 + (b + 2)^2 + (n - 4.4)^2 + [c is p: 5, q: 0, r: 2].
Model bowl() {
  const TableTransform transform = TableTransform::fit(points(), "y");
  FunctionalNetwork functional;
  const auto features = static_cast<std::int64_t>(transform.feature_names().size());
  const Expression x = functional.input("numbers", {features});
  // Four columns: a - 3, b + 2, n - 4.4 and what c costs, from standardised features.
  const Expression columns = x | Dense{.units = 4, .name = "columns"};
  Model model(functional.build({{"output", square(columns) | Dense{.units = 1, .name = "sum"}}}),
              {.device = "cpu", .threads = 1});
  std::vector<float> weights(4 * static_cast<std::size_t>(features));
  std::vector<float> bias{-3, 2, -4.4F, 0};
  std::size_t first = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const TableInput& input = transform.record().inputs[i];
    if (const auto* number = std::get_if<NumberInput>(&input)) {
      weights[i * static_cast<std::size_t>(features) + first] = static_cast<float>(number->scale);
      bias[i] += static_cast<float>(number->center);
    } else {
      for (const auto& [place, cost] : {std::pair{1, 5.0F}, {2, 0.0F}, {3, 2.0F}}) {
        weights[i * static_cast<std::size_t>(features) + first + static_cast<std::size_t>(place)] =
            std::sqrt(cost);
      }
    }
    first += static_cast<std::size_t>(width_of(input));
  }
  const auto set = [&](const std::string& name, std::vector<float> values) {
    model.set_parameter(name, Tensor(std::move(values), model.parameter_shape(name)));
  };
  set("columns.weight", weights);
  set("columns.bias", bias);
  set("sum.weight", {1, 1, 1, 1});
  set("sum.bias", {0});
  model.set_table(transform);
  return model;
}

OptimizeResult found(Model& model, OptimizeOptions options) {
  return optimize_inputs(model, search_columns(model, points()), options);
}

OptimizeOptions minimum(std::vector<std::string> constraints = {}) {
  OptimizeOptions options;
  options.goals.push_back({.kind = SearchGoal::Kind::minimize, .of = "y"});
  options.constraints = std::move(constraints);
  return options;
}

double number(const OptimizeResult& result, std::size_t column) {
  return std::stod(result.best.at(0).inputs.at(column));
}

TEST(OptimizeInputs, SearchColumnsAreThoseOfTheRows) {
  Model model = bowl();
  const std::vector<SearchColumn> columns = search_columns(model, points());
  ASSERT_EQ(columns.size(), 4U);
  EXPECT_EQ(columns[0].low, -10);
  EXPECT_EQ(columns[0].high, 10);
  EXPECT_FALSE(columns[0].integer);
  EXPECT_TRUE(columns[2].integer);
  EXPECT_EQ(columns[3].choices, (std::vector<std::string>{"p", "q", "r"}));
}

TEST(OptimizeInputs, SearchColumnsAreThoseOfTheTrainingRows) {
  Model model = bowl();
  const std::vector<SearchColumn> given = search_columns(model, points());
  const std::vector<SearchColumn> known = search_columns(model);
  ASSERT_EQ(known.size(), given.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    EXPECT_EQ(known[i].name, given[i].name);
    EXPECT_EQ(known[i].low, given[i].low);
    EXPECT_EQ(known[i].high, given[i].high);
    EXPECT_EQ(known[i].integer, given[i].integer);
    EXPECT_EQ(known[i].choices, given[i].choices);
  }
  // An older file does not know the ranges.
  nlohmann::json older = nlohmann::json::parse(model.table().to_json());
  older["version"] = 2;
  for (auto& input : older["inputs"]) {
    input.erase("range");
    input.erase("integer");
  }
  model.set_table(TableTransform::from_json(older.dump()));
  EXPECT_EQ(message_of([&] { search_columns(model); }),
            "an older version wrote the model, which does not say between which values 'a' lies; "
            "search with a table of rows");
  EXPECT_EQ(search_columns(model, points())[0].high, 10);
  older["inputs"][0]["range"] = {2, 1};
  EXPECT_EQ(message_of([&] { TableTransform::from_json(older.dump()); }),
            "its table transform: expected the least and the largest value of the column 'a', in "
            "order");
}

TEST(OptimizeInputs, FindsTheBottomOfABowl) {
  Model model = bowl();
  const OptimizeResult result = found(model, minimum());
  ASSERT_EQ(result.best.size(), 1U);
  EXPECT_NEAR(number(result, 0), 3, 1e-2);
  EXPECT_NEAR(number(result, 1), -2, 1e-2);
  EXPECT_EQ(result.best[0].inputs[2], "4");
  EXPECT_EQ(result.best[0].inputs[3], "q");
  EXPECT_NEAR(result.best[0].goals[0], 0.16, 1e-3);
  EXPECT_EQ(result.columns[2], "n");
  EXPECT_EQ(result.outputs, std::vector<std::string>{"y"});
}

TEST(OptimizeInputs, EqualSeedsGiveEqualResults) {
  Model model = bowl();
  OptimizeOptions options = minimum();
  options.generations = 3;
  const auto inputs = [&](std::uint64_t seed) {
    options.seed = seed;
    return found(model, options).best[0].inputs;
  };
  EXPECT_EQ(inputs(1), inputs(1));
  EXPECT_NE(inputs(1), inputs(2));
}

TEST(OptimizeInputs, MeetsConstraintsOfInputs) {
  Model model = bowl();
  // The nearest point of a + b = 5 to (3, -2) is (5, 0).
  const OptimizeResult equal = found(model, minimum({"a + b = 5"}));
  EXPECT_NEAR(number(equal, 0), 5, 0.02);
  EXPECT_NEAR(number(equal, 0) + number(equal, 1), 5, 1e-6);
  // Where a <= -1 and 2 b >= 3, the corner is best.
  const OptimizeResult bounds = found(model, minimum({"a<=-1", "2*b >= 3", "n < 2", "c != q"}));
  EXPECT_NEAR(number(bounds, 0), -1, 1e-3);
  EXPECT_NEAR(number(bounds, 1), 1.5, 1e-3);
  EXPECT_EQ(bounds.best[0].inputs[2], "2");
  EXPECT_EQ(bounds.best[0].inputs[3], "r");
  // The plane a - b <= 1 cuts the bottom off: the nearest point to (3, -2) is (1, 0).
  const OptimizeResult plane = found(model, minimum({"a - b <= 1", "c = p"}));
  EXPECT_NEAR(number(plane, 0), 1, 0.02);
  EXPECT_NEAR(number(plane, 1), 0, 0.02);
  EXPECT_NEAR(plane.best[0].goals[0], 8 + 0.16 + 5, 0.01);
}

TEST(OptimizeInputs, MeetsConstraintsOfCounts) {
  Model model = bowl();
  // Of a = 0, b = 0 and n = 0, which cost 9, 4 and 19.36, the last costs most.
  const OptimizeResult one = found(model, minimum({"count(a, b, n) <= 1"}));
  EXPECT_EQ(one.best[0].inputs[0], "0");
  EXPECT_EQ(one.best[0].inputs[1], "0");
  EXPECT_EQ(one.best[0].inputs[2], "4");
  const OptimizeResult two = found(model, minimum({"count(\"a\", b, n) <= 2"}));
  EXPECT_NEAR(number(two, 0), 3, 0.02);
  EXPECT_EQ(two.best[0].inputs[1], "0");
  const OptimizeResult any = found(model, minimum({"count(a, b, n) <= 1e300"}));
  EXPECT_NE(number(any, 0) * number(any, 1) * number(any, 2), 0);
  // A column that is always 0 is not counted.
  const OptimizeResult fixed = found(model, minimum({"a = 0", "count(a, b, n) <= 1"}));
  EXPECT_EQ(number(fixed, 1), 0);
  EXPECT_EQ(number(fixed, 2), 4);
  const OptimizeResult both = found(model, minimum({"a + b = 5", "count(a, b) <= 1"}));
  EXPECT_NEAR(number(both, 0), 5, 1e-6);
  EXPECT_EQ(both.best[0].inputs[1], "0");
}

TEST(OptimizeInputs, NoPointBreaksACount) {
  // From few numbers that are not 0, whose repair by the sum alone makes three of them.
  InputSearch::Problem problem;
  for (int i = 0; i < 3; ++i) problem.variables.push_back({.low = 0, .high = 3, .integer = true});
  LinearConstraint sum{.text = "a + b + c = 5", .expression = {}, .equal = true};
  sum.expression = {.terms = {{0, 1}, {1, 1}, {2, 1}}, .constant = -5};
  problem.constraints.push_back(sum);
  problem.counts.push_back({.variables = {0, 1, 2}, .most = 2});
  problem.goals.push_back({.of = {.terms = {{3, 1}}}});
  std::ptrdiff_t fewest_zeros = 3;
  problem.outputs = [&](const std::vector<std::vector<double>>& points) {
    std::vector<std::vector<double>> outputs;
    for (const std::vector<double>& point : points) {
      fewest_zeros = std::min(fewest_zeros, std::ranges::count(point, 0.0));
      outputs.push_back({point[0]});
    }
    return outputs;
  };
  InputSearch search(std::move(problem), 200, 1);
  const std::vector<SearchPoint> best = search.run(1);
  EXPECT_GE(fewest_zeros, 1);
  EXPECT_EQ(best.at(0).inputs.at(1) + best.at(0).inputs.at(2), 5);
}

TEST(OptimizeInputs, MeetsOneOfSeveralAlternatives) {
  Model model = bowl();
  // The bottom, a = 3, lies in a gap: the nearer edge is best.
  const OptimizeResult left = found(model, minimum({"a < 1 or a > 6"}));
  EXPECT_NEAR(number(left, 0), 1, 1e-3);
  EXPECT_NEAR(left.best[0].goals[0], 4 + 0.16, 0.01);
  const OptimizeResult right = found(model, minimum({"a <= -6 or a >= 4 or 2*a = 12"}));
  EXPECT_NEAR(number(right, 0), 4, 1e-3);
  // Another constraint forbids the nearer one.
  EXPECT_NEAR(number(found(model, minimum({"a <= 1 or a >= 6", "a >= 2"})), 0), 6, 1e-3);
  const OptimizeResult corner = found(model, minimum({"a <= 0 or a >= 9", "a + b >= 13"}));
  EXPECT_NEAR(number(corner, 0), 9, 0.02);
  EXPECT_NEAR(number(corner, 1), 4, 0.02);
}

TEST(OptimizeInputs, AlternativesSpeakOfCategoriesAndOutputsToo) {
  Model model = bowl();
  // p costs 5 and r 2; a = 4 costs 1, and a = 1 costs 4.
  const OptimizeResult number_wins = found(model, minimum({"c = p or a >= 4"}));
  EXPECT_EQ(number_wins.best[0].inputs[3], "q");
  EXPECT_NEAR(number(number_wins, 0), 4, 1e-3);
  EXPECT_EQ(found(model, minimum({"a <= -1 or c = p"})).best[0].inputs[3], "p");
  EXPECT_EQ(found(model, minimum({"c != q or a <= 1"})).best[0].inputs[3], "r");
  EXPECT_NEAR(number(found(model, minimum({"c != r", "c = r or a <= 1"})), 0), 1, 1e-3);
  OptimizeOptions options;
  options.goals.push_back({.kind = SearchGoal::Kind::minimize, .of = "a"});
  options.constraints = {"y <= 4.16 or a >= 4"};  // a circle of radius 2 around a = 3
  const OptimizeResult circle = found(model, options);
  EXPECT_NEAR(number(circle, 0), 1, 0.05);
  EXPECT_LE(circle.best[0].outputs[0], 4.16);
}

TEST(OptimizeInputs, MeetsConstraintsOfOutputs) {
  Model model = bowl();
  OptimizeOptions options;
  options.goals.push_back({.kind = SearchGoal::Kind::maximize, .of = "a"});
  options.constraints = {"y <= 4.16"};  // a circle of radius 2 around (3, -2)
  const OptimizeResult circle = found(model, options);
  EXPECT_NEAR(number(circle, 0), 5, 0.05);
  EXPECT_LE(circle.best[0].outputs[0], 4.16);
  options.constraints = {"y = 20"};
  const OptimizeResult equal = found(model, options);
  EXPECT_NEAR(equal.best[0].outputs[0], 20, 0.2);
  options.constraints.clear();
  options.goals = {{.kind = SearchGoal::Kind::target, .of = "y", .value = 30}};
  EXPECT_NEAR(found(model, options).best[0].goals[0], 30, 1e-3);
}

TEST(OptimizeInputs, TwoGoalsGiveAParetoFront) {
  Model model = bowl();
  OptimizeOptions options = minimum({"b = -2", "n = 4", "c = q"});
  options.goals.push_back({.kind = SearchGoal::Kind::minimize, .of = "a"});
  const OptimizeResult result = found(model, options);
  ASSERT_GT(result.best.size(), 20U);
  // y = (a - 3)^2 + 0.16: the front is a from -10 to 3.
  EXPECT_NEAR(result.best.front().goals[1], 3, 0.1);
  EXPECT_NEAR(result.best.back().goals[1], -10, 0.1);
  for (std::size_t i = 0; i < result.best.size(); ++i) {
    const std::vector<double>& goals = result.best[i].goals;
    EXPECT_NEAR(goals[0], std::pow(goals[1] - 3, 2) + 0.16, 1e-3);
    if (i > 0) {
      EXPECT_LT(goals[1], result.best[i - 1].goals[1]);
    }
  }
}

TEST(OptimizeInputs, WhatCannotBeMetIsAClearError) {
  Model model = bowl();
  const auto error = [&](std::vector<std::string> constraints) {
    OptimizeOptions options = minimum(std::move(constraints));
    options.generations = 5;
    return message_of([&] { found(model, options); });
  };
  EXPECT_EQ(error({"a >= 11"}),
            "the constraint 'a >= 11' leaves no value of the column 'a', which is searched from "
            "-10 to 10");
  EXPECT_EQ(error({"a >= 2", "a <= 1"}),
            "the constraint 'a <= 1' leaves no value of the column 'a', which is searched from 2 "
            "to 10");
  EXPECT_EQ(error({"a + b >= 30"}),
            "no inputs were found that meet all constraints: the nearest ones miss 'a + b >= 30' "
            "by 10");
  EXPECT_TRUE(error({"y <= -1"})
                  .starts_with("no inputs were found that meet all constraints: the nearest ones "
                               "miss 'y <= -1' by "));
  EXPECT_EQ(error({"c = s"}), "the column 'c' never has the value 's'; expected p, q or r");
  EXPECT_EQ(error({"c <= p"}), "the column 'c' is not a number: 'c <= p' can take = and !=");
  EXPECT_EQ(error({"c + a <= 1"}),
            "the constraint 'c + a <= 1' computes with the column 'c', which is not a number");
  EXPECT_EQ(error({"a * b <= 1"}), "'a * b' is not linear: it multiplies two names");
  EXPECT_EQ(error({"yy <= 1"}),
            "'yy' names 'yy', which is neither a column of numbers nor an output; expected a, b, "
            "n, c or y");
  EXPECT_EQ(error({"a + b"}), "the constraint 'a + b' has 0 of <=, >=, = and !=; expected one");
  EXPECT_EQ(error({"1 <= 2"}), "the constraint '1 <= 2' has no column and no output");
  EXPECT_EQ(error({"count(a, d) <= 1"}),
            "the constraint 'count(a, d) <= 1' counts 'd', which is not a column");
  EXPECT_EQ(error({"count(a, b) >= 1"}),
            "expected count(COLUMN, ...) <= a whole number; got 'count(a, b) >= 1'");
  EXPECT_EQ(error({"count(a, c) <= 1"}),
            "count() needs columns of numbers that can be 0; 'c' is not a number");
  EXPECT_EQ(error({"a >= 1", "count(a, b) <= 1"}),
            "count() needs columns of numbers that can be 0; 'a' is searched from 1 to 10");
  for (const char* one : {"count(a, b) + n <= 2", "count(a, b) <= inf"}) {
    EXPECT_EQ(error({one}),
              fmt::format("expected count(COLUMN, ...) <= a whole number; got '{}'", one));
  }
  EXPECT_EQ(error({"count(a, b, a) <= 1"}),
            "the constraint 'count(a, b, a) <= 1' counts 'a' twice");
  EXPECT_EQ(error({"a >= 11 or a <= -11"}),
            "the constraint 'a >= 11 or a <= -11' leaves no values: the searched ranges meet none "
            "of its alternatives");
  EXPECT_EQ(error({"a >= 2 or count(a, b) <= 1"}),
            "the constraint 'a >= 2 or count(a, b) <= 1' has count() as an alternative; expected "
            "equations and inequalities");
  EXPECT_EQ(
      error({"a >= 2 or b"}),
      "'2 or b' names 'or', which is neither a column of numbers nor an output; expected a, b, "
      "n, c or y");
  EXPECT_EQ(error({"c = p or q"}),
            "the column 'c' never has the value 'p or q'; expected p, q or r");
  EXPECT_EQ(error({"c = s or a <= 1"}),
            "the column 'c' never has the value 's'; expected p, q or r");
  EXPECT_TRUE(error({"y <= -1 or y >= 1e9"})
                  .starts_with("no inputs were found that meet all constraints: the nearest ones "
                               "miss 'y <= -1 or y >= 1e9' by "));
  OptimizeOptions none;
  EXPECT_EQ(message_of([&] { found(model, none); }),
            "expected one goal, or two for a Pareto front; got 0");
}

TEST(LinearExpression, IsReadAsItIsWritten) {
  const std::vector<std::string> names{"x1", "x2", "body mass", "größe"};
  const std::vector<double> at{2, 3, 5, 7};
  const auto value = [&](const std::string& text) {
    return linear_expression(text, names).value(at);
  };
  EXPECT_EQ(value("3*x1 - (x2 + 1)/2"), 4);
  EXPECT_EQ(value(" -x1 + 2 x2"), 4);
  EXPECT_EQ(value("2e1*x1 - -1.5"), 41.5);
  EXPECT_EQ(value("\"body mass\" * 2 + größe"), 17);
  EXPECT_EQ(value("body mass"), 5);
  EXPECT_EQ(value("2*(x1 + 3*(x2 - 1))"), 16);
  EXPECT_EQ(message_of([&] { value("x1 / x2"); }), "'x1 / x2' is not linear: it divides by a name");
  EXPECT_EQ(message_of([&] { value("x1 +"); }),
            "'x1 +' ends where a number or a name was expected");
  EXPECT_EQ(message_of([&] { value(" "); }),
            "a side of a condition, or a goal, is empty; expected a linear expression such as 3*x1 "
            "- x2");
  EXPECT_EQ(message_of([&] { value("x1 ) 2"); }),
            "cannot read 'x1 ) 2' at ') 2'; expected a linear expression such as 3*x1 - x2");
  EXPECT_EQ(message_of([&] { value("\"x1"); }), "'\"x1' has a quote without an end");
  EXPECT_EQ(message_of([&] { value(fmt::format("{:(>200}", "")); }),
            fmt::format("'{:(>200}' has more than 100 parentheses in each other", ""));
}

}  // namespace
}  // namespace linnet::test
