// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/devices.h>
#include <linnet/export.h>
#include <linnet/network.h>
#include <linnet/series_transform.h>
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

class TableTransform;

/// Holds facts about the training of a model's weights; model files save it.
struct TrainingRecord {
  /// Loss of the first output: a name of loss_names(), or "custom". "": unknown, before a training
  /// and in files of older versions.
  std::string loss = {};
  bool labels = false;      ///< whether the first output learned from labels, not from values
  Shape sample_shape = {};  ///< shape of a sample in the data set, before crops; (): unknown
  /// Hashes of samples that it learned from, sorted: remember_samples(). Empty: unknown.
  std::vector<std::uint64_t> seen = {};
  ImageReading images = {};  ///< how the image files of its data set were read

  /// Returns whether all fields are equal.
  bool operator==(const TrainingRecord&) const = default;
};

/// Says what the numbers of a model's first output mean; it follows from the training's loss.
enum class Answers : std::uint8_t {
  classes,  ///< one class of several (cross-entropy, KL divergence, focal loss of labels): softmax
  labels,   ///< independent labels (binary cross-entropy, focal loss of values): sigmoid
  scores,   ///< one class of several, the largest; no probabilities (hinge)
  values,   ///< plain numbers (squared error and all other losses)
};

/// Says which gradient Model::input_gradient() returns.
struct InputGradient {
  std::string by = {};     ///< name of an f32 input; empty: the first one
  std::string of = {};     ///< name of an output; empty: the first one
  std::int64_t index = 0;  ///< element of one sample's output, row-major, from 0
};

/// Says where and how a model computes.
struct ModelOptions {
  /// Device: "auto" (a usable GPU, else the CPU), "cpu", "cuda", "cuda:1" or "cuda:GPU-<uuid>".
  std::string device = "auto";
  int threads = 0;  ///< threads on the CPU; 0: all processors that the process may use
  /// Team of threads from make_thread_team(), instead of `threads` new ones. Models of one team
  /// take turns. A GPU needs none.
  std::shared_ptr<ThreadTeam> team = {};
  std::uint64_t seed = 0;  ///< seed of the initial weights
  Precision precision =
      Precision::automatic;  ///< of matrix products and convolutions; fp64: of all
  CpuOptions cpu = {};       ///< how the CPU chooses its engines
  CudaOptions cuda = {};     ///< how a GPU is used
  /// Readers of the own operators (CustomOperator) that a loaded model file holds, by name.
  OperatorReaders operators = {};
};

/// Holds a network with weights on a device. A shared handle: copies refer to the same model, which
/// lives until the last of them is destroyed; copy() makes another model. A move copies, so no
/// Model is empty. Trainers and Predictors share the model. What is f32 in the comments below is
/// f64 of a model of Precision::fp64.
///
/// Not thread-safe: one thread at a time may use a model and its trainers. Predictor::predict() and
/// Predictor::classify() may be called from several threads at once.
class Model {
 public:
  /// Allocates the weights and initialises them; equal seeds give equal weights on every device.
  /// Compiles nothing. Throws Error for an unknown device name, DeviceError where the device is
  /// missing, and OutOfMemory.
  explicit Model(Network network, ModelOptions options = {});
  Model(const Model&) noexcept = default;             ///< Makes another handle of the same model.
  Model& operator=(const Model&) noexcept = default;  ///< Refers to the other model from now on.

  /// Returns another model with the same weights, on the same device. Waits. Throws OutOfMemory.
  Model copy() const;
  /// Returns another model with the same weights, on the device that `options` name (`seed` has no
  /// effect). Waits. Throws as the constructor does.
  Model copy(const ModelOptions& options) const;
  /// Returns another model with the same weights on another device, e.g. "cpu" or "cuda:1", and
  /// with this model's other options. Waits. Throws as the constructor does.
  Model to(const std::string& device) const;

  /// Writes a safetensors file: every weight by name, with the network, the class names, the
  /// transform of rows and the training record in its metadata. The file appears whole or not at
  /// all. Waits. Throws Error if it cannot be written, e.g. on a full disk, and for a weight that
  /// is NaN or infinite: such weights never overwrite a good file.
  void save(const std::filesystem::path& path) const;
  /// Returns the model of a file that save() wrote. A file of f64 weights, which models of fp64
  /// write, gives such a model unless `options` name a precision or a GPU. Throws DataError for a
  /// file that is missing, cut short, damaged, or without a Linnet network, and for `options` as
  /// the constructor does.
  static Model load(const std::filesystem::path& path, ModelOptions options = {});

  /// Returns the network.
  const Network& network() const;
  /// Returns the device's name, e.g. "cpu" or "cuda:0".
  const std::string& device() const;
  /// Returns the number of threads that compute; 0 on a GPU.
  int threads() const;

