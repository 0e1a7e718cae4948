// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/model.h>
#include <linnet/state.h>
#include <linnet/tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace linnet {
struct PredictorState;
}

LINNET_API_BEGIN
namespace linnet {

/// Says what a Predictor prepares.
struct PredictorOptions {
  bool probabilities = false;  ///< outputs probabilities, as Model::predict_probabilities() does
  /// Batch sizes that the constructor prepares, so that the first prediction of each is as fast as
  /// the hundredth. Other sizes are prepared by the first prediction that has them.
  std::vector<std::int64_t> batches = {};
  DType dtype = DType::f32;  ///< type of the first input's samples in `batches`: f32, u8 or i32
};

/// Holds the predicted class of one sample: the one with the largest output.
struct Classified {
  std::string label;      ///< class name, or the label's number where the model has no names
  float probability = 0;  ///< probability of the class, in [0, 1]
};

/// Predicts with programs that stay prepared: one for every batch size (and type of samples), made
/// at its first use and kept, with its own memory; on a GPU its launches are captured in a graph.
/// The weights are the model's, so the next prediction uses what training or set_weights() wrote. A
/// prediction takes turns with every other use of the model.
///
/// Samples are f32 or u8, or i32 where the network takes ids; outputs are f32. Of a model of
/// Precision::fp64 samples may be f64, too, and outputs are.
///
/// predict() and classify() may be called from several threads at once: each call gets its own
/// program, which is kept. On the CPU they run in parallel where the model computes on one thread
/// (ModelOptions::threads), else in turns, all threads on each; on a GPU in turns. No other
/// function is thread-safe.
class Predictor {
 public:
  /// Prepares the batch sizes of `options`: compiles and allocates. Throws Error for probabilities
  /// where the training's loss gives none and for a batch below 1, and OutOfMemory.
  explicit Predictor(const Model& model, const PredictorOptions& options = {});
  Predictor(Predictor&&) noexcept;  ///< Moves; then the other one can only be assigned to.
  Predictor& operator=(
      Predictor&&) noexcept;  ///< Moves; then the other one can only be assigned to.
  ~Predictor();

  /// Returns the shape of one sample of the first input.
  Shape input_shape() const;
  /// Returns the shape of one sample of the first output.
  Shape output_shape() const;

  /// Predicts samples (N, input_shape()) and writes outputs (N, output_shape()), both in host
  /// memory that is only used during the call. N is the batch size; the first call for it compiles
  /// and allocates. On the CPU nothing is copied, and later calls allocate nothing. Waits. Throws
  /// Error for other types and shapes, which it names, for read-only outputs, for memory of a GPU,
  /// and for a network of several inputs.
  void predict(const Tensor& samples, Tensor outputs) const;
  /// Returns the outputs of samples (N, input_shape()), in newly allocated memory. Waits, and
  /// throws as the form above does.
  Tensor predict(const Tensor& samples) const;

  /// Returns the class of each of N samples, e.g. of load_image(). Waits. Throws Error as predict()
  /// does, for a model that does not classify (Model::answers()), and naming a sample whose outputs
  /// are not finite.
  std::vector<Classified> classify(const Tensor& samples) const;
  /// Returns the class of each of N samples, from every input by name: for networks of several
  /// inputs, and for sequences with lengths. Waits. Throws as the form above does.
  std::vector<Classified> classify(const State& inputs) const;

  /// Predicts from every input by name, N samples of each, and writes the outputs that `outputs`
  /// names. Waits. Throws Error as the form for one input does, for unknown names, for missing
  /// inputs, and naming a sequence whose length (an input "NAME.lengths") is not from 1 to its
  /// steps.
  void predict(const State& inputs, const State& outputs) const;
  /// Returns every output by name, in the network's order and newly allocated memory. Waits, and
  /// throws as the form above does.
  State predict(const State& inputs) const;

  /// Returns the memory on the model's device that run(batch, dtype) reads samples from, (batch,
  /// input_shape()); the same one in each call. It stays valid without the predictor and the model;
  /// its to_host() waits for what was enqueued. Throws Error for a type that the network does not
  /// take, and OutOfMemory.
  Tensor input(std::int64_t batch, DType dtype = DType::f32);
  /// Returns the memory on the model's device that run(batch, dtype) writes outputs to, (batch,
  /// output_shape()), f32. The notes of input() apply.
  Tensor output(std::int64_t batch, DType dtype = DType::f32);
  /// Sets samples (N, input_shape()) in the memory of the model's device as the input of run(N,
  /// dtype), without a copy. They are kept until another input is set; initially the input is
  /// input(N, dtype). Waits where it replaces an input. A GPU captures its graph again for new
  /// memory, so alternate as little as possible. Throws Error for another device, type or shape,
  /// and changes nothing then.
  void set_input(const Tensor& samples);
  /// Predicts the samples in the input. On the CPU the outputs are ready when it returns. On a GPU
  /// the prediction is only enqueued, after all earlier work of the model; work of other streams on
  /// the input must have ended.
  void run(std::int64_t batch, DType dtype = DType::f32);
  /// Waits until everything that was enqueued is done.
  void wait() const;

  /// @cond
  // For the library.
  PredictorState& state() { return *state_; }
  /// @endcond

 private:
  std::unique_ptr<PredictorState> state_;
};

}  // namespace linnet
LINNET_API_END
