// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/optimize_inputs.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/linear_expression.h"

namespace linnet {

/// A number between two others. `unordered`: the number of a category, between which nothing lies.
struct SearchVariable {
  double low = 0;
  double high = 0;
  bool integer = false;
  bool unordered = false;
};

/// Allows at most `most` of these variables to differ from 0.
struct CountConstraint {
  std::vector<std::size_t> variables = {};
  std::size_t most = 0;
};

/// Inputs with what the model says of them.
struct SearchPoint {
  std::vector<double> inputs = {};
  std::vector<double> outputs = {};
  std::vector<double> costs = {};  ///< by goal, to be minimised
  double violation = 0;            ///< of the constraints, each by its scale; 0: all are met
  std::size_t rank = 0;            ///< of non-dominated sorting, from 0
  double crowding = 0;             ///< distance of its neighbours of the same rank
};

/// NSGA-II (Deb et al., 2002) with simulated binary crossover and polynomial mutation, constraint
/// domination, and projection onto the constraints of inputs: linear ones, counts, and the nearest
/// of several alternatives.
class InputSearch {
 public:
  struct Goal {
    LinearExpression of = {};
    SearchGoal::Kind kind = SearchGoal::Kind::minimize;
    double value = 0;
  };
  struct Problem {
    std::vector<SearchVariable> variables = {};
    std::vector<LinearConstraint> constraints = {};  ///< of variables, then outputs
    std::vector<CountConstraint> counts = {};        ///< of variables that can be 0
    /// Alternatives: of each of these, one has to be met.
    std::vector<std::vector<LinearConstraint>> choices = {};
    std::vector<Goal> goals = {};
    std::function<std::vector<std::vector<double>>(const std::vector<std::vector<double>>&)>
        outputs = {};
  };

  InputSearch(Problem problem, std::size_t population, std::uint64_t seed);

  /// The best point, or the Pareto front of two goals. Throws Error where no point meets the
  /// constraints.
  std::vector<SearchPoint> run(std::int64_t generations);
  /// The values of the goals' expressions.
  std::vector<double> goals_of(const SearchPoint& point) const;
  std::int64_t evaluations() const { return evaluations_; }

 private:
  double uniform();
  std::size_t below(std::size_t count);
  std::vector<double> random_inputs();
  std::vector<double> child_of(const SearchPoint& a, const SearchPoint& b);
  void mutate(std::vector<double>& inputs);
  void repair(std::vector<double>& inputs) const;
  std::vector<bool> limit_counts(std::vector<double>& inputs) const;
  std::vector<SearchPoint> evaluate(std::vector<std::vector<double>> inputs);
  void judge(SearchPoint& point) const;
  void measure_scales(const std::vector<SearchPoint>& points);
  void select(std::vector<SearchPoint>& points, std::size_t count) const;
  const SearchPoint& tournament(const std::vector<SearchPoint>& points);
  void refine(SearchPoint& best);
  double excess_of(std::size_t constraint, std::span<const double> all) const;
  std::size_t nearest_of(const std::vector<std::size_t>& group, std::span<const double> all) const;
  double violation_of(const std::vector<std::size_t>& group, const SearchPoint& point) const;
  void project(std::size_t constraint, const std::vector<bool>& held,
               std::vector<double>& inputs) const;
  double bounded(std::size_t variable, double value) const;

  Problem problem_;
  std::size_t population_;
  std::uint64_t key_;
  std::uint64_t drawn_ = 0;
  std::int64_t evaluations_ = 0;
  std::vector<LinearConstraint> constraints_;     // also all alternatives
  std::vector<std::vector<std::size_t>> groups_;  // places in constraints_: one has to be met
  std::vector<bool> of_inputs_;                   // by group: no outputs in it
  std::vector<double> scales_;                    // by constraint
  std::vector<double> tolerances_;                // by constraint
};

}  // namespace linnet
