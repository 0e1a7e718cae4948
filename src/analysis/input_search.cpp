// SPDX-License-Identifier: Apache-2.0
#include "analysis/input_search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "base/random.h"

namespace linnet {
namespace {

constexpr double kCrossover = 0.9;         // probability
constexpr double kCrossoverIndex = 15;     // Deb's: how near children are to their parents
constexpr double kMutationIndex = 20;      // Deb's
constexpr double kExchange = 0.2;          // probability that another variable is not 0
constexpr double kOutputTolerance = 1e-3;  // of equations, of their scale
constexpr int kRepairs = 50;               // passes over the constraints
constexpr int kAlternativeRepairs = 10;    // of them, before the next alternative is tried
constexpr int kRefinements = 200;

/// Returns the inputs, then the outputs: the variables of constraints and goals.
std::vector<double> variables_of(const SearchPoint& point) {
  std::vector<double> all = point.inputs;
  all.insert(all.end(), point.outputs.begin(), point.outputs.end());
  return all;
}

/// Deb's constraint domination.
bool dominates(const SearchPoint& a, const SearchPoint& b) {
  if (a.violation != b.violation) return a.violation < b.violation;
  if (a.violation > 0) return false;
  bool better = false;
  for (std::size_t g = 0; g < a.costs.size(); ++g) {
    if (a.costs[g] > b.costs[g]) return false;
    better = better || a.costs[g] < b.costs[g];
  }
  return better;
}

bool precedes(const SearchPoint& a, const SearchPoint& b) {
  return a.rank != b.rank ? a.rank < b.rank : a.crowding > b.crowding;
}

void rank_points(std::vector<SearchPoint>& points) {
  const std::size_t n = points.size();
  std::vector<std::size_t> dominated_by(n);
  std::vector<std::vector<std::size_t>> dominated(n);
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      if (dominates(points[i], points[k])) dominated[i].push_back(k);
      if (dominates(points[k], points[i])) ++dominated_by[i];
    }
    if (dominated_by[i] == 0) front.push_back(i);
  }
  for (std::size_t rank = 0; !front.empty(); ++rank) {
    std::vector<std::size_t> next;
    for (const std::size_t i : front) {
      points[i].rank = rank;
      points[i].crowding = 0;
      for (const std::size_t k : dominated[i]) {
        if (--dominated_by[k] == 0) next.push_back(k);
      }
    }
    for (std::size_t g = 0; g < points[0].costs.size(); ++g) {
      std::ranges::stable_sort(front, {}, [&](std::size_t i) { return points[i].costs[g]; });
      const double span = points[front.back()].costs[g] - points[front.front()].costs[g];
      for (std::size_t i = 0; i < front.size(); ++i) {
        const bool end = i == 0 || i + 1 == front.size();
        points[front[i]].crowding +=
            end        ? std::numeric_limits<double>::infinity()
            : span > 0 ? (points[front[i + 1]].costs[g] - points[front[i - 1]].costs[g]) / span
                       : 0;
      }
    }
    front = std::move(next);
  }
}

}  // namespace

InputSearch::InputSearch(Problem problem, std::size_t population, std::uint64_t seed)
    : problem_(std::move(problem)),
      population_(population),
      key_(random_key(seed, RandomStream::uniform)) {
  const std::size_t columns = problem_.variables.size();
  const auto add = [&](const std::vector<LinearConstraint>& alternatives) {
    groups_.emplace_back();
    of_inputs_.push_back(true);
    for (const LinearConstraint& one : alternatives) {
      groups_.back().push_back(constraints_.size());
      constraints_.push_back(one);
      if (one.expression.terms.rbegin()->first >= columns) of_inputs_.back() = false;
    }
  };
  for (const LinearConstraint& one : problem_.constraints) add({one});
  for (const std::vector<LinearConstraint>& alternatives : problem_.choices) add(alternatives);
  for (const LinearConstraint& one : constraints_) {
    double span = std::abs(one.expression.constant);
    for (const auto& [variable, coefficient] : one.expression.terms) {
      if (variable >= columns) continue;
      const SearchVariable& of = problem_.variables[variable];
      span += std::abs(coefficient) * std::max(std::abs(of.low), std::abs(of.high));
    }
    scales_.push_back(span > 0 ? span : 1);
    tolerances_.push_back(1e-9 * scales_.back());
  }
}

