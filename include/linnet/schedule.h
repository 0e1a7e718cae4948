// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

// Learning-rate schedules: each gives a factor on the optimizer's learning rate. Unless noted, the
// factor changes with every step, and definitions are PyTorch's. Schedules count epochs as the
// trainer does: the finished ones and the share of the current one, whatever the batches of each
// were. A decay ends `epochs` after the training's start and keeps its last factor from there; 0
// means where the training ends, which only fit() knows, so Trainer::step() needs a number. The
// epochs of a warm-up count among them. Wrong values throw Error before the first step.

/// Keeps the factor at 1.
struct Constant {};

/// Multiplies the factor by `gamma` after every `every_epochs`, counted from the training's start
/// (StepLR).
struct StepDecay {
  /// Epochs from one change to the next, in (0, 1e9]; may be a fraction.
  double every_epochs = 1;
  /// Factor of each change, at least 0. PyTorch's default.
  double gamma = 0.1;
};

/// Lowers the factor from 1 to `floor` along half a cosine (Loshchilov and Hutter, "SGDR:
/// stochastic gradient descent with warm restarts", 2017, without restarts; CosineAnnealingLR).
struct CosineDecay {
  /// Epochs until the factor is `floor`, in [0, 1e9]; 0: all epochs of the training.
  double epochs = 0;
  /// Last factor, at least 0.
  double floor = 0;
};

/// Lowers the factor from 1 to `floor` in equal steps (LinearLR).
struct LinearDecay {
  /// Epochs until the factor is `floor`, in [0, 1e9]; 0: all epochs of the training.
  double epochs = 0;
  /// Last factor, at least 0.
  double floor = 0;
};

/// Lowers the factor as floor + (1 - floor) (1 - t)^power, where t goes from 0 to 1 (PolynomialLR).
struct PolynomialDecay {
  /// Exponent, above 0; 1 is LinearDecay. PyTorch's default.
  double power = 1;
  /// Epochs until the factor is `floor`, in [0, 1e9]; 0: all epochs of the training.
  double epochs = 0;
  /// Last factor, at least 0.
  double floor = 0;
};

/// Raises the factor from `start` to 1 and lowers it to `floor`, both along half a cosine (Smith
/// and Topin, "Super-convergence", 2018; OneCycleLR without cycling the momentum). The optimizer's
/// learning rate is the largest one, which PyTorch calls max_lr. A warm-up shortens the cycle by
/// its length.
struct OneCycle {
  /// Epochs of the cycle, in [0, 1e9]; 0: all epochs of the training.
  double epochs = 0;
  /// Share of the cycle in which the factor rises, in [0, 1]. PyTorch's default (pct_start).
  double rise = 0.3;
  /// First factor, in [0, 1]. PyTorch's default (1 / div_factor).
  double start = 1.0 / 25;
  /// Last factor, in [0, 1]. PyTorch's default: 1e-4 of the first.
  double floor = 1e-4 / 25;
};

/// Interpolates the factor linearly between knots: `factors[i]` at the place `at[i]`, and the first
/// and the last factor outside (numpy.interp; in PyTorch LambdaLR with it). The defaults are a
/// triangle. Places count from the training's start. A warm-up leads to the factor at its end.
struct Piecewise {
  /// Places of 1 to 32 knots, each in [0, 1e9] and above the one before.
  std::vector<double> at = {0, 0.3, 1};
  /// Factors at these places, as many, each at least 0.
  std::vector<double> factors = {0.04, 1, 0};
  /// Epochs at a place of 1, in [0, 1e9]; 0: all epochs of the training, of which places are
  /// shares. With 1 places are epochs.
  double epochs = 0;
};

/// Multiplies the factor by `factor` if the loss has not improved for more than `patience` epochs
/// (ReduceLROnPlateau). The loss is that of the validation set, or without one of the test set, or
/// without both of the training.
struct Plateau {
  /// Factor of each change, in (0, 1). PyTorch's default.
  double factor = 0.1;
  /// Number of epochs without an improvement before a change, at least 0. PyTorch's default.
  std::int64_t patience = 10;
  /// Smallest relative improvement: a loss is better below (1 - threshold) times the best one; in
  /// [0, 1). PyTorch's default.
  double threshold = 1e-4;
  /// Smallest factor, in [0, 1]. PyTorch's default.
  double floor = 0;
};

/// Returns the factor of a step of a custom schedule, from the epochs done before it (a fraction
/// within an epoch) and the updates done before it. The thread that trains calls it once a step,
/// and the host runs one step at a time; the steps of a warm-up do not call it. A negative or
/// non-finite factor is an Error.
using ScheduleFunction = std::function<double(double epoch, std::uint64_t step)>;

/// Describes how the learning rate changes during a training, e.g. CosineDecay{.floor = 0.1}.
using Schedule = std::variant<Constant, StepDecay, CosineDecay, LinearDecay, PolynomialDecay,
                              OneCycle, Piecewise, Plateau, ScheduleFunction>;

/// Raises the factor linearly before the schedule: step s has (s + 1) / n, where n is the number of
/// steps in `epochs` (Goyal et al., "Accurate, large minibatch SGD", 2017). Decays begin after it.
/// A warm-up before a OneCycle ends at the cycle's first factor.
struct Warmup {
  /// Length in epochs, at least 0; may be a fraction. 0: no warm-up.
  double epochs = 0;
};

}  // namespace linnet
LINNET_API_END
