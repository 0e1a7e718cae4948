// SPDX-License-Identifier: Apache-2.0
// CudnnGraph without cuDNN, on the simulated device: what stands around cuDNN is tested with it.
//   engine 0 never takes a graph; engine 1 takes all and fails when it runs; engine 2 works;
//   engine 3 works and is slow. Tensor cores take bfloat16 where channels are multiples of 8.
// Refused: sigmoid and GELU, bfloat16 with dilation, and sums of groups.
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "backend/cuda/cudnn_graph.h"
#include "backend/cuda/vectors.cuh"
#include "base/check.h"

namespace linnet::cuda {
namespace {

using Direction = CudnnConvolution::Direction;

constexpr std::size_t kWorkspace = 1000;
/// Of the fast engine that may only be taken where sums need no fixed order.
constexpr const char* kAnyOrder = "Fake_eng4_k1=0";

struct Call {
  CudnnConvolution conv;
  const void* first = nullptr;
  const void* second = nullptr;
  const void* bias = nullptr;
  const void* residual = nullptr;
  const void* x = nullptr;             ///< of the norm
  std::array<const float*, 4> norm{};  ///< sums of x, of its squares, gamma, beta; or null
  std::array<float*, 2> sums{};        ///< of the result; or null
  void* result = nullptr;
  std::byte* workspace = nullptr;

