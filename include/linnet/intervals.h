// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>
#include <linnet/model.h>
#include <linnet/tensor.h>

#include <cstdint>
#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

// Prediction intervals by split conformal prediction (Papadopoulos et al., 2002; Lei et al., 2018):
// a model's absolute errors on n samples that it did not learn from say how wide an interval around
// a prediction has to be. The half-width for the coverage c is the ceil((n + 1) c)-th smallest
// error. If a new sample is drawn as these n were, its true value lies in the interval with a
// probability of at least c, whatever the model and the distribution of the errors. Each number of
// an output has its own half-width (each step of a forecast, too), and its interval holds by
// itself, not together with the others. The weights of samples are not used.

/// Holds how far one output of a network was from its targets.
struct OutputErrors {
  std::string output = {};  ///< name of the output
  /// The sorted values of |output - target| of each number of a sample's output, row-major: all n
  /// of them where they are few, else m of them, evenly by rank: the ceil(i n / m)-th smallest, i =
  /// 1 to m. At least 1 and at most 1000.
  std::vector<std::vector<double>> quantiles = {};

  /// Returns whether all fields are equal.
  bool operator==(const OutputErrors&) const = default;
};

/// Holds a model's errors on samples that it did not learn from.
struct HeldOutErrors {
  std::int64_t samples = 0;                ///< samples that were measured; 0: none
  std::vector<OutputErrors> outputs = {};  ///< of each output that has a target

  /// Returns whether all fields are equal.
  bool operator==(const HeldOutErrors&) const = default;
};

/// Measures a model's errors on samples that its training did not use for its gradients, e.g. the
/// validation set, and keeps them in the model: Model::save(), Model::copy() and prediction
/// intervals use them. A later training clears them, since they are those of other weights. Waits.
/// Throws Error for a model that doesn't predict values, and for more than 1024 numbers a sample;
/// DataError for data that do not fit the network or have no samples.
void calibrate_intervals(Model& model, const Dataset& held_out, std::int64_t batch = 256);

/// Returns the errors that a model keeps; without samples where it has none.
const HeldOutErrors& held_out_errors(const Model& model);
/// Sets the errors that a model keeps; those without samples and outputs remove them. Throws Error
/// unless they belong to outputs of the network and are finite, sorted and at least 0.
void set_held_out_errors(Model& model, HeldOutErrors errors);

/// Returns the half-width of each number's interval, row-major over a sample of an output.
/// `output`: its name; empty: the first one. Throws Error for a coverage that is not between 0 and
/// 1, for one that needs more samples than were measured (c / (1 - c) of them), and for a model
/// without errors.
std::vector<double> interval_half_widths(const Model& model, double coverage,
                                         const std::string& output = {});

/// Holds predictions with their intervals.
struct PredictedIntervals {
  Tensor value;  ///< the first output, f64 (N, outputs...)
  Tensor low;    ///< lower ends, f64 (N, outputs...)
  Tensor high;   ///< upper ends, f64 (N, outputs...)
};

/// Returns the network's first output for every sample as Model::predict() does, with the interval
/// around each number. Waits. Throws as Model::predict() and interval_half_widths() do.
PredictedIntervals predict_intervals(Model& model, const Dataset& data, double coverage,
                                     std::int64_t batch = 256);

}  // namespace linnet
LINNET_API_END