double InputSearch::uniform() {
  constexpr double kUnit = 1.0 / 9007199254740992.0;  // 2^-53
  return static_cast<double>(mix_bits(key_ + ++drawn_) >> 11) * kUnit;
}

std::size_t InputSearch::below(std::size_t count) {
  return std::min(static_cast<std::size_t>(uniform() * static_cast<double>(count)), count - 1);
}

std::vector<double> InputSearch::random_inputs() {
  std::vector<double> inputs;
  for (const SearchVariable& of : problem_.variables) {
    const double value = of.integer ? of.low + std::floor(uniform() * (of.high - of.low + 1))
                                    : of.low + uniform() * (of.high - of.low);
    inputs.push_back(std::min(value, of.high));
  }
  return inputs;
}

std::vector<double> InputSearch::child_of(const SearchPoint& a, const SearchPoint& b) {
  std::vector<double> inputs = a.inputs;
  if (uniform() < kCrossover) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (uniform() < 0.5) continue;
      if (problem_.variables[i].unordered) {
        inputs[i] = b.inputs[i];
        continue;
      }
      const double u = uniform();
      const double beta = u < 0.5 ? std::pow(2 * u, 1 / (kCrossoverIndex + 1))
                                  : std::pow(1 / (2 * (1 - u)), 1 / (kCrossoverIndex + 1));
      const double sign = uniform() < 0.5 ? 1 : -1;
      inputs[i] = 0.5 * ((1 + sign * beta) * a.inputs[i] + (1 - sign * beta) * b.inputs[i]);
    }
  }
  mutate(inputs);
  repair(inputs);
  return inputs;
}

void InputSearch::mutate(std::vector<double>& inputs) {
  const double probability = 1.0 / static_cast<double>(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const SearchVariable& of = problem_.variables[i];
    if (uniform() >= probability) continue;
    if (of.unordered) {
      inputs[i] = static_cast<double>(below(static_cast<std::size_t>(of.high) + 1));
      continue;
    }
    const double u = uniform();
    const double step = u < 0.5 ? std::pow(2 * u, 1 / (kMutationIndex + 1)) - 1
                                : 1 - std::pow(2 * (1 - u), 1 / (kMutationIndex + 1));
    inputs[i] += step * (of.high - of.low);
    if (of.integer && uniform() < 0.5) inputs[i] += step < 0 ? -1 : 1;  // small ranges too
  }
  for (const CountConstraint& one : problem_.counts) {
    if (uniform() >= kExchange) continue;
    const std::size_t from = one.variables[below(one.variables.size())];
    const std::size_t to = one.variables[below(one.variables.size())];
    const SearchVariable& of = problem_.variables[to];
    if (inputs[from] == 0 || inputs[to] != 0) continue;
    inputs[from] = 0;
    inputs[to] = of.low + uniform() * (of.high - of.low);
  }
  for (std::size_t g = problem_.constraints.size(); g < groups_.size(); ++g) {
    if (!of_inputs_[g] || uniform() >= kExchange) continue;
    project(groups_[g][below(groups_[g].size())], std::vector<bool>(inputs.size()), inputs);
  }
}

/// Sets the smallest of the variables that are too many to 0, each by its range. Returns by
/// variable whether it has to stay 0.
std::vector<bool> InputSearch::limit_counts(std::vector<double>& inputs) const {
  std::vector<bool> held(inputs.size());
  for (const CountConstraint& one : problem_.counts) {
    std::vector<std::size_t> used;
    std::ranges::copy_if(one.variables, std::back_inserter(used),
                         [&](std::size_t v) { return inputs[v] != 0; });
    std::ranges::stable_sort(used, std::greater<>(), [&](std::size_t v) {
      return std::abs(inputs[v]) / (problem_.variables[v].high - problem_.variables[v].low);
    });
    for (std::size_t i = one.most; i < used.size(); ++i) inputs[used[i]] = 0;
    if (used.size() < one.most) continue;
    for (const std::size_t v : one.variables) held[v] = held[v] || inputs[v] == 0;
  }
  return held;
}

double InputSearch::bounded(std::size_t variable, double value) const {
  const SearchVariable& of = problem_.variables[variable];
  if (of.integer) value = std::round(value);
  return std::clamp(value, of.low, of.high);
}

