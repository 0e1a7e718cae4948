// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>

#include <cstdint>
#include <string_view>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// L-BFGS over all samples at once (Liu and Nocedal, "On the limited memory BFGS method for large
/// scale optimization", 1989), with a line search for the strong Wolfe conditions (Nocedal and
/// Wright, "Numerical optimization", 2006, algorithms 3.5 and 3.6). For small networks and data
/// sets: each evaluation goes through all samples.
struct LBFGS {
  std::int64_t iterations = 100;  ///< at most so many line searches; at least 1
  std::int64_t history = 10;      ///< steps that are remembered, at least 1. SciPy's default.
  std::int64_t evaluations = 25;  ///< of the loss, at most, in one line search; at least 1
  /// Ends where no element of the gradient is larger; at least 0. SciPy's default (gtol).
  double gradient_tolerance = 1e-5;
  /// Ends where an iteration lowers the loss by less than this times max(|loss|, 1); at least 0.
  /// SciPy's default is 2.2e-9 (ftol), in double precision.
  double loss_tolerance = 1e-9;
  double sufficient_decrease = 1e-4;  ///< Wolfe's first condition, in (0, curvature)
  double curvature = 0.9;             ///< Wolfe's second condition, in (sufficient_decrease, 1)
  /// Samples that are computed at a time; their gradients are summed. 0: all.
  std::int64_t batch = 0;
};

/// Why a minimisation ended.
enum class MinimumReason : std::uint8_t {
  small_gradient,  ///< LBFGS::gradient_tolerance
  small_decrease,  ///< LBFGS::loss_tolerance
  iterations,      ///< LBFGS::iterations
  no_lower_loss,   ///< the line search found none: as low as the precision allows
};
/// "the gradient is small", ...
std::string_view to_string(MinimumReason reason);

/// What a minimisation came to.
struct Minimum {
  double loss = 0;
  std::vector<double> losses = {};  ///< before the first iteration, and after each
  std::int64_t evaluations = 0;     ///< of loss and gradient
  MinimumReason reason = MinimumReason::iterations;
};

}  // namespace linnet
LINNET_API_END
