// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cudnn_recurrent.h"

#include <cudnn.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "backend/cuda/device.h"
#include "base/check.h"

namespace linnet::cuda {
namespace {

template <class T, cudnnStatus_t (*create)(T*), auto destroy>
class Descriptor {
 public:
  Descriptor() {
    T made = nullptr;
    require<DeviceError>(create(&made) == CUDNN_STATUS_SUCCESS, "cuDNN cannot make a descriptor");
    handle_ = UniqueHandle<T, destroy>(made);
  }
  T get() const { return handle_.get(); }

 private:
  UniqueHandle<T, destroy> handle_;
};
using Rnn = Descriptor<cudnnRNNDescriptor_t, cudnnCreateRNNDescriptor, cudnnDestroyRNNDescriptor>;
using Sequence = Descriptor<cudnnRNNDataDescriptor_t, cudnnCreateRNNDataDescriptor,
                            cudnnDestroyRNNDataDescriptor>;
using Tensor =
    Descriptor<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;

constexpr std::array kAlgorithmNumbers{CUDNN_RNN_ALGO_STANDARD, CUDNN_RNN_ALGO_PERSIST_STATIC,
                                       CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H};
static_assert(kAlgorithmNumbers.size() == CudnnRnn::kAlgorithms.size());

cudnnRNNMode_t mode(CudnnRecurrent::Cell cell) {
  switch (cell) {
    case CudnnRecurrent::Cell::tanh: return CUDNN_RNN_TANH;
    case CudnnRecurrent::Cell::relu: return CUDNN_RNN_RELU;
    case CudnnRecurrent::Cell::gru: return CUDNN_GRU;
    case CudnnRecurrent::Cell::lstm: return CUDNN_LSTM;
  }
  return CUDNN_GRU;
}

/// Describes where a part of Linnet's weights stands among cuDNN's.
struct Piece {
  std::size_t operand = 0;    ///< of CudnnRnn::Weights
  std::size_t at = 0;         ///< bytes from the operand's start
  std::size_t packed_at = 0;  ///< bytes from the weight space's start
  std::size_t bytes = 0;
};

/// Adds a piece, or lengthens the one that it goes on.
void add(std::vector<Piece>& pieces, const Piece& next) {
  for (Piece& piece : pieces) {
    if (piece.operand == next.operand && piece.at + piece.bytes == next.at &&
        piece.packed_at + piece.bytes == next.packed_at) {
      piece.bytes += next.bytes;
      return;
    }
  }
  pieces.push_back(next);
}

/// Divides a workspace into places that start at multiples of kLibraryAlignment.
class Places {
 public:
  std::size_t add(std::size_t bytes) {
    const std::size_t at = end_;
    end_ += library_padded(bytes);
    return at;
  }
  /// With what it may take to begin at such a multiple.
  std::size_t bytes() const { return end_ + kLibraryAlignment; }

 private:
  std::size_t end_ = 0;
};

}  // namespace

std::string CudnnRecurrent::describe() const {
  return fmt::format("recurrent {} x=({}, {}, {}), {} units{}, {}",
                     enum_names(cell).at(static_cast<std::size_t>(cell)), n, steps, features, units,
                     bias ? "" : " without bias",
                     enum_names(math).at(static_cast<std::size_t>(math)));
}

struct CudnnRnn::State {
  std::shared_ptr<const CudnnTarget> target;
  CudnnRecurrent layer;
  std::size_t algorithm = 0;
  Rnn rnn;
  Sequence x, y;
  Tensor h;
  std::vector<Piece> pieces;
  std::size_t weight_bytes = 0;
  std::size_t y_bytes = 0;
  std::size_t work_bytes = 0;  ///< of cuDNN's own, in either mode
  std::size_t reserve_bytes = 0;
  std::size_t kept_bytes = 0;
  // Places in what is kept.
  std::size_t weights_at = 0, y_at = 0, reserve_at = 0;