/// Moves to the nearest point of the constraint's plane, then makes up for what the bounds took
/// away in one variable after the other. Variables that are held stay.
void InputSearch::project(std::size_t constraint, const std::vector<bool>& held,
                          std::vector<double>& inputs) const {
  const LinearExpression& expression = constraints_[constraint].expression;
  const double excess = expression.value(inputs);
  double squares = 0;
  for (const auto& [variable, coefficient] : expression.terms) {
    if (!held[variable]) squares += coefficient * coefficient;
  }
  if (squares == 0 || excess_of(constraint, inputs) == 0) return;
  for (const auto& [variable, coefficient] : expression.terms) {
    if (held[variable]) continue;
    inputs[variable] = bounded(variable, inputs[variable] - coefficient * excess / squares);
  }
  for (const auto& [variable, coefficient] : expression.terms) {
    if (excess_of(constraint, inputs) == 0) return;
    if (held[variable]) continue;
    inputs[variable] = bounded(variable, inputs[variable] - expression.value(inputs) / coefficient);
  }
}

void InputSearch::repair(std::vector<double>& inputs) const {
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = bounded(i, inputs[i]);
  // The nearest alternative is tried first, the next one where the other constraints forbid it.
  std::vector<std::vector<std::size_t>> groups = groups_;
  for (std::size_t g = problem_.constraints.size(); g < groups.size(); ++g) {
    if (!of_inputs_[g]) continue;
    std::ranges::stable_sort(groups[g], {},
                             [&](std::size_t c) { return excess_of(c, inputs) / scales_[c]; });
  }
  for (int pass = 0; pass < kRepairs; ++pass) {
    const std::vector<bool> held = limit_counts(inputs);
    bool met = true;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (!of_inputs_[g] || excess_of(nearest_of(groups[g], inputs), inputs) == 0) continue;
      met = false;
      const auto turn = static_cast<std::size_t>(pass / kAlternativeRepairs);
      project(groups[g][turn % groups[g].size()], held, inputs);
    }
    if (met) return;
  }
  limit_counts(inputs);  // counts hold for every point, so that judge() need not look at them
}

/// How far the variables and outputs are from what a constraint allows; 0 where it is met.
double InputSearch::excess_of(std::size_t constraint, std::span<const double> all) const {
  const LinearConstraint& one = constraints_[constraint];
  const double value = one.expression.value(all);
  const double excess = one.equal ? std::abs(value) : value;
  if (std::isnan(excess)) return std::numeric_limits<double>::infinity();
  return excess <= tolerances_[constraint] ? 0 : excess;
}

std::size_t InputSearch::nearest_of(const std::vector<std::size_t>& group,
                                    std::span<const double> all) const {
  return *std::ranges::min_element(group, {},
                                   [&](std::size_t c) { return excess_of(c, all) / scales_[c]; });
}

/// What is missing to the nearest alternative, by its scale.
double InputSearch::violation_of(const std::vector<std::size_t>& group,
                                 const SearchPoint& point) const {
  const std::vector<double> all = variables_of(point);
  const std::size_t nearest = nearest_of(group, all);
  return excess_of(nearest, all) / scales_[nearest];
}

std::vector<double> InputSearch::goals_of(const SearchPoint& point) const {
  const std::vector<double> all = variables_of(point);
  std::vector<double> values;
  for (const Goal& goal : problem_.goals) values.push_back(goal.of.value(all));
  return values;
}

void InputSearch::judge(SearchPoint& point) const {
  point.costs = goals_of(point);
  for (std::size_t g = 0; g < point.costs.size(); ++g) {
    const Goal& goal = problem_.goals[g];
    if (goal.kind == SearchGoal::Kind::maximize) point.costs[g] = -point.costs[g];
    if (goal.kind == SearchGoal::Kind::target) {
      point.costs[g] = std::abs(point.costs[g] - goal.value);
    }
    // Outputs far outside the training's range may overflow; such inputs lose.
    if (std::isnan(point.costs[g])) point.costs[g] = std::numeric_limits<double>::infinity();
  }
  point.violation = 0;
  for (const auto& group : groups_) point.violation += violation_of(group, point);
}