  float read(const void* from, std::int64_t i) const {
    const auto get = [&]<class T>() { return to_float(static_cast<const T*>(from)[i]); };
    return with_element(operand_type(conv.math), get);
  }
  /// Returns an element of the norm's x, normalised: before gamma, and after beta.
  std::pair<double, double> normalized(std::int64_t i) const {
    const auto at = [&](std::size_t operand) {
      return double{norm.at(operand)[i % conv.x_stride()]};
    };
    const auto rows = static_cast<double>(conv.rows_in());
    const double mean = at(0) / rows;
    const double variance = std::max(at(1) / rows - mean * mean, 0.0);
    const double normal = (read(x, i) - mean) / std::sqrt(variance + conv.epsilon);
    return {normal, normal * at(2) + at(3)};
  }
  /// Returns an element of x as the convolution reads it.
  float read_input(const void* from, std::int64_t i) const {
    if (!conv.norm || from != x) return read(from, i);
    const double y = normalized(i).second;
    return static_cast<float>(conv.norm_relu ? std::max(y, 0.0) : y);
  }
  void write(std::int64_t i, float value) const {
    with_element(operand_type(conv.math),
                 [&]<class T>() { static_cast<T*>(result)[i] = stored_as<T>(value); });
  }
};

/// visit(element of x, of the kernel, of y) for every product of the convolution.
template <class F>
void for_products(const CudnnConvolution& s, F visit) {
  const std::int64_t group_in = s.c / s.groups;
  const std::int64_t group_out = s.co / s.groups;
  for (std::int64_t y = 0; y < s.n * s.oh * s.ow * s.co; ++y) {
    const std::int64_t o = y % s.co;
    const std::int64_t j = y / s.co % s.ow;
    const std::int64_t i = y / s.co / s.ow % s.oh;
    const std::int64_t n = y / s.co / s.ow / s.oh;
    for (std::int64_t tap = 0; tap < s.kh * s.kw * group_in; ++tap) {
      const std::int64_t row = i * s.stride_h - s.pad_top + tap / group_in / s.kw * s.dilation_h;
      const std::int64_t column =
          j * s.stride_w - s.pad_left + tap / group_in % s.kw * s.dilation_w;
      if (row < 0 || row >= s.h || column < 0 || column >= s.w) continue;
      const std::int64_t channel = o / group_out * group_in + tap % group_in;
      visit(((n * s.h + row) * s.w + column) * s.x_stride() + channel,
            o * s.kh * s.kw * group_in + tap, y / s.co * s.y_stride() + o);
    }
  }
}

__global__ void fake_convolution(Call call) {
  const CudnnConvolution& s = call.conv;
  std::fill_n(call.workspace, kWorkspace, std::byte{0xFF});
  const Direction direction = s.direction;
  const std::int64_t results = direction == Direction::forward      ? s.image_out()
                               : direction == Direction::grad_input ? s.rows_in() * s.c
                                                                    : s.weights();
  std::vector<float> sums(static_cast<std::size_t>(results));
  for (float* added : call.sums) {
    if (added != nullptr) std::fill_n(added, direction == Direction::forward ? s.co : s.c, 0.0F);
  }
  const std::int64_t inputs = direction == Direction::grad_input ? s.image_out() : s.image_in();
  bool zeros = true;
  for (std::int64_t i = 0; i < inputs; ++i) zeros &= call.read(call.first, i) == 0;
  if (zeros) throw std::runtime_error("a convolution of zeros: products take less power, and time");
  for_products(s, [&](std::int64_t x, std::int64_t w, std::int64_t y) {
    const std::int64_t first = direction == Direction::grad_input ? y : x;
    const std::int64_t second = direction == Direction::grad_weight ? y : w;
    const std::int64_t to = direction == Direction::forward ? y
                            : direction == Direction::grad_input
                                ? x / s.x_stride() * s.c + x % s.x_stride()
                                : w;
    sums[static_cast<std::size_t>(to)] +=
        call.read_input(call.first, first) * call.read(call.second, second);
  });
  for (std::int64_t i = 0; i < results; ++i) {
    if (direction == Direction::forward && i % s.y_stride() >= s.co) continue;
    float value = sums[static_cast<std::size_t>(i)];
    if (call.bias != nullptr) value += call.read(call.bias, i % s.co);
    if (call.residual != nullptr) value += call.read(call.residual, i);
    if (s.tail == CudnnConvolution::Tail::relu) value = std::max(value, 0.0F);
    if (s.tail == CudnnConvolution::Tail::tanh) value = std::tanh(value);
    if (direction == Direction::grad_input && s.norm) {
      const auto [normal, y] = call.normalized(i / s.c * s.x_stride() + i % s.c);
      if (s.norm_relu && !(y > 0)) value = 0;
      call.sums[0][i % s.c] += value;
      call.sums[1][i % s.c] += value * static_cast<float>(normal);
    }
    call.write(i, value);
    if (!s.sums || direction != Direction::forward) continue;
    call.sums[0][i % s.y_stride()] += value;
    call.sums[1][i % s.y_stride()] += value * value;
  }
}

__global__ void fake_delay() { sim::device().pretended_seconds += 1; }

constexpr std::size_t kMostOperands = 11;
using Operands = std::array<float*, kMostOperands>;

/// One channel of a training norm; operands in the order of CudnnBatchNorm.
void fake_norm(const CudnnBatchNorm& s, const Operands& o, std::int64_t k) {
  const auto rows = static_cast<double>(s.rows());
  const std::size_t y = s.residual ? 6 : 5;
  const auto at = [&](std::size_t operand, std::int64_t r) -> float& {
    return o.at(operand)[r * s.c + k];
  };
  double mean = 0;
  double variance = 0;
  for (std::int64_t r = 0; r < s.rows(); ++r) mean += at(0, r) / rows;
  for (std::int64_t r = 0; r < s.rows(); ++r) variance += std::pow(at(0, r) - mean, 2) / rows;
  const double inv_std = 1 / std::sqrt(variance + s.epsilon);
  for (std::int64_t r = 0; r < s.rows(); ++r) {
    double value = (at(0, r) - mean) * inv_std * o[1][k] + o[2][k];
    if (s.residual) value += at(5, r);
    at(y, r) = static_cast<float>(s.relu ? std::max(value, 0.0) : value);
  }
  o.at(y + 1)[k] = static_cast<float>(mean);
  o.at(y + 2)[k] = static_cast<float>(inv_std);
  const double unbiased = variance * rows / (rows - 1);
  o.at(y + 3)[k] = static_cast<float>((1 - s.momentum) * o[3][k] + s.momentum * mean);
  o.at(y + 4)[k] = static_cast<float>((1 - s.momentum) * o[4][k] + s.momentum * unbiased);
}

/// Likewise of a gradient. Writes the residual's before dx, which may lie upon y.
void fake_norm_gradient(const CudnnBatchNorm& s, const Operands& o, std::int64_t k) {
  const auto [dy, x, gamma, mean, inv_std] = std::tuple(o[0], o[1], o[2][k], o[3][k], o[4][k]);
  const std::size_t dx = s.relu ? 6 : 5;
  double g = 0;
  double b = 0;
  const auto dz = [&](std::int64_t i) { return !s.relu || o[5][i] > 0 ? double{dy[i]} : 0.0; };
  for (std::int64_t i = k; i < s.rows() * s.c; i += s.c) {
    g += dz(i) * (x[i] - mean) * inv_std;
    b += dz(i);
  }
  for (std::int64_t i = k; i < s.rows() * s.c; i += s.c) {
    const double normal = (x[i] - mean) * inv_std;
    const double from = dz(i);
    if (s.residual) o.at(dx + 3)[i] = static_cast<float>(from);
    o.at(dx)[i] = static_cast<float>(gamma * inv_std *
                                     (from - (b + normal * g) / static_cast<double>(s.rows())));
  }
  o.at(dx + 1)[k] = static_cast<float>(g);
  o.at(dx + 2)[k] = static_cast<float>(b);
}

__global__ void fake_batch_norm(CudnnBatchNorm s, Operands operands, std::byte* workspace) {
  for (std::int64_t k = 0; k < s.c; ++k) {
    if (s.direction == CudnnBatchNorm::Direction::forward) {
      fake_norm(s, operands, k);
    } else {
      fake_norm_gradient(s, operands, k);
    }
  }
  std::fill_n(workspace, kWorkspace, std::byte{0xFF});  // results don't survive in it
}

}  // namespace

struct CudnnTarget::State {};
CudnnTarget::CudnnTarget() : state_(std::make_unique<State>()) {}
CudnnTarget::~CudnnTarget() = default;
cudnnContext* CudnnTarget::handle() const { return reinterpret_cast<cudnnContext*>(state_.get()); }
std::shared_ptr<CudnnTarget> CudnnTarget::current_device() {
  return std::shared_ptr<CudnnTarget>(new CudnnTarget);
}

struct CudnnGraph::State {
  CudnnProblem problem;
  std::array<bool, 5> loaded{};  ///< by engine: it has run
  std::vector<std::string> names{"Fake_eng0_k1=0", "Fake_eng1_k1=0", "Fake_eng2_k1=0",
                                 "Fake_eng3_k1=0"};
};

CudnnGraph::CudnnGraph() : state_(std::make_unique<State>()) {}
CudnnGraph::~CudnnGraph() = default;

std::unique_ptr<CudnnGraph> CudnnGraph::build(std::shared_ptr<const CudnnTarget> /*target*/,
                                              const CudnnProblem& problem, bool deterministic) {
  using Tail = CudnnConvolution::Tail;
  if (const auto* conv = std::get_if<CudnnConvolution>(&problem)) {
    if (conv->tail == Tail::sigmoid || conv->tail == Tail::gelu) return nullptr;
    if (operand_type(conv->math) != DType::f32 && conv->dilation_h > 1) return nullptr;
    if (conv->sums && conv->groups > 1) return nullptr;
  }
  std::unique_ptr<CudnnGraph> made(new CudnnGraph);
  made->state_->problem = problem;
  if (!deterministic) made->state_->names.insert(made->state_->names.begin() + 2, kAnyOrder);
  return made;
}

int CudnnGraph::engines() const { return static_cast<int>(state_->names.size()); }
const std::string& CudnnGraph::name(int engine) const {
  return state_->names.at(static_cast<std::size_t>(engine));
}
bool CudnnGraph::prepare(int engine) { return engine > 0; }
std::size_t CudnnGraph::workspace_bytes(int /*engine*/) const { return kWorkspace; }
bool CudnnGraph::tensor_cores(int engine) const {
  const auto* conv = std::get_if<CudnnConvolution>(&state_->problem);
  const bool half = conv != nullptr && operand_type(conv->math) != DType::f32;
  return engine == 1 || (engine == 2 && half && conv->c % 8 == 0 && conv->co % 8 == 0);
}

void CudnnGraph::execute(int engine, cudaStream_t stream, std::span<void* const> operands,
                         void* workspace) const {
  require(engine >= 2, "engine {} fails", engine);
  LINNET_ASSERT(operands.size() == operand_bytes(state_->problem).size());
  LINNET_ASSERT(reinterpret_cast<std::uintptr_t>(workspace) % 256 == 0);
  for (const void* operand : operands) {
    LINNET_ASSERT(reinterpret_cast<std::uintptr_t>(operand) % 16 == 0);
    sim::require_reachable("a cuDNN graph", 0, operand);
  }
  bool& loaded = state_->loaded.at(static_cast<std::size_t>(engine));
  sim::require_loaded(std::exchange(loaded, true), describe(state_->problem), stream);
  if (name(engine) == "Fake_eng3_k1=0") launch(stream, "fake_delay", {}, fake_delay);
  const LaunchShape one{.grid = 1, .block = 1};
  auto* scratch = static_cast<std::byte*>(workspace);
  if (const auto* norm = std::get_if<CudnnBatchNorm>(&state_->problem)) {
    Operands all{};
    for (std::size_t i = 0; i < operands.size(); ++i) all[i] = static_cast<float*>(operands[i]);
    return launch(stream, "fake_batch_norm", one, fake_batch_norm, *norm, all, scratch);
  }
  const auto& conv = std::get<CudnnConvolution>(state_->problem);
  Call call{.conv = conv,
            .first = operands[0],
            .second = operands[1],
            .result = operands[operands.size() - (conv.sums ? 3 : 1)],
            .workspace = scratch};
  if (conv.bias) call.bias = operands[2];
  if (conv.residual) call.residual = operands[operands.size() - 2];
  const std::size_t vectors = conv.direction == CudnnConvolution::Direction::grad_input ? 3 : 2;
  call.x = vectors == 3 && conv.norm ? operands[2] : operands[0];
  for (std::size_t i = 0; conv.norm && i < 4; ++i) {
    call.norm.at(i) = static_cast<const float*>(operands[vectors + i]);
  }
  for (std::size_t i = 0; conv.sums && i < 2; ++i) {
    call.sums.at(i) = static_cast<float*>(operands[operands.size() - 2 + i]);
  }
  launch(stream, "fake_convolution", one, fake_convolution, call);
}

std::string cudnn_version() { return "0.0.0"; }

}  // namespace linnet::cuda