  /// Returns the engines chosen by measurement so far, for CpuOptions::choices of a model that must
  /// compute the same bits. Empty without CpuOptions::tune.
  std::map<std::string, std::string> engine_choices() const;

  /// Returns the class names by label; empty if the training had none. Model files save them.
  const std::vector<std::string>& class_names() const;
  /// Sets the class names by label. Throws Error for more names than the first output has classes
  /// (its last axis; two for a single number), and for a name that is not UTF-8. A class without a
  /// name is called by its number.
  void set_class_names(std::vector<std::string> names);

  /// Returns the transform of table rows to samples of this model; empty where it learned from
  /// other data. Model files save it.
  const TableTransform& table() const;
  /// Sets the transform of table rows, fitted on the training set: predictions and evaluations of
  /// rows use it (read_samples()). Throws Error where its samples do not have the shapes of the
  /// network's inputs.
  void set_table(TableTransform transform);

  /// Returns the transform of table rows to windows of this model; empty where it learned from
  /// other data. Model files save it.
  const SeriesTransform& series() const;
  /// Sets the transform of table rows to windows, fitted on the training set: forecast() and
  /// evaluations use it. Throws Error where its windows do not have the shapes of the network's
  /// inputs, or a target has no output of `future` numbers under its name.
  void set_series(SeriesTransform transform);

  /// Returns the loss and the samples of the last training, as train() and Trainer record them.
  const TrainingRecord& training_record() const;
  /// Replaces the training record.
  void set_training_record(TrainingRecord record);
  /// Returns what the first output means. If the loss is unknown, a last Softmax or Sigmoid
  /// decides; else it is classes if there are class names, else values.
  Answers answers() const;

  /// Returns the names of the weights and running statistics, e.g. "conv2d_1.weight".
  std::vector<std::string> parameter_names() const;
  /// Returns the shape of a weight or running statistic. Throws Error for an unknown name.
  Shape parameter_shape(const std::string& name) const;
  /// Returns a copy of a weight or running statistic in host memory, f32. Waits. Throws Error for
  /// an unknown name.
  Tensor parameter(const std::string& name) const;
  /// Sets a weight or running statistic from values of any type, converted to f32. Waits. Throws
  /// Error for an unknown name or another shape.
  void set_parameter(const std::string& name, const Tensor& values);
  /// Returns the memory of a weight or running statistic on the model's device, f32: training
  /// updates it, predictions read it, and the caller may write it. From then on a Predictor on the
  /// CPU packs the weights again in each call. The memory stays valid without the model. Throws
  /// Error for an unknown name.
  Tensor parameter_memory(const std::string& name);

  /// Returns copies of all weights and running statistics by name, in host memory, f32. Waits.
  State weights() const;
  /// Sets the weights that the state names; the others are unchanged. Waits. Throws Error, and sets
  /// none, for an unknown name, another shape, or another type than f32.
  void set_weights(const State& weights);

  /// Returns the network's first output for every sample, f32 (N, outputs...) on the host, in the
  /// data set's order; targets are not needed. `batch`: samples computed at a time, at least 1. The
  /// first call for a batch size compiles and allocates, later ones do not. Waits. Throws DataError
  /// for data that do not fit the network.
  Tensor predict(const Dataset& data, std::int64_t batch = 256);
  /// Does the same for samples (N, input...) of the first input, e.g. of load_image() or
  /// encode_text().
  Tensor predict(const Tensor& samples, std::int64_t batch = 256);
  /// Returns predict() as probabilities: softmax or sigmoid is applied as answers() says (softmax
  /// for an unknown or custom loss), unless the network itself ends in Softmax or Sigmoid. Waits.
  /// Throws Error for a model whose loss gives no probabilities.
  Tensor predict_probabilities(const Dataset& data, std::int64_t batch = 256);
  /// Does the same for samples (N, input...) of the first input.
  Tensor predict_probabilities(const Tensor& samples, std::int64_t batch = 256);

  /// Returns every output of the network, by name, each as predict() returns the first. Waits.
  std::vector<Column> predict_all(const Dataset& data, std::int64_t batch = 256);

