// SPDX-License-Identifier: Apache-2.0
// CudnnGraph without cuDNN, on the simulated device: what stands around cuDNN is tested with it.
//   engine 0 never takes a graph; engine 1 takes all and fails when it runs; engine 2 works;
//   engine 3 works, is slow, and is one of the fallback; engine 5 is compiled, and of tanh the one
//   with tensor cores.
// Tensor cores take bfloat16 where channels are multiples of 8.
// Refused: sigmoid and GELU, and bfloat16 with dilation.
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
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
constexpr const char* kFallback = "Fake_eng3_k1=0";
constexpr const char* kCompiled = "Fake_eng5_k24=0";

struct Call {
  CudnnConvolution conv;
  const void* first = nullptr;
  const void* second = nullptr;
  const void* bias = nullptr;
  const void* residual = nullptr;
  void* result = nullptr;
  std::byte* workspace = nullptr;

  float read(const void* from, std::int64_t i) const {
    const auto get = [&]<class T>() { return to_float(static_cast<const T*>(from)[i]); };
    return with_element(operand_type(conv.math), get);
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
      visit(((n * s.h + row) * s.w + column) * s.c + channel, o * s.kh * s.kw * group_in + tap, y);
    }
  }
}

__global__ void fake_convolution(Call call) {
  const CudnnConvolution& s = call.conv;
  std::fill_n(call.workspace, kWorkspace, std::byte{0xFF});
  const Direction direction = s.direction;
  const std::int64_t results = direction == Direction::forward      ? s.image_out()
                               : direction == Direction::grad_input ? s.image_in()
                                                                    : s.weights();
  std::vector<float> sums(static_cast<std::size_t>(results));
  const std::int64_t inputs = direction == Direction::grad_input ? s.image_out() : s.image_in();
  bool zeros = true;
  for (std::int64_t i = 0; i < inputs; ++i) zeros &= call.read(call.first, i) == 0;
  if (zeros) throw std::runtime_error("a convolution of zeros: products take less power, and time");
  for_products(s, [&](std::int64_t x, std::int64_t w, std::int64_t y) {
    const std::int64_t first = direction == Direction::grad_input ? y : x;
    const std::int64_t second = direction == Direction::grad_weight ? y : w;
    const std::int64_t to = direction == Direction::forward      ? y
                            : direction == Direction::grad_input ? x
                                                                 : w;
    sums[static_cast<std::size_t>(to)] +=
        call.read(call.first, first) * call.read(call.second, second);
  });
  for (std::int64_t i = 0; i < results; ++i) {
    float value = sums[static_cast<std::size_t>(i)];
    if (call.bias != nullptr) value += call.read(call.bias, i % s.co);
    if (call.residual != nullptr) value += call.read(call.residual, i);
    if (s.tail == CudnnConvolution::Tail::relu) value = std::max(value, 0.0F);
    if (s.tail == CudnnConvolution::Tail::tanh) value = std::tanh(value);
    call.write(i, value);
  }
}

__global__ void fake_delay() { sim::device().pretended_seconds += 1; }

}  // namespace

int& fake_fallbacks() {
  static int asked = 0;
  return asked;
}

struct CudnnTarget::State {};
CudnnTarget::CudnnTarget() : state_(std::make_unique<State>()) {}
CudnnTarget::~CudnnTarget() = default;
cudnnContext* CudnnTarget::handle() const { return reinterpret_cast<cudnnContext*>(state_.get()); }
std::shared_ptr<CudnnTarget> CudnnTarget::current_device() {
  return std::shared_ptr<CudnnTarget>(new CudnnTarget);
}

struct CudnnGraph::State {
  CudnnConvolution problem;
  std::array<bool, 6> loaded{};  ///< by engine: it has run
  std::vector<std::string> names{"Fake_eng0_k1=0", "Fake_eng1_k1=0", "Fake_eng2_k1=0",
                                 "Fake_eng3_k1=0", kCompiled};
};

CudnnGraph::CudnnGraph() : state_(std::make_unique<State>()) {}
CudnnGraph::~CudnnGraph() = default;

std::unique_ptr<CudnnGraph> CudnnGraph::build(const std::shared_ptr<const CudnnTarget>& /*target*/,
                                              const CudnnConvolution& problem, bool deterministic,
                                              bool all) {
  using Tail = CudnnConvolution::Tail;
  if (problem.tail == Tail::sigmoid || problem.tail == Tail::gelu) return nullptr;
  if (operand_type(problem.math) != DType::f32 && problem.dilation_h > 1) return nullptr;
  std::unique_ptr<CudnnGraph> made(new CudnnGraph);
  made->state_->problem = problem;
  if (problem.tail == Tail::tanh) {
    made->state_->names = {"Fake_eng0_k1=0", kCompiled, "Fake_eng3_k1=0"};
  }
  fake_fallbacks() += all ? 1 : 0;
  if (!all) std::erase(made->state_->names, kFallback);
  if (!deterministic) made->state_->names.insert(made->state_->names.begin() + 2, kAnyOrder);
  return made;
}

int CudnnGraph::engines() const { return static_cast<int>(state_->names.size()); }
const std::string& CudnnGraph::name(int engine) const {
  return state_->names.at(static_cast<std::size_t>(engine));
}
bool CudnnGraph::is_compiled(int engine) const { return name(engine) == kCompiled; }
bool CudnnGraph::prepare(int engine) {
  require(!is_compiled(engine) || state_->names.size() <= 3, "an engine was compiled in vain");
  return engine > 0;
}
std::size_t CudnnGraph::workspace_bytes(int /*engine*/) const { return kWorkspace; }
bool CudnnGraph::tensor_cores(int engine) const {
  const bool half = operand_type(state_->problem.math) != DType::f32;
  return engine == 1 || is_compiled(engine) ||
         (engine == 2 && half && state_->problem.c % 8 == 0 && state_->problem.co % 8 == 0);
}

void CudnnGraph::execute(int engine, cudaStream_t stream, std::span<void* const> operands,
                         void* workspace) const {
  require(engine >= 2 || is_compiled(engine), "engine {} fails", engine);
  LINNET_ASSERT(operands.size() == state_->problem.operand_bytes().size());
  LINNET_ASSERT(reinterpret_cast<std::uintptr_t>(workspace) % 256 == 0);
  for (const void* operand : operands) {
    LINNET_ASSERT(reinterpret_cast<std::uintptr_t>(operand) % 16 == 0);
    sim::require_reachable("a cuDNN graph", 0, operand);
  }
  bool& loaded = state_->loaded.at(static_cast<std::size_t>(engine));
  sim::require_loaded(std::exchange(loaded, true), state_->problem.describe(), stream);
  const bool any_order = std::ranges::count(state_->names, kAnyOrder) > 0;
  if (name(engine) == "Fake_eng3_k1=0" || (any_order && name(engine) != kAnyOrder)) {
    launch(stream, "fake_delay", {}, fake_delay);
  }
  const CudnnConvolution& conv = state_->problem;
  Call call{.conv = conv,
            .first = operands[0],
            .second = operands[1],
            .result = operands.back(),
            .workspace = static_cast<std::byte*>(workspace)};
  if (conv.bias) call.bias = operands[2];
  if (conv.residual) call.residual = operands[operands.size() - 2];
  launch(stream, "fake_convolution", {.grid = 1, .block = 1}, fake_convolution, call);
}

std::string cudnn_version() { return "0.0.0"; }

}  // namespace linnet::cuda
