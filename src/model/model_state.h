// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/intervals.h>
#include <linnet/model.h>
#include <linnet/table_transform.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/align.h"
#include "model/id_limits.h"
#include "model/program_cache.h"
#include "nn/definition.h"
#include "ops/metrics/metrics.h"
#include "runtime/backend.h"

namespace linnet {

struct PredictorState;

/// The most that programs hold which wait for their next use: those of the cache, and those of
/// Model's predictions in each form of the output.
inline constexpr std::size_t kKeptProgramBytes = std::size_t{1} << 30;

/// State of a Model: the network, the device, and the weights that lie there.
struct ModelState {
  Network network;
  std::unique_ptr<Backend> backend;
  std::shared_ptr<const NetworkDefinition> laid_out = nullptr;  ///< of a model of fp64
  int threads = 1;
  std::string device;
  ModelOptions options = {};  ///< as the model was made
  std::shared_ptr<Buffer> parameters;
  std::shared_ptr<Buffer>
      statistics;  ///< Storage::state: running statistics, then evaluations' counters
  std::vector<std::string> class_names;
  TableTransform table = {};
  SeriesTransform series = {};
  TrainingRecord record = {};
  HeldOutErrors held_out_errors = {};
  std::string onnx_ports = {};  ///< as src/onnx/kept_ports.h writes them; empty: of no ONNX file
  std::vector<IdLimit> id_limits = {};  ///< of the network's inputs
  std::uint64_t weights_version = 0;    ///< counts every writing of weights or running statistics
  bool weights_shared = false;          ///< others hold their addresses and may write at any time
  std::map<std::string, std::size_t, std::less<>> parameter_index = {};  ///< places by name
  std::unique_ptr<ProgramCache> programs = nullptr;
  /// Predictors of the Model's own predictions, one for each form of the output.
  std::vector<std::shared_ptr<PredictorState>> predictors = {};

  /// Returns the network, its weights laid out as they lie on the device.
  const NetworkDefinition& definition() const {
    return laid_out ? *laid_out : network.definition();
  }
  std::size_t counters_offset() const { return definition().bytes(false); }
  Buffer& buffer_of(const ParameterSpec& spec) const {
    return spec.trainable ? *parameters : *statistics;
  }
};

/// Returns the device that the options ask for. Throws Error for one that is not there; "auto"
/// takes the CPU then.
std::unique_ptr<Backend> open_backend(const ModelOptions& options);

/// Returns a network with initial weights on a device: a function of the seed, on every device the
/// same.
std::shared_ptr<ModelState> make_state(Network network, std::unique_ptr<Backend> backend,
                                       std::uint64_t seed);

/// Returns a model of a network that has the parameters of `from`, with all else that it has.
Model copy_of(const ModelState& from, const Network& network, const ModelOptions& options);

/// Throws Error for a model of fp64: `what`, such as "an ONNX file", holds f32 alone.
void refuse_f64(const Model& model, std::string_view what);

/// Returns whether the model computes in double precision.
inline bool computes_in_f64(const ModelState& model) {
  return model.definition().numbers == DType::f64;
}

}  // namespace linnet
