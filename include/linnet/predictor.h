// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <cstdint>
#include <memory>
#include <span>

namespace linnet {

struct PredictorState;

/// Inference that stays prepared: for every batch size (and type of samples) that it is asked for,
/// a program is made once and kept, with memory of its own; on a GPU its launches are captured in a
/// graph. The weights are the model's own: what trains or sets them is seen by the next prediction.
/// The model must outlive it, and takes turns with every other use of it.
///
/// Threads may call predict() at the same time: each gets a program of its own, which is kept. On
/// the CPU they run side by side where the model computes on one thread (ModelOptions::threads),
/// otherwise in turns, all threads on each; on a GPU in turns. Nothing else is thread-safe.
class Predictor {
 public:
  /// probabilities: as Model::predict_probabilities() gives them.
  explicit Predictor(Model& model, bool probabilities = false);
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;
  ~Predictor();

  Shape input_shape() const;   ///< of a sample; of the first input
  Shape output_shape() const;  ///< of a sample; of the first output

  /// Host memory to host memory: N samples of input_shape(), row-major, to N outputs of
  /// output_shape(). N is a batch size: predictions of other sizes prepare other programs. On the
  /// CPU nothing is copied, and nothing allocated once a size is prepared. Throws Error naming the
  /// shapes where sizes disagree.
  void predict(std::span<const float> samples, std::span<float> outputs) const;
  void predict(std::span<const std::uint8_t> samples, std::span<float> outputs) const;
  void predict(std::span<const std::int32_t> samples, std::span<float> outputs) const;

  /// Device memory (on the CPU, host memory) that run() reads samples from, (batch, input_shape())
  /// of f32 or u8 (i32 where the network takes ids), and writes outputs to, (batch, output_shape())
  /// of f32. The addresses hold as long as the predictor. Throws Error for other types, and where a
  /// batch does not fit.
  void* input(std::int64_t batch, DType dtype = DType::f32);
  float* output(std::int64_t batch, DType dtype = DType::f32);
  /// Lets run() read other memory of the device than input(); null: input() again. `owner` is held
  /// as long. A GPU captures its graph again for an address that is new: alternate as little as
  /// possible.
  void set_input(std::int64_t batch, DType dtype, const void* samples,
                 std::shared_ptr<void> owner = nullptr);
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
