// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>

#include <cstdint>
#include <functional>
#include <variant>

LINNET_API_BEGIN
namespace linnet {

// Learning-rate schedules: each gives a factor on the optimizer's learning rate. Unless noted, the
// factor changes with every step, and definitions are PyTorch's. They count epochs as the trainer
// does: those done before and the share of the present one, whatever the batches of each were. A
// decay ends `epochs` after the training's begin (0: where the training ends, which only fit()
// knows: Trainer::step() wants a number) and keeps its last factor from there; a warm-up counts
// among its epochs.

/// The factor is always 1.
struct Constant {};

/// The factor is multiplied by `gamma` after every `every_epochs`, counted from the training's
/// begin (StepLR).
struct StepDecay {
  /// Epochs from one change to the next, above 0; may be a fraction.
  double every_epochs = 1;
  /// At least 0. PyTorch's default.
  double gamma = 0.1;
};

/// The factor falls from 1 to `floor` along half a cosine (Loshchilov and Hutter, "SGDR: stochastic
/// gradient descent with warm restarts", 2017, without restarts; CosineAnnealingLR).
struct CosineDecay {
  /// Epochs until the factor is `floor`, at least 0; 0: as many as the training has.
  double epochs = 0;
  /// The last factor, at least 0.
  double floor = 0;
};

/// The factor falls from 1 to `floor` in equal steps (LinearLR).
struct LinearDecay {
  /// Epochs until the factor is `floor`, at least 0; 0: as many as the training has.
  double epochs = 0;
  /// The last factor, at least 0.
  double floor = 0;
};

/// The factor is floor + (1 - floor) (1 - t)^power, where t goes from 0 to 1 (PolynomialLR).
struct PolynomialDecay {
  /// Above 0; 1 is LinearDecay.
  double power = 1;
  /// Epochs until the factor is `floor`, at least 0; 0: as many as the training has.
  double epochs = 0;
  /// The last factor, at least 0.
  double floor = 0;
};

/// The factor rises from `start` to 1 and falls to `floor`, both along half a cosine (Smith and
/// Topin, "Super-convergence", 2018; OneCycleLR without cycling the momentum). The optimizer's
/// learning rate is the largest one, which PyTorch calls max_lr. After a
/// warm-up the cycle is shorter by its length.
struct OneCycle {
  /// Epochs of the cycle, at least 0; 0: as many as the training has.
  double epochs = 0;
  /// Share of the cycle in which the factor rises, in [0, 1]. PyTorch's default (pct_start).
  double rise = 0.3;
  /// The first factor, in [0, 1]. PyTorch's default (1 / div_factor).
  double start = 1.0 / 25;
  /// The last factor, in [0, 1]. PyTorch's default: 1e-4 of the first.
  double floor = 1e-4 / 25;
};

/// The factor is multiplied by `factor` where the loss has not improved for more than `patience`
/// epochs (ReduceLROnPlateau). The loss is that of the validation set, or of the test set where
/// nothing is held out, or else of the training.
struct Plateau {
  /// In (0, 1). PyTorch's default.
  double factor = 0.1;
  /// Epochs without an improvement that change nothing, at least 0. PyTorch's default.
  std::int64_t patience = 10;
  /// A loss counts as better below (1 - threshold) times the best one; in [0, 1). PyTorch's
  /// default.
  double threshold = 1e-4;
  /// The least factor, at least 0.
  double floor = 0;
};

/// A schedule of one's own: the factor of a step, from the epochs done before it (a fraction inside
/// an epoch) and the updates done before it. It is asked once a step on the thread that trains,
/// where the host runs one step at a time; a warm-up's steps are not asked for. A factor that is
/// negative or not finite throws Error.
using ScheduleFunction = std::function<double(double epoch, std::uint64_t step)>;

/// How the learning rate changes in the course of a training, e.g. CosineDecay{.floor = 0.1}.
using Schedule = std::variant<Constant, StepDecay, CosineDecay, LinearDecay, PolynomialDecay,
                              OneCycle, Plateau, ScheduleFunction>;

/// A linear rise before the schedule: the factor of step s is (s + 1) / n, where n is the number of
/// steps in `epochs` (Goyal et al., "Accurate, large minibatch SGD", 2017). Decays begin after it.
/// Before a OneCycle it rises to the cycle's first factor.
struct Warmup {
  /// At least 0; may be a fraction. 0: no warm-up.
  double epochs = 0;
};

}  // namespace linnet
LINNET_API_END
