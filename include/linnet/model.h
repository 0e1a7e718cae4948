// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/devices.h>
#include <linnet/export.h>
#include <linnet/network.h>
#include <linnet/state.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace linnet {
struct ModelState;
}

LINNET_API_BEGIN
namespace linnet {

/// What a model remembers of the training that made its weights; saved with them.
struct TrainingRecord {
  /// The loss of the first output: a name of loss_names(), or "custom". "": not known, before a
  /// training and in files of older versions.
  std::string loss = {};
  bool labels = false;      ///< whether that output learned from labels, not from values
  Shape sample_shape = {};  ///< of a sample in the data set, before crops; (): not known

  bool operator==(const TrainingRecord&) const = default;
};

/// What the numbers of a model's first output are, by the loss of its training.
enum class Answers : std::uint8_t {
  classes,  ///< one class of several (cross-entropy, KL divergence, focal loss of labels): softmax
  labels,   ///< labels that are independent of each other (binary cross-entropy, focal): sigmoid
  scores,   ///< one class of several, the largest; no probabilities (hinge)
  values,   ///< numbers, as they are (squared error and all others)
};

/// Of which output's element, by which input: an empty name is the first one's.
struct InputGradient {
  std::string by = {};     ///< an input of f32
  std::string of = {};     ///< an output
  std::int64_t index = 0;  ///< the element of a sample's output, counted row-major
};

struct ModelOptions {
  std::string device = "auto";  ///< "auto", "cpu", "cuda", "cuda:1" or "cuda:GPU-<uuid>"
  int threads = 0;              ///< 0: all processors that the process may use
  /// Threads to compute on, instead of `threads` of its own: models of one team share them, and
  /// take turns. A GPU needs none.
  std::shared_ptr<ThreadTeam> team = {};
  std::uint64_t seed = 0;  ///< of the initial weights
  Precision precision = Precision::automatic;
  CpuOptions cpu = {};
  CudaOptions cuda = {};
};

/// A network with weights on a device. A shared handle: copies of it are the same model, which
/// lives until the last of them goes; copy() makes another one. A move copies: no Model is ever
/// empty. Calls on one model take turns: not thread-safe.
class Model {
 public:
  /// Initialises the weights; equal seeds give equal weights on every device.
  /// Throws Error where the device is missing.
  explicit Model(Network network, ModelOptions options = {});
  /// Of a state that was built inside the library.
  explicit Model(std::shared_ptr<ModelState> state);
  Model(const Model&) noexcept = default;
  Model& operator=(const Model&) noexcept = default;

  /// A model of its own with the same weights, on the same device or as `options` say (whose seed
  /// does nothing). Waits.
  Model copy() const;
  Model copy(const ModelOptions& options) const;
  /// A model of its own with the same weights on another device, e.g. "cpu" or "cuda:1"; its other
  /// options are this one's. Throws Error where the device is missing. Waits.
  Model to(const std::string& device) const;

  /// A safetensors file: every weight by name, the network and the class names in its metadata.
  /// The file appears whole or not at all. Throws Error, e.g. where the disk is full, and for a
  /// weight that is NaN or infinite: a good file is never overwritten by ruined weights. Waits.
  void save(const std::filesystem::path& path) const;
  /// Throws Error for a file that is cut, damaged, or holds no Linnet network.
  static Model load(const std::filesystem::path& path, ModelOptions options = {});

  const Network& network() const;
  const std::string& device() const;
  int threads() const;

  /// The engines that were chosen by measurement, for all that has run so far: CpuOptions::choices
  /// of a model that is to compute the same bits. Empty without CpuOptions::tune.
  std::map<std::string, std::string> engine_choices() const;

  /// Names of the classes, if the model was trained on any; saved with the weights.
  const std::vector<std::string>& class_names() const;
  /// Throws Error for more names than the first output tells classes apart (its last axis; two for
  /// a single number), and for one that is not UTF-8. A class without a name is called by its
  /// number.
  void set_class_names(std::vector<std::string> names);

