// SPDX-License-Identifier: Apache-2.0
#include <linnet/model.h>

#include <algorithm>

#include "backend/cpu/cpu_backend.h"
#include "backend/plugin/cuda_plugin.h"
#include "base/check.h"
#include "base/utf8.h"
#include "core/tensor_memory.h"
#include "describe/nearest.h"
#include "model/buffer_memory.h"
#include "model/derivative_network.h"
#include "model/evaluation_sums.h"
#include "model/model_state.h"
#include "model/output_form.h"
#include "model/precision.h"
#include "nn/heads.h"
#include "ops/cpu_kernels.h"
#include "ops_f64/f64_kernels.h"

namespace linnet {
namespace {

const ParameterSpec& find_parameter(const ModelState& state, const std::string& name) {
  const auto found = state.parameter_index.find(name);
  if (found == state.parameter_index.end()) {
    std::vector<std::string> names;
    for (const auto& [known, place] : state.parameter_index) names.push_back(known);
    fail("the model has no parameter '{}'{}", name, did_you_mean(name, names));
  }
  return state.definition().parameters[found->second];
}

/// Writes a weight, converted to the type in which it lies there.
void upload(ModelState& state, const ParameterSpec& spec, const Tensor& values) {
  const Tensor held = values.to_host().to(spec.dtype);
  state.backend->upload(state.buffer_of(spec), spec.offset, held.bytes());
  ++state.weights_version;
}

Tensor downloaded(const ModelState& state, const ParameterSpec& spec) {
  Tensor values = uninitialized_tensor(spec.dtype, spec.shape);
  state.backend->download(state.buffer_of(spec), spec.offset, values.writable_bytes());
  return values;
}

/// Throws Error naming the first layer that has no kernel in double precision.
void check_kernels(const NetworkDefinition& network, const Backend& backend) {
  for (const Node& node : network.graph.nodes()) {
    require(backend.supports(*node.op, network.graph.types(node.inputs),
                             network.graph.types(node.outputs)),
            "[{} '{}'] does not compute in fp64, which takes dense layers, activations and "
            "expressions; expected another precision, such as fp32",
            node.op->name(), node.name);
  }
}

}  // namespace

void refuse_f64(const Model& model, std::string_view what) {
  require(!computes_in_f64(model.state()),
          "{} holds f32 and the model computes in fp64; expected a model of fp32, such as its file "
          "loaded with that precision",
          what);
}

std::shared_ptr<ThreadTeam> make_thread_team(int threads) {
  return std::make_shared<ThreadTeam>(threads);
}

std::unique_ptr<Backend> open_backend(const ModelOptions& options) {
  const std::string& device = options.device;
  const bool cuda = device == "cuda" || device.starts_with("cuda:");
  const bool fp64 = options.precision == Precision::fp64;
  require(device == "auto" || device == "cpu" || cuda,
          "unknown device '{}'; expected auto, cpu, cuda, cuda:INDEX or cuda:UUID", device);
  require(!cuda || !fp64, "the precision fp64 is for the CPU; expected the device cpu, got {}",
          device);
  if (cuda || (!fp64 && device == "auto" && prefers_cuda(options.cuda.library))) {
    const std::string which = device.starts_with("cuda:") ? device.substr(5) : std::string();
    return cuda_plugin(options.cuda.library).open(which, options.cuda, options.precision);
  }
  require(options.precision != Precision::fp16,
          "the precision fp16 is for CUDA; a CPU computes in fp32 (also for tf32), bf16 or fp64");
  cpu::Registry registry;
  if (fp64) {
    cpu::register_f64_kernels(registry);
  } else {
    cpu::register_cpu_kernels(registry);
  }
  const cpu::Products products =
      options.precision == Precision::bf16 ? cpu::bf16_products() : cpu::Products::fp32;
  const cpu::Numbers numbers = fp64 ? cpu::Numbers::f64 : cpu::Numbers::f32;
  return std::make_unique<cpu::CpuBackend>(std::move(registry),
                                           options.team != nullptr
                                               ? options.team
                                               : make_thread_team(options.threads),
                                           products, options.cpu, numbers);
}

std::shared_ptr<ModelState> make_state(Network network, std::unique_ptr<Backend> backend,
                                       std::uint64_t seed) {
  // What no file could hold is refused now, not when hours of training are to be saved.
  static_cast<void>(network.to_json());
  std::shared_ptr<ModelState> state(new ModelState{.network = std::move(network),
                                                   .backend = std::move(backend),
                                                   .device = {},
                                                   .parameters = nullptr,
                                                   .statistics = nullptr,
                                                   .class_names = {}});
  ModelState& s = *state;
  if (s.backend->capabilities().f64) {
    check_kernels(s.network.definition(), *s.backend);
    s.laid_out =
        std::make_shared<const NetworkDefinition>(laid_out(s.network.definition(), DType::f64));
  }
  s.id_limits = id_limits(s.definition());
  s.device = s.backend->name();
  s.threads = s.backend->threads();
  try {
    s.parameters = s.backend->allocate(s.definition().bytes(true));
    s.statistics = s.backend->allocate(s.counters_offset() + evaluation_bytes(s.definition()));
  } catch (const OutOfMemory& error) {
    throw OutOfMemory(fmt::format("{}: the weights of a network of {} parameters", error.what(),
                                  s.network.parameters()),
                      error.wanted, error.free);
  }
  s.programs =
      std::make_unique<ProgramCache>(*s.backend, s.parameters, s.statistics, kKeptProgramBytes);
  std::vector<float> values;
  for (std::size_t i = 0; i < s.definition().parameters.size(); ++i) {
    const ParameterSpec& spec = s.definition().parameters[i];
    s.parameter_index.emplace(spec.name, i);
    initialize(spec, i, seed, values);
    upload(s, spec, Tensor::borrow(DType::f32, spec.shape, std::as_bytes(std::span(values))));
  }
  return state;
}

Model::Model(Network network, ModelOptions options)
    : state_(make_state(std::move(network), open_backend(options), options.seed)) {
  state_->options = std::move(options);
  if (const auto team = state_->backend->team()) state_->options.team = team;  // copies share it
}
Model::Model(std::shared_ptr<ModelState> state) : state_(std::move(state)) {}

Model Model::copy() const { return copy(state_->options); }

Model copy_of(const ModelState& from, const Network& network, const ModelOptions& options) {
  Model copy(network, options);
  ModelState& to = copy.state();
  const NetworkDefinition& definition = from.definition();
  for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
    const ParameterSpec& spec = definition.parameters[i];
    upload(to, to.definition().parameters[i], downloaded(from, spec));
  }
  to.class_names = from.class_names;
  to.table = from.table;
  to.series = from.series;
  to.record = from.record;
  to.held_out_errors = from.held_out_errors;
  to.onnx_ports = from.onnx_ports;
  return copy;
}

