// SPDX-License-Identifier: Apache-2.0
// The one file that knows cudnn-frontend: its headers are slow to compile, without JSON a bit less.
#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include "backend/cuda/cudnn_graph.h"

#include <cudnn_frontend.h>

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "backend/cuda/handle.h"
#include "base/check.h"

namespace linnet::cuda {
namespace {

namespace fe = cudnn_frontend;
using Attributes = fe::graph::Tensor_attributes;
using Tensor = std::shared_ptr<Attributes>;
using Direction = CudnnConvolution::Direction;
using Tail = CudnnConvolution::Tail;

using Handle = UniqueHandle<cudnnHandle_t, cudnnDestroy>;

/// Every failure of the frontend: it returns some and throws others.
std::string attempt(const std::function<fe::error_t()>& call) {
  try {
    fe::error_t status = call();
    return status.is_good() ? std::string() : status.get_message() + " (cuDNN)";
  } catch (const std::exception& error) {
    return std::string(error.what()) + " (cuDNN)";
  }
}

/// The frontend's graph, with the notes on its engines in reach.
class Graph : public fe::graph::Graph {
 public:
  const std::vector<fe::NumericalNote_t>& notes(std::int64_t engine) const {
    return plans.numeric_notes[static_cast<std::size_t>(engine)];
  }
  bool is_compiled(std::int64_t engine) const {
    const auto& all = plans.behavior_notes[static_cast<std::size_t>(engine)];
    return std::find(all.begin(), all.end(), fe::BehaviorNote_t::RUNTIME_COMPILATION) != all.end();
  }
};

bool has(const std::vector<fe::NumericalNote_t>& notes, fe::NumericalNote_t note) {
  return std::find(notes.begin(), notes.end(), note) != notes.end();
}

/// Returns whether an engine computes as `math` says and, where it has to be deterministic, gives
/// the same bits in every run.
bool allowed(CudnnMath math, bool deterministic, const std::vector<fe::NumericalNote_t>& notes) {
  using Note = fe::NumericalNote_t;
  for (const Note note : {Note::REDUCED_PRECISION_REDUCTION, Note::DOWN_CONVERT_INPUTS, Note::FFT,
                          Note::WINOGRAD_TILE_13x13}) {
    if (has(notes, note)) return false;
  }
  if (deterministic && has(notes, Note::NONDETERMINISTIC)) return false;
  return math != CudnnMath::fp32 || (!has(notes, Note::TENSOR_CORE) && !has(notes, Note::WINOGRAD));
}

fe::DataType_t data_type(CudnnMath math) {
  switch (math) {
    case CudnnMath::bf16: return fe::DataType_t::BFLOAT16;
    case CudnnMath::fp16: return fe::DataType_t::HALF;
    case CudnnMath::fp32:
    case CudnnMath::tf32: break;
  }
  return fe::DataType_t::FLOAT;
}

/// Dimensions in cuDNN's order (n, c, h, w), strides of channels last. `uid` is the operand's
/// place.
Attributes image(std::int64_t uid, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
                 fe::DataType_t type) {
  Attributes attributes;
  attributes.set_uid(uid).set_dim({n, c, h, w}).set_stride({c * h * w, 1, c * w, c});
  attributes.set_data_type(type);
  return attributes;
}

/// Does the same for a value that an operation made.
void make_output(const Tensor& tensor, const Attributes& as) {
  tensor->set_output(true).set_uid(as.get_uid()).set_dim(as.get_dim()).set_stride(as.get_stride());
  tensor->set_data_type(as.get_data_type());
}

template <class A>
A windows(const CudnnConvolution& s) {
  A attributes;
  attributes.set_pre_padding({s.pad_top, s.pad_left}).set_post_padding({s.pad_bottom, s.pad_right});
  attributes.set_stride({s.stride_h, s.stride_w}).set_dilation({s.dilation_h, s.dilation_w});
  return attributes;
}

fe::PointwiseMode_t pointwise_mode(Tail tail) {
  switch (tail) {
    case Tail::none: break;
    case Tail::relu: return fe::PointwiseMode_t::RELU_FWD;
    case Tail::tanh: return fe::PointwiseMode_t::TANH_FWD;
    case Tail::sigmoid: return fe::PointwiseMode_t::SIGMOID_FWD;
    case Tail::gelu: return fe::PointwiseMode_t::GELU_FWD;
  }
  return fe::PointwiseMode_t::IDENTITY;
}

Tensor pointwise(Graph& graph, fe::PointwiseMode_t mode, const Tensor& a,
                 const Tensor& b = nullptr) {
  const auto attributes = fe::graph::Pointwise_attributes().set_mode(mode);
  return b ? graph.pointwise(a, b, attributes) : graph.pointwise(a, attributes);
}

void add_forward(Graph& graph, const CudnnConvolution& s, const Attributes& in,
                 const Attributes& kernel, Attributes out) {
  std::int64_t uid = 2;
  const Tensor x = graph.tensor(in);
  const Tensor weights = graph.tensor(kernel);
  Tensor y = graph.conv_fprop(x, weights, windows<fe::graph::Conv_fprop_attributes>(s));
  // cuDNN 9.19 has engines for a residual before the bias, none for one after it.
  const Tensor bias =
      s.bias ? graph.tensor(image(++uid, 1, s.co, 1, 1, data_type(s.math))) : nullptr;
  if (s.residual) {
    const Tensor residual = graph.tensor(Attributes(out).set_uid(++uid));
    y = pointwise(graph, fe::PointwiseMode_t::ADD, y, residual);
  }
  if (s.bias) y = pointwise(graph, fe::PointwiseMode_t::ADD, y, bias);
  if (s.tail != Tail::none) y = pointwise(graph, pointwise_mode(s.tail), y);
  make_output(y, out.set_uid(++uid));
}

void add_operations(Graph& graph, const CudnnConvolution& s) {
  const fe::DataType_t type = data_type(s.math);
  const Attributes in = image(1, s.n, s.c, s.h, s.w, type);
  const Attributes out = image(1, s.n, s.co, s.oh, s.ow, type);
  const Attributes kernel = image(2, s.co, s.c / s.groups, s.kh, s.kw, type);
  switch (s.direction) {
    case Direction::forward: add_forward(graph, s, in, kernel, out); break;
    case Direction::grad_input: {
      const Tensor dx = graph.conv_dgrad(graph.tensor(out), graph.tensor(kernel),
                                         windows<fe::graph::Conv_dgrad_attributes>(s));
      make_output(dx, Attributes(in).set_uid(3));
      break;
    }
    case Direction::grad_weight: {
      const Tensor dw = graph.conv_wgrad(graph.tensor(Attributes(out).set_uid(2)), graph.tensor(in),
                                         windows<fe::graph::Conv_wgrad_attributes>(s));
      make_output(dw, Attributes(kernel).set_uid(3));
      break;
    }
  }
}

struct Engine {
  std::int64_t index = 0;  ///< among all that the heuristics named
  std::string name;
  bool tensor_cores = false;
  bool compiled = false;
  bool prepared = false;
  std::size_t workspace_bytes = 0;
};

}  // namespace

// --- target --------------------------------------------------------------------------------------

struct CudnnTarget::State {
  Handle handle;
  std::shared_ptr<fe::DeviceProperties> properties;
  int compute_capability = 0;
};

CudnnTarget::CudnnTarget() : state_(std::make_unique<State>()) {}
CudnnTarget::~CudnnTarget() = default;

cudnnContext* CudnnTarget::handle() const { return state_->handle.get(); }

std::shared_ptr<CudnnTarget> CudnnTarget::current_device() {
  cudnnHandle_t handle = nullptr;
  const cudnnStatus_t status = cudnnCreate(&handle);
  require<DeviceError>(status == CUDNN_STATUS_SUCCESS, "cuDNN {} cannot start: {}", cudnn_version(),
                       cudnnGetErrorString(status));
  std::shared_ptr<CudnnTarget> target(new CudnnTarget);
  target->state_->handle = Handle(handle);
  return target;
}

std::shared_ptr<CudnnTarget> CudnnTarget::described(const std::string& properties,
                                                    int compute_capability) {
  std::shared_ptr<CudnnTarget> target(new CudnnTarget);
  State& state = *target->state_;
  state.properties = std::make_shared<fe::DeviceProperties>();
  state.compute_capability = compute_capability;
  std::vector<std::uint8_t> bytes(properties.begin(), properties.end());
  bytes.push_back(0);
  const std::string error = attempt([&] { return state.properties->deserialize(bytes); });
  require<DeviceError>(error.empty(), "cuDNN refuses the device's description: {}", error);
  return target;
}

// --- graph ---------------------------------------------------------------------------------------

struct CudnnGraph::State {
  std::shared_ptr<const CudnnTarget> target;
  CudnnConvolution problem;
  Graph graph;
  std::vector<Engine> engines;

