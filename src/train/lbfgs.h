// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/lbfgs.h>

#include <functional>
#include <span>
#include <vector>

namespace linnet {

/// Returns the value at x and writes its gradient.
using Differentiable = std::function<double(std::span<const double> x, std::span<double> gradient)>;

/// Minimises `f` from x on; x is the lowest point then, where `f` was evaluated last. Throws Error
/// for options out of range, and for a value or gradient at x that is not finite.
Minimum minimize(const Differentiable& f, std::vector<double>& x, const LBFGS& options);

}  // namespace linnet
