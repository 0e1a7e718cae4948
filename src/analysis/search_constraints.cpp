// SPDX-License-Identifier: Apache-2.0
#include "analysis/search_constraints.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "describe/nearest.h"
#include "table/values.h"

namespace linnet {
namespace {

/// Returns the category on the right of "island = Biscoe" or "island != Biscoe".
std::string category_of(const ConstraintSides& sides, const std::string& text,
                        const SearchColumn& column) {
  require(sides.relation == "=" || sides.relation == "!=",
          "the column '{}' is not a number: '{}' can take = and !=", column.name, text);
  const std::string value = plain_name(sides.right);
  require(std::ranges::count(column.choices, value) > 0,
          "the column '{}' never has the value '{}'; expected {}", column.name, value,
          listed(column.choices));
  return value;
}

/// Fixes or forbids a category: "island = Biscoe". False where the constraint is about something
/// else.
bool apply_category(const std::string& text, std::vector<SearchColumn>& columns) {
  const ConstraintSides sides = sides_of(text);
  const auto column = std::ranges::find(columns, plain_name(sides.left), &SearchColumn::name);
  if (column == columns.end() || column->choices.empty()) return false;
  const std::string value = category_of(sides, text, *column);
  std::erase_if(column->choices, [&](const std::string& choice) {
    return (choice == value) == (sides.relation == "!=");
  });
  require(!column->choices.empty(), "the constraint '{}' leaves no value of the column '{}'", text,
          column->name);
  return true;
}

/// Reads "count(x1, x2, x3) <= 2" into `counts`. Returns false where the constraint is about
/// something else.
bool read_count(const std::string& text, const std::vector<SearchColumn>& columns,
                std::vector<CountConstraint>& counts) {
  constexpr std::string_view kCount = "count(";
  const ConstraintSides sides = sides_of(text);
  const std::size_t begin = sides.left.find_first_not_of(' ');
  if (begin == std::string::npos || !sides.left.substr(begin).starts_with(kCount)) return false;
  const std::size_t end = sides.left.rfind(')');
  const std::optional<double> most = number_of(plain_name(sides.right), '.');
  require(end != std::string::npos && end + 1 == sides.left.size() && sides.relation == "<=" &&
              most && *most >= 0 && std::isfinite(*most) && *most == std::floor(*most),
          "expected count(COLUMN, ...) <= a whole number; got '{}'", text);
  const double all = static_cast<double>(columns.size());
  CountConstraint one{.most = static_cast<std::size_t>(std::min(*most, all))};
  std::vector<std::string> names;
  for (const SearchColumn& column : columns) names.push_back(column.name);
  bool quoted = false;
  std::string name;
  for (std::size_t i = begin + kCount.size(); i <= end; ++i) {
    const char c = sides.left[i];
    quoted = quoted != (c == '"');
    if (i < end && (quoted || c != ',')) {
      name += c;
      continue;
    }
    const auto found = std::ranges::find(names, plain_name(name));
    require(found != names.end(), "the constraint '{}' counts '{}', which is not a column{}", text,
            plain_name(name), did_you_mean(plain_name(name), names));
    const auto variable = static_cast<std::size_t>(found - names.begin());
    require(std::ranges::count(one.variables, variable) == 0,
            "the constraint '{}' counts '{}' twice", text, *found);
    one.variables.push_back(variable);
    name.clear();
  }
  counts.push_back(std::move(one));
  return true;
}

/// Leaves out columns that are always 0. Throws where one that is counted is never 0.
void check_counts(std::vector<CountConstraint>& counts, const std::vector<SearchColumn>& columns) {
  for (CountConstraint& one : counts) {
    for (const std::size_t variable : one.variables) {
      const SearchColumn& of = columns[variable];
      require(of.choices.empty() && of.low <= 0 && of.high >= 0,
              "count() needs columns of numbers that can be 0; '{}' {}", of.name,
              of.choices.empty() ? fmt::format("is searched from {} to {}", of.low, of.high)
                                 : "is not a number");
    }
    std::erase_if(one.variables, [&](std::size_t v) { return columns[v].low == columns[v].high; });
  }
  std::erase_if(counts, [](const CountConstraint& one) { return one.variables.empty(); });
}

/// Reads an equation or inequality of columns and outputs. `text`: the constraint that it is part
/// of.
LinearConstraint read_linear(const ConstraintSides& sides, const std::string& text,
                             const std::vector<SearchColumn>& columns,
                             const std::vector<std::string>& names) {
  require(sides.relation != "!=", "the constraint '{}' needs a column of categories before !=",
          text);
  LinearConstraint one{.text = text, .expression = linear_expression(sides.left, names)};
  one.expression.add(linear_expression(sides.right, names), -1);
  if (sides.relation == ">=") {
    LinearExpression negated;
    one.expression = negated.add(one.expression, -1);
  }
  one.equal = sides.relation == "=";
  for (const auto& [variable, coefficient] : one.expression.terms) {
    require(variable >= columns.size() || columns[variable].choices.empty(),
            "the constraint '{}' computes with the column '{}', which is not a number", text,
            names[variable]);
  }
  require(!one.expression.terms.empty(), "the constraint '{}' has no column and no output", text);
  return one;
}

/// Splits "a <= 1 or a >= 3" at each "or" between two relations and outside of quotes:
/// "c = rock or pop" stays whole.
std::vector<std::string> alternatives_of(const std::string& text) {
  constexpr std::string_view kOr = " or ";
  std::vector<std::string> parts{""};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    quoted = quoted != (text[i] == '"');
    const bool splits = !quoted && std::string_view(text).substr(i).starts_with(kOr) &&
                        parts.back().find_first_of("<>=") != std::string::npos &&
                        text.find_first_of("<>=", i) != std::string::npos;
    if (splits) {
      parts.emplace_back();
      i += kOr.size() - 2;  // the last blank may begin the next one
    } else {
      parts.back() += text[i];
    }
  }
  return parts;
}

/// Returns whether the expression can be as the constraint says while its columns are in range.
bool can_be_met(const LinearConstraint& one, const std::vector<SearchColumn>& columns) {
  double least = one.expression.constant;
  double most = one.expression.constant;
  double span = std::abs(one.expression.constant);
  for (const auto& [variable, coefficient] : one.expression.terms) {
    if (variable >= columns.size()) return true;
    const SearchColumn& of = columns[variable];
    const bool number = of.choices.empty();
    const double low = number ? of.low : 0;
    const double high = number ? of.high : static_cast<double>(of.choices.size()) - 1;
    least += coefficient * (coefficient > 0 ? low : high);
    most += coefficient * (coefficient > 0 ? high : low);
    span += std::abs(coefficient) * std::max(std::abs(low), std::abs(high));
  }
  const double rounding = 1e-9 * span;
  return least <= rounding && (!one.equal || most >= -rounding);
}

/// Reads one of several alternatives. That of a category becomes an equation of its number, and one
/// that excludes a category an alternative for each other one. `all`: the columns before any
/// constraint narrowed them.
void read_alternative(const std::string& part, const std::string& text,
                      const std::vector<SearchColumn>& all,
                      const std::vector<SearchColumn>& columns,
                      const std::vector<std::string>& names,
                      std::vector<LinearConstraint>& alternatives) {
  std::vector<CountConstraint> counts;
  require(!read_count(part, columns, counts),
          "the constraint '{}' has count() as an alternative; expected equations and inequalities",
          text);
  const ConstraintSides sides = sides_of(part);
  const auto column = std::ranges::find(columns, plain_name(sides.left), &SearchColumn::name);
  if (column == columns.end() || column->choices.empty()) {
    alternatives.push_back(read_linear(sides, text, columns, names));
    return;
  }
  const auto variable = static_cast<std::size_t>(column - columns.begin());
  const std::string value = category_of(sides, text, all[variable]);
  for (std::size_t i = 0; i < column->choices.size(); ++i) {
    if ((column->choices[i] == value) != (sides.relation == "=")) continue;
    alternatives.push_back(
        {.text = text,
         .expression = {.terms = {{variable, 1.0}}, .constant = -static_cast<double>(i)},
         .equal = true});
  }
}

/// A constraint of one column narrows its range. Throws where nothing is left.
void narrow_ranges(std::vector<LinearConstraint>& constraints, std::vector<SearchColumn>& columns) {
  std::erase_if(constraints, [&](const LinearConstraint& one) {
    const auto& [variable, coefficient] = *one.expression.terms.begin();
    if (one.expression.terms.size() != 1 || variable >= columns.size()) return false;
    SearchColumn& column = columns[variable];
    const double bound = -one.expression.constant / coefficient;
    const double low = column.low;
    const double high = column.high;
    if (one.equal || coefficient < 0) column.low = std::max(low, bound);
    if (one.equal || coefficient > 0) column.high = std::min(high, bound);
    if (column.integer) {
      column.low = std::ceil(column.low - 1e-9);
      column.high = std::floor(column.high + 1e-9);
    }
    require(column.low <= column.high,
            "the constraint '{}' leaves no value of the column '{}', which is searched from {} to "
            "{}",
            one.text, column.name, low, high);
    return true;
  });
}

}  // namespace

