// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/devices.h>
#include <linnet/network.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace linnet {

struct ModelState;

struct ModelOptions {
  std::string device = "auto";  ///< "auto", "cpu", "cuda", "cuda:1" or "cuda:GPU-<uuid>"
  int threads = 0;              ///< 0: all processors that the process may use
  std::uint64_t seed = 0;       ///< of the initial weights
  Precision precision = Precision::automatic;
  CpuOptions cpu = {};
  CudaOptions cuda = {};
};

/// A network with weights on a device. Movable, not copyable. Calls on one model take turns: not
/// thread-safe.
class Model {
 public:
  /// Initialises the weights; equal seeds give equal weights on every device.
  /// Throws Error where the device is missing.
  explicit Model(Network network, ModelOptions options = {});
  /// Of a state that was built inside the library.
  explicit Model(std::unique_ptr<ModelState> state);
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  /// A safetensors file: every weight by name, the network and the class names in its metadata.
  /// The file appears whole or not at all. Throws Error, e.g. where the disk is full, and for a
  /// weight that is NaN or infinite: a good file is never overwritten by ruined weights.
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
  void set_class_names(std::vector<std::string> names);

  /// Names of the weights and running statistics, e.g. "conv2d_1.weight".
  std::vector<std::string> parameter_names() const;
  Shape parameter_shape(const std::string& name) const;
  std::vector<float> parameter(const std::string& name) const;
  /// Throws Error for an unknown name or another number of elements.
  void set_parameter(const std::string& name, std::span<const float> values);

  /// The network's first output for every sample, (N, outputs) row-major, in the data set's order.
  std::vector<float> predict(const Dataset& data, std::int64_t batch = 256);
  /// The same as class probabilities: softmax is applied if the network ends in logits.
  std::vector<float> predict_probabilities(const Dataset& data, std::int64_t batch = 256);

  /// Every output of the network, by name. The data set needs no targets.
  std::vector<Column> predict_all(const Dataset& data, std::int64_t batch = 256);

  ModelState& state() { return *state_; }
  const ModelState& state() const { return *state_; }

 private:
  std::unique_ptr<ModelState> state_;
};

}  // namespace linnet