void InputSearch::measure_scales(const std::vector<SearchPoint>& points) {
  const std::size_t columns = problem_.variables.size();
  for (std::size_t c = 0; c < constraints_.size(); ++c) {
    if (constraints_[c].expression.terms.rbegin()->first < columns) continue;
    double mean = 0;
    double squares = 0;
    for (const SearchPoint& point : points) {
      const double value = constraints_[c].expression.value(variables_of(point));
      mean += value / static_cast<double>(points.size());
      squares += value * value / static_cast<double>(points.size());
    }
    const double std = std::sqrt(std::max(squares - mean * mean, 0.0));
    if (std > 0 && std::isfinite(std)) scales_[c] = std;
    tolerances_[c] = constraints_[c].equal ? kOutputTolerance * scales_[c] : 0;
  }
}

std::vector<SearchPoint> InputSearch::evaluate(std::vector<std::vector<double>> inputs) {
  const std::vector<std::vector<double>> outputs = problem_.outputs(inputs);
  evaluations_ += std::ssize(inputs);
  std::vector<SearchPoint> points(inputs.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].inputs = std::move(inputs[i]);
    points[i].outputs = outputs[i];
    judge(points[i]);
  }
  return points;
}

void InputSearch::select(std::vector<SearchPoint>& points, std::size_t count) const {
  rank_points(points);
  std::ranges::stable_sort(points, precedes);
  points.resize(std::min(points.size(), count));
}

const SearchPoint& InputSearch::tournament(const std::vector<SearchPoint>& points) {
  const SearchPoint& a = points[below(points.size())];
  const SearchPoint& b = points[below(points.size())];
  return precedes(b, a) ? b : a;
}

/// Steps of every variable alone, and halved when none of them is better.
void InputSearch::refine(SearchPoint& best) {
  double step = 0.1;
  for (int i = 0; i < kRefinements && step > 1e-7; ++i) {
    std::vector<std::vector<double>> tried;
    for (std::size_t v = 0; v < best.inputs.size(); ++v) {
      const SearchVariable& of = problem_.variables[v];
      if (of.unordered || of.high <= of.low) continue;
      for (const double sign : {-1.0, 1.0}) {
        std::vector<double> inputs = best.inputs;
        const double length = step * (of.high - of.low);
        inputs[v] += sign * (of.integer ? std::max(length, 1.0) : length);
        repair(inputs);
        tried.push_back(std::move(inputs));
      }
    }
    if (tried.empty()) return;
    bool better = false;
    for (SearchPoint& point : evaluate(std::move(tried))) {
      if (!dominates(point, best)) continue;
      best = std::move(point);
      better = true;
    }
    if (!better) step /= 2;
  }
}

std::vector<SearchPoint> InputSearch::run(std::int64_t generations) {
  std::vector<std::vector<double>> first;
  for (std::size_t i = 0; i < population_; ++i) {
    first.push_back(random_inputs());
    repair(first.back());
  }
  std::vector<SearchPoint> points = evaluate(std::move(first));
  measure_scales(points);
  for (SearchPoint& point : points) judge(point);
  select(points, population_);
  for (std::int64_t generation = 0; generation < generations; ++generation) {
    std::vector<std::vector<double>> children;
    while (children.size() < population_) {
      const SearchPoint& a = tournament(points);
      children.push_back(child_of(a, tournament(points)));
    }
    for (SearchPoint& child : evaluate(std::move(children))) points.push_back(std::move(child));
    select(points, population_);
  }
  if (problem_.goals.size() == 1) {
    points.resize(1);
    refine(points[0]);
  } else {
    std::erase_if(points, [](const SearchPoint& point) { return point.rank > 0; });
  }
  if (points[0].violation > 0) {
    const auto& worst = *std::ranges::max_element(groups_, {}, [&](const auto& group) {
      return violation_of(group, points[0]);
    });
    const std::vector<double> all = variables_of(points[0]);
    const std::size_t nearest = nearest_of(worst, all);
    fail("no inputs were found that meet all constraints: the nearest ones miss '{}' by {:.4g}",
         constraints_[nearest].text, excess_of(nearest, all));
  }
  std::ranges::stable_sort(points, {}, [](const SearchPoint& point) { return point.costs; });
  const auto same = [](const SearchPoint& a, const SearchPoint& b) { return a.costs == b.costs; };
  points.erase(std::unique(points.begin(), points.end(), same), points.end());
  return points;
}

}  // namespace linnet
