// SPDX-License-Identifier: Apache-2.0
// cuDNN's RNN on the simulated device. Weights lie in an order of its own; what the manual forbids
// is a status.
#include "cuda_cudnn/fake_cudnn_rnn.h"

#include <algorithm>

#include "backend/cuda/launch.h"
#include "cuda_cudnn/fake_rnn_equations.h"

namespace linnet::cuda {

FakeRnn& fake_rnn() {
  static FakeRnn fake;
  return fake;
}

namespace {

using namespace fake_rnns;

cudaStream_t current_stream = nullptr;

cudnnStatus_t run(const char* name, void (*kernel)(Call), Call call) {
  FakeRnn& fake = fake_rnn();
  if (fake.fails) return CUDNN_STATUS_EXECUTION_FAILED;
  const bool loaded = fake.loaded.contains({call.rnn, name});
  sim::require_loaded(loaded, name, current_stream);
  fake.loaded.emplace(call.rnn, name);
  call.error = fake.error + (fake.drifts ? 1e-5 * fake.launches : 0);
  call.seconds = fake.seconds;
  launch(current_stream, name, LaunchShape{.grid = 1, .block = 1}, kernel, call);
  ++fake.launches;
  return CUDNN_STATUS_SUCCESS;
}

bool same_batch(const cudnnRNNDataStruct& x, const cudnnRNNDataStruct& y, const Layer& l,
                const cudnnTensorStruct& h) {
  const auto n = static_cast<int>(x.n);
  const auto u = static_cast<int>(l.units);
  return x.width == l.features && y.width == l.units && x.n == y.n && x.steps == y.steps &&
         h.dims == std::array{1, n, u} && h.strides == std::array{n * u, u, 1};
}

/// Sizes as they were told, and memory that begins where cuDNN's kernels may want it.
bool memory_fits(const Layer& l, const cudnnRNNDataStruct& x, std::size_t of_weights,
                 const void* weights, std::size_t of_work, const void* work, std::size_t of_reserve,
                 const void* reserve) {
  for (const void* memory : {weights, work, reserve}) {
    if (reinterpret_cast<std::uintptr_t>(memory) % 256 != 0) return false;
  }
  return of_weights == weight_bytes(l) && of_work == kWorkBytes &&
         of_reserve == (reserve == nullptr ? 0 : reserve_bytes(l, x));
}

template <class T>
cudnnStatus_t create(T** made) {
  *made = new T;
  return CUDNN_STATUS_SUCCESS;
}
template <class T>
cudnnStatus_t destroy(T* made) {
  delete made;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace
}  // namespace linnet::cuda

using namespace linnet::cuda;
using namespace linnet::cuda::fake_rnns;

const char* cudnnGetErrorString(cudnnStatus_t status) {
  return status == CUDNN_STATUS_EXECUTION_FAILED ? "EXECUTION_FAILED" : "another status";
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t /*handle*/, cudaStream_t stream) {
  current_stream = stream;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t* made) { return create(made); }
cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t made) {
  std::erase_if(fake_rnn().loaded, [&](const auto& use) { return use.first == made; });
  return destroy(made);
}
cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t* made) { return create(made); }
cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t made) { return destroy(made); }
cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* made) { return create(made); }
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t made) { return destroy(made); }

cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t descriptor, cudnnDataType_t type,
                                         int rank, const int dims[], const int strides[]) {
  if (type != CUDNN_DATA_FLOAT || rank != 3) return CUDNN_STATUS_BAD_PARAM;
  std::copy_n(dims, 3, descriptor->dims.begin());
  std::copy_n(strides, 3, descriptor->strides.begin());
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetTensorNdDescriptor(cudnnTensorDescriptor_t descriptor, int most,
                                         cudnnDataType_t* type, int* rank, int dims[],
                                         int strides[]) {
  if (most < 3) return CUDNN_STATUS_BAD_PARAM;
  *type = CUDNN_DATA_FLOAT;
  *rank = 3;
  std::copy_n(descriptor->dims.begin(), 3, dims);
  std::copy_n(descriptor->strides.begin(), 3, strides);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t rnn, cudnnRNNAlgo_t algorithm,
                                       cudnnRNNMode_t mode, cudnnRNNBiasMode_t bias,
                                       cudnnDirectionMode_t /*direction*/,
                                       cudnnRNNInputMode_t /*input*/, cudnnDataType_t data,
                                       cudnnDataType_t precision, cudnnMathType_t math,
                                       std::int32_t features, std::int32_t units,
                                       std::int32_t projection, std::int32_t layers,
                                       cudnnDropoutDescriptor_t dropout, std::uint32_t flags) {
  FakeRnn& fake = fake_rnn();
  const auto& known = fake.algorithms;
  if (std::find(known.begin(), known.end(), algorithm) == known.end()) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  if (data != CUDNN_DATA_FLOAT || precision != CUDNN_DATA_FLOAT || projection != units ||
      layers != 1 || dropout != nullptr || flags != CUDNN_RNN_PADDED_IO_ENABLED) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  *rnn = {mode, bias == CUDNN_RNN_DOUBLE_BIAS, features, units, fake.in_order};
  fake.math = math;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t descriptor, cudnnDataType_t type,
                                        cudnnRNNDataLayout_t layout, int steps, int batch,
                                        int width, const int lengths[], void* padding) {
  const bool full = std::all_of(lengths, lengths + batch, [&](int l) { return l == steps; });
  if (type != CUDNN_DATA_FLOAT || layout != CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED || !full ||
      padding != nullptr) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  *descriptor = {batch, steps, width};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                         std::size_t* bytes) {
  if (handle == nullptr) return CUDNN_STATUS_BAD_PARAM;
  *bytes = weight_bytes(*rnn);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                      std::int32_t layer, std::size_t bytes, const void* weights,
                                      std::int32_t id, cudnnTensorDescriptor_t matrix,
                                      void** matrix_at, cudnnTensorDescriptor_t bias,
                                      void** bias_at) {
  if (handle == nullptr || layer != 0 || bytes != weight_bytes(*rnn)) return CUDNN_STATUS_BAD_PARAM;
  auto* start = static_cast<float*>(const_cast<void*>(weights));
  const auto rows = static_cast<int>(rnn->units);
  const auto width = static_cast<int>(columns(*rnn, id));
  matrix->dims = {1, rows, width};
  matrix->strides = {rows * width, width, 1};
  if (fake_rnn().transposed) matrix->strides = {rows * width, 1, rows};
  *matrix_at = start + place(*rnn, id, false);
  bias->dims = rnn->bias ? std::array{1, rows, 1} : std::array{0, 0, 0};
  bias->strides = {rows, 1, 1};
  *bias_at = rnn->bias ? start + place(*rnn, id, true) : nullptr;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                        cudnnForwardMode_t mode, cudnnRNNDataDescriptor_t x,
                                        std::size_t* work_bytes, std::size_t* reserve) {
  if (handle == nullptr) return CUDNN_STATUS_BAD_PARAM;
  *work_bytes = kWorkBytes;
  *reserve = mode == CUDNN_FWD_MODE_TRAINING ? reserve_bytes(*rnn, *x) : 0;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                              cudnnForwardMode_t mode, const std::int32_t lengths[],
                              cudnnRNNDataDescriptor_t x_type, const void* x,
                              cudnnRNNDataDescriptor_t y_type, void* y,
                              cudnnTensorDescriptor_t h_type, const void* hx, void* hy,
                              cudnnTensorDescriptor_t c_type, const void* cx, void* cy,
                              std::size_t of_weights, const void* weights, std::size_t of_work,
                              void* work, std::size_t of_reserve, void* reserve) {
  if (handle == nullptr || lengths != nullptr || !same_batch(*x_type, *y_type, *rnn, *h_type) ||
      c_type == nullptr || hx != nullptr || cx != nullptr || cy != nullptr ||
      (mode == CUDNN_FWD_MODE_TRAINING) != (reserve != nullptr) ||
      !memory_fits(*rnn, *x_type, of_weights, weights, of_work, work, of_reserve, reserve)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  return run("fake_rnn_forward", forward,
             {.l = *rnn,
              .rnn = rnn,
              .n = x_type->n,
              .steps = x_type->steps,
              .x = static_cast<const float*>(x),
              .y = static_cast<float*>(y),
              .last = static_cast<float*>(hy),
              .weights = static_cast<const float*>(weights),
              .reserve = static_cast<double*>(reserve),
              .work = static_cast<std::byte*>(work)});
}

cudnnStatus_t cudnnRNNBackwardData_v8(
    cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, const std::int32_t lengths[],
    cudnnRNNDataDescriptor_t y_type, const void* y, const void* dy, cudnnRNNDataDescriptor_t x_type,
    void* dx, cudnnTensorDescriptor_t h_type, const void* hx, const void* dhy, void* dhx,
    cudnnTensorDescriptor_t c_type, const void* cx, const void* dcy, void* dcx,
    std::size_t of_weights, const void* weights, std::size_t of_work, void* work,
    std::size_t of_reserve, void* reserve) {
  if (handle == nullptr || lengths != nullptr || !same_batch(*x_type, *y_type, *rnn, *h_type) ||
      c_type == nullptr || dy == nullptr || dx == nullptr || hx != nullptr || dhx != nullptr ||
      cx != nullptr || dcy != nullptr || dcx != nullptr || reserve == nullptr ||
      !memory_fits(*rnn, *x_type, of_weights, weights, of_work, work, of_reserve, reserve)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  return run("fake_rnn_data", gradient_of_data,
             {.l = *rnn,
              .rnn = rnn,
              .n = x_type->n,
              .steps = x_type->steps,
              .y = static_cast<float*>(const_cast<void*>(y)),
              .dy = static_cast<const float*>(dy),
              .dlast = static_cast<const float*>(dhy),
              .dx = static_cast<float*>(dx),
              .weights = static_cast<const float*>(weights),
              .reserve = static_cast<double*>(reserve),
              .work = static_cast<std::byte*>(work)});
}

cudnnStatus_t cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                         cudnnWgradMode_t mode, const std::int32_t lengths[],
                                         cudnnRNNDataDescriptor_t x_type, const void* x,
                                         cudnnTensorDescriptor_t h_type, const void* hx,
                                         cudnnRNNDataDescriptor_t y_type, const void* y,
                                         std::size_t of_weights, void* dweights,
                                         std::size_t of_work, void* work, std::size_t of_reserve,
                                         void* reserve) {
  if (handle == nullptr || lengths != nullptr || !same_batch(*x_type, *y_type, *rnn, *h_type) ||
      mode != CUDNN_WGRAD_MODE_ADD || hx != nullptr || reserve == nullptr ||
      !memory_fits(*rnn, *x_type, of_weights, dweights, of_work, work, of_reserve, reserve)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  return run("fake_rnn_weights", gradient_of_weights,
             {.l = *rnn,
              .rnn = rnn,
              .n = x_type->n,
              .steps = x_type->steps,
              .x = static_cast<const float*>(x),
              .y = static_cast<float*>(const_cast<void*>(y)),
              .dweights = static_cast<float*>(dweights),
              .reserve = static_cast<double*>(reserve),
              .work = static_cast<std::byte*>(work)});
}