  /// The loss and the samples of the last training: train() sets it.
  const TrainingRecord& training_record() const;
  void set_training_record(TrainingRecord record);
  /// What the first output means. Where the loss is not known: what a last Softmax or Sigmoid says,
  /// else classes if there are class names, else values.
  Answers answers() const;

  /// Names of the weights and running statistics, e.g. "conv2d_1.weight".
  std::vector<std::string> parameter_names() const;
  Shape parameter_shape(const std::string& name) const;
  /// Returns a copy on the host, f32 of parameter_shape(). Waits for the device.
  Tensor parameter(const std::string& name) const;
  /// Takes values of any type, as f32. Waits. Throws Error for an unknown name or another shape.
  void set_parameter(const std::string& name, const Tensor& values);
  /// The memory that training updates and predictions read, f32, on the model's device: a weight or
  /// running statistic. May be written from now on: where predictions keep weights in another order
  /// (Predictor on the CPU), each brings them into it anew. It stays good without the model. Throws
  /// Error for an unknown name.
  Tensor parameter_memory(const std::string& name);

  /// All weights and running statistics by name: copies in host memory, f32. Waits.
  State weights() const;
  /// Sets those that the state names; the others stay. Waits. Throws Error, and sets none, for an
  /// unknown name, another shape or type than f32.
  void set_weights(const State& weights);

  /// Returns the network's first output for every sample, f32 (N, outputs...) on the host, in the
  /// data set's order. The data set needs no targets. Waits, as all predictions do.
  Tensor predict(const Dataset& data, std::int64_t batch = 256);
  /// The same as probabilities: softmax or sigmoid is applied, as answers() says (softmax where the
  /// loss is not known, or one of your own), unless the network ends in Softmax or Sigmoid itself.
  /// Throws Error for a model whose loss knows no probabilities.
  Tensor predict_probabilities(const Dataset& data, std::int64_t batch = 256);

  /// Returns every output of the network, by name.
  std::vector<Column> predict_all(const Dataset& data, std::int64_t batch = 256);

  /// Returns what the layer of this name gives for every sample at inference, f32 (N, ...): nothing
  /// behind it is computed, and it is not fused with what is. Of a layer of layers the last one's.
  /// A second call on as many samples compiles nothing. Waits. Throws Error naming layers like it
  /// for an unknown one.
  Tensor value_of(const std::string& layer, const Dataset& data, std::int64_t batch = 256);
  /// Returns the gradient of one element of an output by an input, f32 (N, input...), at inference:
  /// how much each number of a sample matters, e.g. for a saliency map. A second call on as many
  /// samples compiles nothing. Waits. Throws Error for an input of ids, and for one that the output
  /// does not depend on.
  Tensor input_gradient(const Dataset& data, const InputGradient& which = {},
                        std::int64_t batch = 256);

  /// A model of its own with another last layer, which is called the same unless `head` has a name;
  /// all other weights are copied, those of `head` are initialised from the seed of the model's
  /// options. It has no class names. Waits. Throws Error where `layer` is not the last one with
  /// weights, or applied more than once.
  Model with_head(const std::string& layer, const Layer& head) const;

  /// The shape of a sample before what its training cropped, or the network's input where that is
  /// not known.
  Shape sample_shape() const;

  ModelState& state() { return *state_; }
  const ModelState& state() const { return *state_; }
  const std::shared_ptr<ModelState>& shared_state() const { return state_; }

 private:
  std::shared_ptr<ModelState> state_;
};

/// Returns `data` as `model` takes it: images of the shape of its training's samples become their
/// middle where that took crops, or are resized where they are smaller; all else stays. Of the
/// column that belongs to the first input.
Dataset fit_samples(Dataset data, const Model& model);

/// Reads image files as samples of `model`, without targets: each one decoded, in the channels and
/// the size of the training's samples, then as fit_samples() has it: byte for byte what the
/// training's evaluations see of the same file. `threads` decode; 0: all processors. Throws Error
/// naming the first file that can't be read, and for a model that takes no images.
Dataset load_images(const std::vector<std::filesystem::path>& files, const Model& model,
                    int threads = 0);
/// One of them, u8 (1, height, width, channels).
Tensor load_image(const std::filesystem::path& file, const Model& model);

}  // namespace linnet
LINNET_API_END