  /// Returns a layer's output for every sample at inference, f32 (N, ...). Nothing after the layer
  /// is computed, and its output is not fused away. For a layer made of layers it is the output of
  /// the last one. The first call for a layer and a batch size compiles. Waits. Throws Error for an
  /// unknown name, with the nearest layer names.
  Tensor value_of(const std::string& layer, const Dataset& data, std::int64_t batch = 256);
  /// Returns the gradient of one element of an output by an input, f32 (N, input...), at inference:
  /// it shows how much each number of a sample matters, e.g. for a saliency map. The first call for
  /// an element and a batch size compiles. Waits. Throws Error for an input of ids, and for an
  /// input that does not affect the output.
  Tensor input_gradient(const Dataset& data, const InputGradient& which = {},
                        std::int64_t batch = 256);
  /// Returns the Jacobian of a whole output, f32 (N, output..., input...), at inference: the
  /// gradients of all its elements, found one after the other; e.g. (N, 3, 4) for 3 outputs of 4
  /// features. `of` and `by` are those of
  /// input_gradient(). Waits. Throws as it does, and for more than 8 dims.
  Tensor jacobian(const Dataset& data, const std::string& by = {}, const std::string& of = {},
                  std::int64_t batch = 256);
  /// Returns the Hessian of a whole output, f32 (N, output..., input..., input...), at inference:
  /// the second derivatives of each element by each pair of the input's, in one program; 0 where
  /// the slopes do not change. `of` and `by` are those of input_gradient(). Waits. Throws Error as
  /// it does, for more than 8 dims or 4,096 elements of output times input, and naming a layer that
  /// is not twice differentiable: of norms, recurrence and maximum pooling.
  Tensor hessian(const Dataset& data, const std::string& by = {}, const std::string& of = {},
                 std::int64_t batch = 256);
  /// Returns another model with the same weights, without dropout, whose network has the further
  /// output "jacobian", (output..., input...), and for `hessian` "hessian", (output..., input...,
  /// input...): for a Predictor, a model file and export_onnx(). Waits. Throws Error as hessian()
  /// does, and for a network that has such outputs.
  Model with_derivatives(const std::string& by = {}, const std::string& of = {},
                         bool hessian = false) const;

  /// Returns another model with another last layer, which keeps the name `layer` unless `head` has
  /// a name. All other weights are copied, with those that `layer` shares with others; those of
  /// `head` are initialised from the seed of this model's options. The new model has no class
  /// names. Waits. Throws Error as Network::with_head() does.
  Model with_head(const std::string& layer, const Layer& head) const;

  /// Returns another model with the same weights that averages its outputs over several views of
  /// each image (Network::with_views()): evaluate(), predictions, saved files, servers and exports
  /// do so alike. Waits. Throws Error as Network::with_views() does.
  Model with_views(const TestViews& views = {}) const;
  /// Returns another model with the same weights and without views: train this one, since a model
  /// with views trains each of them. Waits.
  Model without_views() const;
  /// Returns a copy whose ensemble (FunctionalNetwork::build_ensemble()) weighs its members: the
  /// shares, together 1, that give the held-out samples the least log loss or squared error, drawn
  /// towards equal ones as if 8 further samples said so. Of samples with folds, members 0 to folds
  /// - 1 have one share together, by what each says of the samples that it holds out, and so on.
  /// Samples with a label outside the classes do not count. A copy as it is where the network is
  /// not an ensemble, the samples have no targets, or these are i32 of independent labels,
  /// distributions over classes, or of Answers::scores (hinge). Held-out errors are forgotten.
  /// Waits.
  Model with_member_shares(const Dataset& held_out) const;

  /// Returns the shape of a sample before the crops of the training, or the network's input if that
  /// is unknown.
  Shape sample_shape() const;

  /// @cond
  // For the library.
  explicit Model(std::shared_ptr<ModelState> state);
  ModelState& state() { return *state_; }
  const ModelState& state() const { return *state_; }
  const std::shared_ptr<ModelState>& shared_state() const { return state_; }
  /// @endcond

 private:
  /// Returns a copy of another network with the same parameters.
  Model copy_with(const Network& network) const;

  std::shared_ptr<ModelState> state_;
};

/// Returns `data` as `model` takes it. If the training took crops, images of the shape of its
/// samples are cropped to their centre, or resized if they are smaller; all else is unchanged. Only
/// the column of the first input changes. Throws DataError for data that do not fit the network.
Dataset fit_samples(Dataset data, const Model& model);

/// Reads image files as samples of `model`, u8, without targets: decoded in the channels and the
/// size of the training's samples, then changed as by fit_samples(). The bytes are those that the
/// training's evaluations use for the same file. `threads` decode; 0: all processors. Throws
/// DataError naming the first file that cannot be read, and Error for a model that takes no images.
Dataset load_images(const std::vector<std::filesystem::path>& files, const Model& model,
                    int threads = 0);
/// Reads one image file as a sample of `model`, u8 (1, height, width, channels). Throws as
/// load_images() does.
Tensor load_image(const std::filesystem::path& file, const Model& model);

}  // namespace linnet
LINNET_API_END