void read_constraints(const std::vector<std::string>& texts, const std::vector<std::string>& names,
                      std::vector<SearchColumn>& columns, InputSearch::Problem& problem) {
  const std::vector<SearchColumn> all = columns;
  std::vector<std::pair<std::string, std::vector<std::string>>> choices;  // text and its parts
  for (const std::string& text : texts) {
    std::vector<std::string> parts = alternatives_of(text);
    if (parts.size() > 1) {
      choices.emplace_back(text, std::move(parts));
    } else if (!read_count(text, columns, problem.counts) && !apply_category(text, columns)) {
      problem.constraints.push_back(read_linear(sides_of(text), text, columns, names));
    }
  }
  narrow_ranges(problem.constraints, columns);
  check_counts(problem.counts, columns);
  // Last, since they speak of the categories that are left, by their numbers.
  for (const auto& [text, parts] : choices) {
    std::vector<LinearConstraint> alternatives;
    for (const std::string& part : parts) {
      read_alternative(part, text, all, columns, names, alternatives);
    }
    std::erase_if(alternatives, [&](const auto& one) { return !can_be_met(one, columns); });
    require(!alternatives.empty(),
            "the constraint '{}' leaves no values: the searched ranges meet none of its "
            "alternatives",
            text);
    problem.choices.push_back(std::move(alternatives));
  }
}

}  // namespace linnet