Model Model::copy(const ModelOptions& options) const {
  return copy_of(*state_, network(), options);
}

Model Model::copy_with(const Network& network) const {
  return copy_of(*state_, network, state_->options);
}

Model Model::with_views(const TestViews& views) const {
  Model made = copy_with(network().with_views(views));
  made.state_->held_out_errors = {};  // which were measured without views
  return made;
}

Model Model::without_views() const {
  Model made = copy_with(network().without_views());
  made.state_->held_out_errors = {};
  return made;
}

Model Model::with_derivatives(const std::string& by, const std::string& of, bool hessian) const {
  const Derivatives which = hessian ? Derivatives::jacobian_and_hessian : Derivatives::jacobian;
  return copy_with(Network(std::make_unique<NetworkDefinition>(
      derivative_network(state_->network.definition(), by, of, which))));
}

Model Model::to(const std::string& device) const {
  ModelOptions options = state_->options;
  options.device = device;
  if (device == "cpu") options.precision = precision_on_cpu(options.precision);
  return copy(options);
}

Model Model::with_head(const std::string& layer, const Layer& head) const {
  Model made(network().with_head(layer, head), state_->options);
  const std::vector<bool> replaced = replaced_parameters(network().definition(), layer);
  State kept;
  for (std::size_t i = 0; const auto& [name, value] : weights()) {
    if (!replaced[i++]) kept.set(name, value);
  }
  made.set_weights(kept);
  made.state_->onnx_ports = state_->onnx_ports;
  made.state_->record.sample_shape = state_->record.sample_shape;
  made.state_->record.seen = state_->record.seen;
  made.state_->record.images = state_->record.images;
  return made;
}

