// SPDX-License-Identifier: Apache-2.0
// CudnnGraph without cuDNN, on the simulated device: what stands around cuDNN is tested with it.
//   engine 0 never takes a graph; engine 1 takes all and fails when it runs; engine 2 works.
// Refused: tails but ReLU, and bfloat16 with dilation.
#include <algorithm>

#include "backend/cuda/bf16.cuh"
#include "backend/cuda/cudnn_graph.h"
#include "base/check.h"

namespace linnet::cuda {
namespace {

using Direction = CudnnConvolution::Direction;

constexpr std::size_t kWorkspace = 1000;

struct Call {
  CudnnConvolution conv;
  const void* first = nullptr;
  const void* second = nullptr;
  const void* bias = nullptr;
  void* result = nullptr;
  std::byte* workspace = nullptr;

  float read(const void* from, std::int64_t i) const {
    return conv.math == CudnnMath::bf16 ? from_bf16(static_cast<const std::uint16_t*>(from)[i])
                                        : static_cast<const float*>(from)[i];
  }
  void write(std::int64_t i, float value) const {
    if (conv.math == CudnnMath::bf16) {
      static_cast<std::uint16_t*>(result)[i] = to_bf16(value);
    } else {
      static_cast<float*>(result)[i] = value;
    }
  }
};

/// visit(element of x, of the kernel, of y) for every product of the convolution.
template <class F>
void for_products(const CudnnConvolution& s, F visit) {
  const std::int64_t group_in = s.c / s.groups;
  const std::int64_t group_out = s.co / s.groups;
  for (std::int64_t y = 0; y < s.image_out(); ++y) {
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
    if (s.tail == CudnnConvolution::Tail::relu) value = std::max(value, 0.0F);
    call.write(i, value);
  }
}

}  // namespace

struct CudnnTarget::State {};
CudnnTarget::CudnnTarget() : state_(std::make_unique<State>()) {}
CudnnTarget::~CudnnTarget() = default;
std::shared_ptr<CudnnTarget> CudnnTarget::current_device() {
  return std::shared_ptr<CudnnTarget>(new CudnnTarget);
}

struct CudnnGraph::State {
  CudnnConvolution convolution;
  std::vector<std::string> names{"Fake_eng0_k1=0", "Fake_eng1_k1=0", "Fake_eng2_k1=0"};
};

CudnnGraph::CudnnGraph() : state_(std::make_unique<State>()) {}
CudnnGraph::~CudnnGraph() = default;

std::unique_ptr<CudnnGraph> CudnnGraph::build(std::shared_ptr<const CudnnTarget> /*target*/,
                                              const CudnnConvolution& convolution) {
  using Tail = CudnnConvolution::Tail;
  if (convolution.tail != Tail::none && convolution.tail != Tail::relu) return nullptr;
  if (convolution.math == CudnnMath::bf16 && convolution.dilation_h > 1) return nullptr;
  std::unique_ptr<CudnnGraph> made(new CudnnGraph);
  made->state_->convolution = convolution;
  return made;
}

int CudnnGraph::engines() const { return 3; }
const std::string& CudnnGraph::name(int engine) const {
  return state_->names.at(static_cast<std::size_t>(engine));
}
bool CudnnGraph::prepare(int engine) { return engine > 0; }
std::size_t CudnnGraph::workspace_bytes(int /*engine*/) const { return kWorkspace; }
bool CudnnGraph::tensor_cores(int engine) const { return engine == 1; }

void CudnnGraph::execute(int engine, cudaStream_t stream, std::span<void* const> operands,
                         void* workspace) const {
  require(engine == 2, "engine {} fails", engine);
  LINNET_ASSERT(operands.size() == state_->convolution.operand_bytes().size());
  LINNET_ASSERT(reinterpret_cast<std::uintptr_t>(workspace) % 256 == 0);
  Call call{.conv = state_->convolution,
            .first = operands[0],
            .second = operands[1],
            .result = operands.back(),
            .workspace = static_cast<std::byte*>(workspace)};
  if (state_->convolution.bias) call.bias = operands[2];
  launch(stream, "fake_convolution", {.grid = 1, .block = 1}, fake_convolution, call);
}

std::string cudnn_version() { return "0.0.0"; }

}  // namespace linnet::cuda