  void check(cudnnStatus_t status, const char* call) const {
    require<DeviceError>(status == CUDNN_STATUS_SUCCESS, "[{}] {} failed: {}", layer.describe(),
                         call, cudnnGetErrorString(status));
  }
  void describe_to_cudnn();
  void find_pieces();
  void divide_kept();
  /// Places in workspaces.
  struct Inference {
    Places places;
    std::size_t weights_at, work_at;
    explicit Inference(const State& s)
        : weights_at(places.add(s.weight_bytes)), work_at(places.add(s.work_bytes)) {}
  };
  struct Gradient {
    Places places;
    std::size_t work_at, dweights_at, zeros_at, reserve_at;
    Gradient(const State& s, bool y_gradient, bool alone)
        : work_at(places.add(s.work_bytes)),
          dweights_at(places.add(s.weight_bytes)),
          zeros_at(places.add(y_gradient ? 0 : s.y_bytes)),
          reserve_at(places.add(alone ? 0 : s.reserve_bytes)) {}
  };
  void pack(cudaStream_t stream, const Weights<const float>& weights, std::byte* packed) const;
  /// reserve: null in an inference.
  void forward(cudaStream_t stream, const float* x_data, const std::byte* packed, float* y_data,
               float* last, std::byte* work, std::byte* reserve) const;
};

void CudnnRnn::State::describe_to_cudnn() {
  const auto number = [](std::int64_t dim) {
    require<DeviceError>(dim > 0 && dim <= std::numeric_limits<int>::max(), "a dimension of {}",
                         dim);
    return static_cast<int>(dim);
  };
  const int n = number(layer.n);
  const int steps = number(layer.steps);
  const int units = number(layer.units);
  check(cudnnSetRNNDescriptor_v8(
            rnn.get(), kAlgorithmNumbers.at(algorithm), mode(layer.cell),
            layer.bias ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_NO_BIAS, CUDNN_UNIDIRECTIONAL,
            CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
            layer.math == CudnnMath::fp32 ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH,
            number(layer.features), units, units, 1, nullptr, CUDNN_RNN_PADDED_IO_ENABLED),
        "cudnnSetRNNDescriptor_v8");
  const std::vector<int> lengths(static_cast<std::size_t>(n), steps);
  const auto set = [&](const Sequence& sequence, std::int64_t width) {
    check(cudnnSetRNNDataDescriptor(sequence.get(), CUDNN_DATA_FLOAT,
                                    CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED, steps, n,
                                    number(width), lengths.data(), nullptr),
          "cudnnSetRNNDataDescriptor");
  };
  set(x, layer.features);
  set(y, layer.units);
  const std::array<int, 3> dims{1, n, units};
  const std::array<int, 3> strides{number(layer.n * layer.units), units, 1};
  check(cudnnSetTensorNdDescriptor(h.get(), CUDNN_DATA_FLOAT, 3, dims.data(), strides.data()),
        "cudnnSetTensorNdDescriptor");
}

/// Input matrices come before recurrent ones, gates in PyTorch's order.
void CudnnRnn::State::find_pieces() {
  cudnnHandle_t handle = target->handle();
  check(cudnnGetRNNWeightSpaceSize(handle, rnn.get(), &weight_bytes), "cudnnGetRNNWeightSpaceSize");
  const ScratchMemory memory = try_allocate(weight_bytes);
  require<OutOfMemory>(static_cast<bool>(memory), "out of memory for the weights of {}",
                       layer.describe());
  const auto* start = static_cast<const std::byte*>(memory.get());
  const Tensor matrix;
  const Tensor vector;
  const auto find = [&](std::size_t operand, std::int64_t gate, std::int64_t columns,
                        const Tensor& tensor, const void* address) {
    std::array<int, 3> dims{};
    std::array<int, 3> strides{};
    cudnnDataType_t type{};
    int rank = 0;
    check(cudnnGetTensorNdDescriptor(tensor.get(), 3, &type, &rank, dims.data(), strides.data()),
          "cudnnGetTensorNdDescriptor");
    const Piece piece{operand,
                      static_cast<std::size_t>(gate * layer.units * columns) * sizeof(float),
                      static_cast<std::size_t>(static_cast<const std::byte*>(address) - start),
                      static_cast<std::size_t>(layer.units * columns) * sizeof(float)};
    require<DeviceError>(address != nullptr && rank == 3 && type == CUDNN_DATA_FLOAT &&
                             dims[0] == 1 && dims[1] == layer.units && dims[2] == columns &&
                             strides[1] == columns && strides[2] == 1 &&
                             piece.packed_at + piece.bytes <= weight_bytes,
                         "[{}] cuDNN's layout of weights differs from its manual",
                         layer.describe());
    add(pieces, piece);
  };
  for (const std::size_t half : {0U, 1U}) {
    for (std::int64_t gate = 0; gate < layer.gates(); ++gate) {
      void* matrix_at = nullptr;
      void* vector_at = nullptr;
      const auto id =
          static_cast<std::int32_t>(static_cast<std::int64_t>(half) * layer.gates() + gate);
      check(cudnnGetRNNWeightParams(handle, rnn.get(), 0, weight_bytes, start, id, matrix.get(),
                                    &matrix_at, vector.get(), &vector_at),
            "cudnnGetRNNWeightParams");
      find(half, gate, half == 0 ? layer.features : layer.units, matrix, matrix_at);
      if (layer.bias) find(2 + half, gate, 1, vector, vector_at);
    }
  }
}

void CudnnRnn::State::divide_kept() {
  const auto temporary = [&](cudnnForwardMode_t mode) {
    std::size_t work = 0;
    check(cudnnGetRNNTempSpaceSizes(target->handle(), rnn.get(), mode, x.get(), &work,
                                    &reserve_bytes),
          "cudnnGetRNNTempSpaceSizes");
    work_bytes = std::max(work_bytes, work);
  };
  temporary(CUDNN_FWD_MODE_INFERENCE);
  temporary(CUDNN_FWD_MODE_TRAINING);
  y_bytes = static_cast<std::size_t>(layer.n * layer.steps * layer.units) * sizeof(float);
  Places places;
  weights_at = places.add(weight_bytes);
  y_at = places.add(y_bytes);
  reserve_at = places.add(reserve_bytes);
  kept_bytes = places.bytes();
}

void CudnnRnn::State::pack(cudaStream_t stream, const Weights<const float>& weights,
                           std::byte* packed) const {
  for (const Piece& piece : pieces) {
    const auto* from = reinterpret_cast<const std::byte*>(weights.at(piece.operand)) + piece.at;
    cuda::check(cudaMemcpyAsync(packed + piece.packed_at, from, piece.bytes,
                                cudaMemcpyDeviceToDevice, stream),
                "copying a recurrent layer's weights");
  }
}

void CudnnRnn::State::forward(cudaStream_t stream, const float* x_data, const std::byte* packed,
                              float* y_data, float* last, std::byte* work,
                              std::byte* reserve) const {
  const bool training = reserve != nullptr;
  check(cudnnSetStream(target->handle(), stream), "cudnnSetStream");
  check(cudnnRNNForward(target->handle(), rnn.get(),
                        training ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE, nullptr,
                        x.get(), x_data, y.get(), y_data, h.get(), nullptr, last, h.get(), nullptr,
                        nullptr, weight_bytes, packed, work_bytes, work,
                        training ? reserve_bytes : 0, reserve),
        "cudnnRNNForward");
}

CudnnRnn::CudnnRnn() : state_(std::make_unique<State>()) {}
CudnnRnn::~CudnnRnn() = default;

std::shared_ptr<const CudnnRnn> CudnnRnn::build(std::shared_ptr<const CudnnTarget> target,
                                                const CudnnRecurrent& layer,
                                                std::size_t algorithm) {
  try {
    std::shared_ptr<CudnnRnn> made(new CudnnRnn);
    made->state_->target = std::move(target);
    made->state_->layer = layer;
    made->state_->algorithm = algorithm;
    made->state_->describe_to_cudnn();
    made->state_->find_pieces();
    made->state_->divide_kept();
    return made;
  } catch (const Error&) {
    return nullptr;
  }
}

std::string_view CudnnRnn::algorithm() const { return kAlgorithms.at(state_->algorithm); }
std::size_t CudnnRnn::kept_bytes() const { return state_->kept_bytes; }
std::size_t CudnnRnn::inference_bytes() const { return State::Inference(*state_).places.bytes(); }
std::size_t CudnnRnn::training_bytes() const { return library_workspace(state_->work_bytes); }
std::size_t CudnnRnn::gradient_bytes(bool y_gradient, bool alone) const {
  return State::Gradient(*state_, y_gradient, alone).places.bytes();
}

void CudnnRnn::infer(cudaStream_t stream, const float* x, const Weights<const float>& weights,
                     float* y, float* last, std::byte* workspace) const {
  const State& s = *state_;
  const State::Inference at(s);
  workspace = library_aligned(workspace);
  s.pack(stream, weights, workspace + at.weights_at);
  s.forward(stream, x, workspace + at.weights_at, y, last, workspace + at.work_at, nullptr);
}

void CudnnRnn::train(cudaStream_t stream, const float* x, const Weights<const float>& weights,
                     float* y, float* last, std::byte* kept, std::byte* workspace) const {
  const State& s = *state_;
  kept = library_aligned(kept);
  std::byte* kept_y = kept + s.y_at;
  s.pack(stream, weights, kept + s.weights_at);
  s.forward(stream, x, kept + s.weights_at, reinterpret_cast<float*>(kept_y), last,
            library_aligned(workspace), kept + s.reserve_at);
  if (y == nullptr) return;
  cuda::check(cudaMemcpyAsync(y, kept_y, s.y_bytes, cudaMemcpyDeviceToDevice, stream),
              "copying a recurrent layer's states");
}

void CudnnRnn::gradient(cudaStream_t stream, const float* x, std::byte* kept, bool alone,
                        const float* dy, const float* dlast, float* dx,
                        const Weights<float>& dweights, std::byte* workspace) const {
  const State& s = *state_;
  const State::Gradient at(s, dy != nullptr, alone);
  kept = library_aligned(kept);
  workspace = library_aligned(workspace);
  const std::byte* packed = kept + s.weights_at;
  const auto* y = reinterpret_cast<const float*>(kept + s.y_at);
  std::byte* reserve = kept + s.reserve_at;
  std::byte* work = workspace + at.work_at;
  std::byte* dpacked = workspace + at.dweights_at;
  const auto clear = [&](std::byte* memory, std::size_t bytes) {
    cuda::check(cudaMemsetAsync(memory, 0, bytes, stream), "clearing a recurrent layer's memory");
  };
  if (!alone) {  // cuDNN writes there what its second call reads
    cuda::check(cudaMemcpyAsync(workspace + at.reserve_at, reserve, s.reserve_bytes,
                                cudaMemcpyDeviceToDevice, stream),
                "copying what a recurrent layer keeps");
    reserve = workspace + at.reserve_at;
  }
  if (dy == nullptr) {  // cuDNN wants one
    clear(workspace + at.zeros_at, s.y_bytes);
    dy = reinterpret_cast<const float*>(workspace + at.zeros_at);
  }
  clear(dpacked, s.weight_bytes);  // cuDNN adds to it
  s.check(cudnnSetStream(s.target->handle(), stream), "cudnnSetStream");
  s.check(cudnnRNNBackwardData_v8(s.target->handle(), s.rnn.get(), nullptr, s.y.get(), y, dy,
                                  s.x.get(), dx, s.h.get(), nullptr, dlast, nullptr, s.h.get(),
                                  nullptr, nullptr, nullptr, s.weight_bytes, packed, s.work_bytes,
                                  work, s.reserve_bytes, reserve),
          "cudnnRNNBackwardData_v8");
  s.check(cudnnRNNBackwardWeights_v8(s.target->handle(), s.rnn.get(), CUDNN_WGRAD_MODE_ADD, nullptr,
                                     s.x.get(), x, s.h.get(), nullptr, s.y.get(), y, s.weight_bytes,
                                     dpacked, s.work_bytes, work, s.reserve_bytes, reserve),
          "cudnnRNNBackwardWeights_v8");
  for (const Piece& piece : s.pieces) {
    auto* to = reinterpret_cast<std::byte*>(dweights.at(piece.operand)) + piece.at;
    cuda::check(cudaMemcpyAsync(to, dpacked + piece.packed_at, piece.bytes,
                                cudaMemcpyDeviceToDevice, stream),
                "copying a recurrent layer's gradients");
  }
}

}  // namespace linnet::cuda
