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

struct PredictorOptions {
  bool probabilities = false;  ///< as Model::predict_probabilities() gives them
  /// Sizes of batches that are prepared at once, so that the first prediction of each is as fast as
  /// the hundredth; others are prepared when they are asked for.
  std::vector<std::int64_t> batches = {};
  DType dtype = DType::f32;  ///< of the first input's samples in `batches`
};

/// A sample's class: the one with the largest output.
struct Classified {
  std::string label;  ///< its name, or its number where the model knows no names
  float probability = 0;
};

/// Inference that stays prepared: for every batch size (and type of samples) that it is asked for,
/// a program is made once and kept, with memory of its own; on a GPU its launches are captured in a
/// graph. The weights are the model's own, which it shares: what trains or sets them is seen by the
/// next prediction. It takes turns with every other use of the model.
///
/// Samples are f32 or u8, or i32 where the network takes ids; outputs are f32.
///
/// Threads may call predict() at the same time: each gets a program of its own, which is kept. On
/// the CPU they run side by side where the model computes on one thread (ModelOptions::threads),
/// otherwise in turns, all threads on each; on a GPU in turns. Nothing else is thread-safe.
class Predictor {
 public:
  /// Throws Error for probabilities where the loss of the training knows none, and for batches that
  /// can't be prepared.
  explicit Predictor(const Model& model, const PredictorOptions& options = {});
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;
  ~Predictor();

  Shape input_shape() const;   ///< of a sample; of the first input
  Shape output_shape() const;  ///< of a sample; of the first output

  /// Predicts samples (N, input_shape()) and writes outputs (N, output_shape()), both in host
  /// memory, which is used during the call alone. N is a batch size: predictions of other sizes
  /// prepare other programs. On the CPU nothing is copied, and nothing allocated once a size is
  /// prepared. Waits for the device. Throws Error for other types and shapes, which it names, for
  /// read-only outputs, for memory of a GPU, and for a network of several inputs.
  void predict(const Tensor& samples, Tensor outputs) const;
  /// The same; returns the outputs in memory of their own.
  Tensor predict(const Tensor& samples) const;

  /// The class of each of N samples, e.g. of load_image(). Throws Error as predict() does, for a
  /// model that does not tell classes apart (Model::answers()), and naming a sample whose outputs
  /// are not finite.
  std::vector<Classified> classify(const Tensor& samples) const;
  /// The same of every input, by name: of networks of several, and of sequences with lengths.
  std::vector<Classified> classify(const State& inputs) const;

  /// predict() for networks of several inputs and outputs, by name: takes every input, as many
  /// samples of each, and writes the outputs that `outputs` names. Throws Error as predict() does,
  /// for names that the network lacks or that are missing among the inputs, and naming a sequence
  /// whose length (an input "NAME.lengths") is not from 1 to its steps.
  void predict(const State& inputs, const State& outputs) const;
  /// The same; returns every output in memory of its own, in the network's order.
  State predict(const State& inputs) const;

  /// Memory of the model's device that run() reads samples from, (batch, input_shape()), and writes
  /// outputs to, (batch, output_shape()). A call returns the same memory each time. It stays good
  /// without the predictor and the model; to_host() waits for what was enqueued. Throws Error for
  /// other types, and where a batch does not fit.
  Tensor input(std::int64_t batch, DType dtype = DType::f32);
  Tensor output(std::int64_t batch, DType dtype = DType::f32);
  /// Makes samples (N, input_shape()) in the memory of the model's device the input of run(N,
  /// dtype): read where they lie, and kept, until another input is set; input(N, dtype) itself is
  /// the one that run() begins with. Waits for the device if it gives one up. A GPU captures its
  /// graph again for memory that is new: alternate as little as possible. Throws Error for another
  /// device, type or shape, and changes nothing then.
  void set_input(const Tensor& samples);
  /// Predicts what lies in the input. A GPU has it only enqueued then, behind all that this model
  /// was asked before; other streams' work on the input must have ended.
  void run(std::int64_t batch, DType dtype = DType::f32);
  /// Until everything enqueued is done.
  void wait() const;

  PredictorState& state() { return *state_; }

 private:
  std::unique_ptr<PredictorState> state_;
};

}  // namespace linnet
LINNET_API_END