const Network& Model::network() const { return state_->network; }
const std::string& Model::device() const { return state_->device; }
int Model::threads() const { return state_->threads; }
std::map<std::string, std::string> Model::engine_choices() const {
  return state_->backend->engine_choices();
}
const std::vector<std::string>& Model::class_names() const { return state_->class_names; }
void Model::set_class_names(std::vector<std::string> names) {
  for (const std::string& name : names) {
    require(is_utf8(name), "the class name '{}' is not UTF-8, which a model file needs",
            escaped(name));
  }
  const std::int64_t most = most_classes(state_->definition());
  require(
      std::ssize(names) <= most,
      "got {} class names; the first output of the network, {} a sample, has at most {} classes",
      names.size(), to_string(state_->definition().output_sample()), most);
  state_->class_names = std::move(names);
}

const TableTransform& Model::table() const { return state_->table; }
void Model::set_table(TableTransform transform) {
  const std::vector<NetworkInput>& inputs = state_->definition().inputs;
  const auto require_input = [&](DType dtype, std::int64_t width) {
    require(width == 0 || std::ranges::any_of(inputs,
                                              [&](const NetworkInput& input) {
                                                return input.dtype == dtype &&
                                                       input.sample == Shape{width};
                                              }),
            "the table transform makes {} samples ({}), of which the network has no input",
            to_string(dtype), width);
  };
  require_input(DType::f32, std::ssize(transform.feature_names()));
  require_input(DType::i32, transform.id_columns());
  state_->table = std::move(transform);
}

const SeriesTransform& Model::series() const { return state_->series; }
void Model::set_series(SeriesTransform transform) {
  const NetworkDefinition& network = state_->definition();
  const auto require_input = [&](std::string_view name, const Shape& shape) {
    require(shape[-1] == 0 || std::ranges::any_of(network.inputs,
                                                  [&](const NetworkInput& input) {
                                                    return input.name == name &&
                                                           input.sample == shape;
                                                  }),
            "the series transform makes '{}' of {}, of which the network has no input", name,
            to_string(shape));
  };
  require_input("past", {transform.past(), std::ssize(transform.channels())});
  require_input("future", {transform.future(), std::ssize(transform.known_channels())});
  if (transform.entities() > 0) require_input("entity", {1});
  for (const std::string& target : transform.targets()) {
    const auto output = std::ranges::find(network.outputs, target, &NetworkOutput::name);
    const bool fits =
        output != network.outputs.end() &&
        network.output_sample(static_cast<std::size_t>(output - network.outputs.begin())) ==
            Shape{transform.future()};
    require(fits,
            "the series transform has the target '{}', for which the network has no output "
            "of ({})",
            target, transform.future());
  }
  state_->series = std::move(transform);
}

const TrainingRecord& Model::training_record() const { return state_->record; }
void Model::set_training_record(TrainingRecord record) { state_->record = std::move(record); }
Answers Model::answers() const { return answers_of(*state_); }

std::vector<std::string> Model::parameter_names() const {
  std::vector<std::string> names;
  for (const ParameterSpec& spec : state_->definition().parameters) names.push_back(spec.name);
  return names;
}

Shape Model::parameter_shape(const std::string& name) const {
  return find_parameter(*state_, name).shape;
}

Tensor Model::parameter(const std::string& name) const {
  return downloaded(*state_, find_parameter(*state_, name));
}

void Model::set_parameter(const std::string& name, const Tensor& values) {
  const ParameterSpec& spec = find_parameter(*state_, name);
  require(values.shape() == spec.shape, "the parameter '{}' is {}; got values of {}", name,
          to_string(spec.shape), to_string(values.shape()));
  upload(*state_, spec, values);
}

Tensor Model::parameter_memory(const std::string& name) {
  const ParameterSpec& spec = find_parameter(*state_, name);
  state_->weights_shared = true;
  return tensor_over(*state_, spec.trainable ? state_->parameters : state_->statistics, spec.offset,
                     spec.dtype, spec.shape);
}

State Model::weights() const {
  State weights;
  for (const ParameterSpec& spec : state_->definition().parameters) {
    weights.set(spec.name, downloaded(*state_, spec));
  }
  return weights;
}

void Model::set_weights(const State& weights) {
  for (const auto& [name, value] : weights) {
    const ParameterSpec& spec = find_parameter(*state_, name);
    const bool fits = value.dtype() == DType::f32 || value.dtype() == spec.dtype;
    require(fits && value.shape() == spec.shape, "the weight '{}' is {} {}; got {} {}", name,
            to_string(spec.dtype), to_string(spec.shape), to_string(value.dtype()),
            to_string(value.shape()));
  }
  for (const auto& [name, value] : weights) {
    upload(*state_, find_parameter(*state_, name), value);
  }
}

}  // namespace linnet