  Engine& engine(int i) { return engines.at(static_cast<std::size_t>(i)); }
};

CudnnGraph::CudnnGraph() : state_(std::make_unique<State>()) {}
CudnnGraph::~CudnnGraph() = default;

std::unique_ptr<CudnnGraph> CudnnGraph::build(const std::shared_ptr<const CudnnTarget>& target,
                                              const CudnnConvolution& problem, bool deterministic,
                                              bool all) {
  std::unique_ptr<CudnnGraph> made(new CudnnGraph);
  State& state = *made->state_;
  state.target = target;
  state.problem = problem;
  const CudnnMath math = problem.math;
  Graph& graph = state.graph;
  const CudnnTarget::State& device = state.target->state();
  graph.set_io_data_type(data_type(math));
  graph.set_intermediate_data_type(fe::DataType_t::FLOAT);
  graph.set_compute_data_type(fe::DataType_t::FLOAT);
  if (device.properties) {
    graph.set_device_properties(device.properties);
    graph.set_sm_version(device.compute_capability * 10);
  }
  std::vector<fe::HeurMode_t> modes{fe::HeurMode_t::A};
  if (all) modes.push_back(fe::HeurMode_t::FALLBACK);
  const std::string error = attempt([&]() -> fe::error_t {
    add_operations(graph, problem);
    for (const auto step : {0, 1, 2}) {
      const fe::error_t status = step == 0   ? graph.validate()
                                 : step == 1 ? graph.build_operation_graph(device.handle.get())
                                             : graph.create_execution_plans(modes);
      if (status.is_bad()) return status;
    }
    return {fe::error_code_t::OK, ""};
  });
  if (!error.empty()) return nullptr;
  graph.deselect_workspace_greater_than(static_cast<std::int64_t>(kCudnnWorkspaceLimit));
  for (std::int64_t i = 0; i < graph.get_execution_plan_count(); ++i) {
    Engine engine;
    engine.index = i;
    if (!allowed(math, deterministic, graph.notes(i)) ||
        graph.get_plan_name_at_index(i, engine.name).is_bad()) {
      continue;
    }
    const auto same = [&](const Engine& other) { return other.name == engine.name; };
    if (std::any_of(state.engines.begin(), state.engines.end(), same)) continue;
    engine.tensor_cores = has(graph.notes(i), fe::NumericalNote_t::TENSOR_CORE);
    engine.compiled = graph.is_compiled(i);
    state.engines.push_back(std::move(engine));
  }
  return state.engines.empty() ? nullptr : std::move(made);
}

int CudnnGraph::engines() const { return static_cast<int>(state_->engines.size()); }

const std::string& CudnnGraph::name(int engine) const { return state_->engine(engine).name; }

bool CudnnGraph::tensor_cores(int engine) const { return state_->engine(engine).tensor_cores; }

bool CudnnGraph::is_compiled(int engine) const { return state_->engine(engine).compiled; }

std::size_t CudnnGraph::workspace_bytes(int engine) const {
  LINNET_ASSERT(state_->engine(engine).prepared);
  return state_->engine(engine).workspace_bytes;
}

bool CudnnGraph::prepare(int engine) {
  Engine& e = state_->engine(engine);
  if (e.prepared) return true;
  std::int64_t bytes = 0;
  const std::string error = attempt([&] {
    const fe::error_t status = state_->graph.build_plan_at_index(e.index);
    return status.is_good() ? state_->graph.get_workspace_size_plan_at_index(e.index, bytes)
                            : status;
  });
  if (!error.empty() || bytes < 0 || static_cast<std::size_t>(bytes) > kCudnnWorkspaceLimit) {
    return false;
  }
  e.workspace_bytes = static_cast<std::size_t>(bytes);
  e.prepared = true;
  return true;
}

void CudnnGraph::execute(int engine, cudaStream_t stream, std::span<void* const> operands,
                         void* workspace) const {
  const Engine& e = state_->engine(engine);
  const CudnnTarget::State& device = state_->target->state();
  LINNET_ASSERT(e.prepared && device.handle);
  LINNET_ASSERT(operands.size() == state_->problem.operand_bytes().size());
  std::unordered_map<std::int64_t, void*> addresses;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    addresses.emplace(static_cast<std::int64_t>(i) + 1, operands[i]);
  }
  const cudnnStatus_t status = cudnnSetStream(device.handle.get(), stream);
  require<DeviceError>(status == CUDNN_STATUS_SUCCESS, "[{}] cuDNN refuses the stream: {}",
                       state_->problem.describe(), cudnnGetErrorString(status));
  const std::string error = attempt([&] {
    return state_->graph.execute_plan_at_index(device.handle.get(), addresses, workspace, e.index);
  });
  require<DeviceError>(error.empty(), "[{}] engine {} failed: {}", state_->problem.describe(),
                       e.name, error);
}

std::string cudnn_version() {
  const std::size_t version = cudnnGetVersion();
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace linnet::cuda
