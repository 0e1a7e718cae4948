// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/jacobian_graph.h"
#include "model/model_state.h"
#include "model/session.h"
#include "train/levenberg_marquardt/normal_equations.h"

namespace linnet {

/// A loss of mean squared errors over all samples, as a sum of squares: its value at weights, and
/// the normal equations of its residuals there.
class LeastSquares {
 public:
  /// The weights that Levenberg-Marquardt takes at most: two triangles of 0.4 GB.
  static constexpr std::size_t kMostWeights = 10'000;

  /// Adds its programs to the session, `batch` samples each, for attach(). The data must outlive
  /// it. decays: by parameter, the factor of a weight's square in the loss. Throws Error for
  /// losses, data and networks that are no sums of squares, or too large.
  LeastSquares(Session& session, ModelState& model, const StepData& data, std::int64_t samples,
               std::int64_t batch, std::vector<bool> trains, std::vector<double> decays);
  LeastSquares(const LeastSquares&) = delete;
  LeastSquares& operator=(const LeastSquares&) = delete;

  /// Allocates what evaluations need, and binds it. After the session's attach().
  void bind(Session& session);

  std::size_t unknowns() const { return layout_.unknowns; }
  /// Returns bytes of the normal equations and of the results of a batch.
  std::size_t bytes() const;
  /// Returns the samples' weights together; the samples, where they have none.
  double weight() const { return weight_; }

  /// Returns or sets the weights that train, of the model, one after the other.
  std::vector<double> weights() const;
  void set_weights(std::span<const double> weights);
  /// Returns the loss at the model's weights, with the decays: what is minimised.
  double value();
  /// Returns of the last value(): the loss and its own penalty, as other trainings report it.
  double reported() const { return reported_; }
  /// Returns the normal equations of the residuals at the model's weights, without the decays.
  NormalEquations& equations();
  /// Returns by weight the factor of its square in what is minimised.
  std::span<const double> decays() const { return decays_; }

 private:
  /// A pass with the memory of its results, by external slot, in NetworkDefinition::numbers.
  struct Bound {
    DataPass pass = {};
    std::vector<Tensor> memory = {};
    /// Returns the results' addresses, by slot; T: their type.
    template <class T>
    std::vector<const T*> addresses() const {
      std::vector<const T*> all;
      for (const Tensor& one : memory) {
        all.push_back(one.elements() > 0 ? one.as<T>().data() : nullptr);
      }
      return all;
    }
  };
  ProgramRecipe recipe(bool derivatives) const;
  void bind(Session& session, Bound& bound, const JacobianLayout& layout, std::int64_t batch);
  void check() const;
  /// Returns the factor of the square of a residual.
  double factor(std::size_t target, std::int64_t element, std::int64_t sample) const;
  /// Returns the sum of squares of one batch's residuals, from sample `first` on.
  template <class T>
  double squares(std::int64_t first, std::int64_t samples) const;
  template <class T>
  void add_rows(std::int64_t first, std::int64_t samples);
  bool in_f64() const { return computes_in_f64(model_); }

  ModelState& model_;
  const StepData& data_;
  std::int64_t samples_;
  std::int64_t batch_;             ///< of values
  std::int64_t rows_batch_;        ///< of derivatives: as `batch_`, or 1
  std::vector<bool> trains_;       ///< by parameter
  std::vector<double> decays_;     ///< by weight, with the loss's own penalty
  std::vector<double> penalties_;  ///< by weight: the loss's own penalty alone
  double weight_ = 0;
  std::vector<double> sample_weights_;  ///< empty: all are 1
  JacobianLayout value_layout_;
  JacobianLayout layout_;
  Bound values_;
  Bound derivatives_;
  std::unique_ptr<NormalEquations> equations_;
  double reported_ = 0;
};

}  // namespace linnet
