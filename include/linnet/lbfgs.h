// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>

#include <cstdint>
#include <string_view>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Describes a minimisation by L-BFGS over all samples at once (Liu and Nocedal, "On the limited
/// memory BFGS method for large scale optimization", 1989), with a line search for the strong Wolfe
/// conditions (Nocedal and Wright, "Numerical optimization", 2006, algorithms 3.5 and 3.6). It
/// suits small networks and data sets, since each evaluation goes through all samples.
/// Trainer::minimize() runs it; it throws Error for values out of range.
struct LBFGS {
  std::int64_t iterations = 100;  ///< largest number of line searches, at least 1
  std::int64_t history = 10;  ///< number of past steps that are kept, at least 1. SciPy's default.
  /// Largest number of loss evaluations in a line search, at least 1.
  std::int64_t evaluations = 25;
  /// Stops if no element of the gradient is larger; at least 0. SciPy's default (gtol).
  double gradient_tolerance = 1e-5;
  /// Stops if an iteration lowers the loss by less than this times max(|loss|, 1); at least 0.
  /// SciPy's default is 2.2e-9 (ftol), in double precision.
  double loss_tolerance = 1e-9;
  double sufficient_decrease = 1e-4;  ///< constant of Wolfe's first condition, in (0, curvature)
  double curvature = 0.9;             ///< constant of Wolfe's second, in (sufficient_decrease, 1)
  /// Samples computed at a time; their gradients are summed. 0: all.
  std::int64_t batch = 0;
};

/// Says why a minimisation stopped.
enum class MinimumReason : std::uint8_t {
  small_gradient,  ///< LBFGS::gradient_tolerance was reached
  small_decrease,  ///< LBFGS::loss_tolerance was reached
  iterations,      ///< LBFGS::iterations were done
  no_lower_loss,   ///< the line search found no lower loss: as low as the precision allows
};
/// Returns the reason as words, e.g. "the gradient is small".
std::string_view to_string(MinimumReason reason);

/// Reports a minimisation.
struct Minimum {
  double loss = 0;                  ///< loss after the last iteration, mean over the samples
  std::vector<double> losses = {};  ///< loss before the first iteration, and after each
  std::int64_t evaluations = 0;     ///< number of evaluations of loss and gradient
  MinimumReason reason = MinimumReason::iterations;  ///< why it stopped
};

}  // namespace linnet
LINNET_API_END
