// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace linnet {

/// A sum of variables with coefficients, and a constant.
struct LinearExpression {
  std::map<std::size_t, double> terms = {};  ///< coefficient by variable
  double constant = 0;

  double value(std::span<const double> variables) const;
  LinearExpression& add(const LinearExpression& other, double factor);
};

/// `expression` <= 0, or = 0.
struct LinearConstraint {
  std::string text = {};
  LinearExpression expression = {};
  bool equal = false;
};

/// The sides of a constraint with what stands between: "<=", ">=", "=" or "!=". Throws Error where
/// there is not exactly one; '<' and '>' are read as "<=" and ">=", "==" as "=".
struct ConstraintSides {
  std::string left = {};
  std::string relation = {};
  std::string right = {};
};
ConstraintSides sides_of(const std::string& text);

/// Text without blanks around it and without double quotes.
std::string plain_name(const std::string& text);

/// Reads "3*x1 - (x2 + 1)/2". Throws Error for what cannot be read, for products of variables, and
/// for a name that is none of `names`, with the nearest one.
LinearExpression linear_expression(const std::string& text, const std::vector<std::string>& names);

}  // namespace linnet
