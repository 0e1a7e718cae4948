// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/lbfgs.h>
#include <linnet/state.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace linnet {

/// Returns the value at x and writes its gradient. May round x: then it is that of the rounded x.
using Differentiable = std::function<double(std::span<double> x, std::span<double> gradient)>;

/// The newest steps of L-BFGS: an estimate of the inverse Hessian.
class LbfgsMemory {
 public:
  /// Where names of save() begin.
  static constexpr std::string_view kPrefix = "lbfgs/";

  /// Steps and changes of the gradient, f64 (steps, variables), the oldest first.
  void save(State& state) const;
  /// Returns what save() has written; empty where there is nothing of it. Throws Error for anything
  /// else.
  static LbfgsMemory of(const State& state);

  bool empty() const { return pairs_.empty(); }
  void clear() { pairs_.clear(); }
  /// Forgets all of another number of variables, and the oldest beyond `most` steps.
  void limit(std::size_t variables, std::size_t most);
  /// Leaves out a step that would spoil the estimate.
  void add(std::vector<double> step, std::vector<double> change);
  /// Minus the estimate times the gradient, by the two-loop recursion (Nocedal and Wright, 7.4).
  std::vector<double> direction(const std::vector<double>& gradient) const;

 private:
  struct Pair {
    std::vector<double> step;
    std::vector<double> change;  ///< of the gradient
    double rho;
  };
  std::deque<Pair> pairs_;
};

/// Minimises `f` from x on; x is the lowest point then, where `f` was evaluated last. Goes on with
/// what `memory` remembers, and leaves there what it has found. Throws Error for options out of
/// range, and for a value or gradient at x that is not finite.
Minimum minimize(const Differentiable& f, std::vector<double>& x, const LBFGS& options,
                 LbfgsMemory& memory);
inline Minimum minimize(const Differentiable& f, std::vector<double>& x, const LBFGS& options) {
  LbfgsMemory memory;
  return minimize(f, x, options, memory);
}

}  // namespace linnet
