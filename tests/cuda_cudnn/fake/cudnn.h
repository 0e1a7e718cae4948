// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stands for NVIDIA's header of this name: what Linnet calls of cuDNN's RNN, with cuDNN 9's names,
// numbers and signatures. fake_cudnn_rnn.cpp computes it on the simulated device.
#include <cstddef>
#include <cstdint>

#include "cuda_runtime.h"

enum cudnnStatus_t {
  CUDNN_STATUS_SUCCESS = 0,
  CUDNN_STATUS_BAD_PARAM = 2000,
  CUDNN_STATUS_NOT_SUPPORTED = 3000,
  CUDNN_STATUS_EXECUTION_FAILED = 5000,
};
enum cudnnDataType_t { CUDNN_DATA_FLOAT = 0, CUDNN_DATA_DOUBLE = 1 };
enum cudnnMathType_t { CUDNN_DEFAULT_MATH = 0, CUDNN_FMA_MATH = 3 };
enum cudnnRNNAlgo_t {
  CUDNN_RNN_ALGO_STANDARD = 0,
  CUDNN_RNN_ALGO_PERSIST_STATIC = 1,
  CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H = 3,
};
enum cudnnForwardMode_t { CUDNN_FWD_MODE_INFERENCE = 0, CUDNN_FWD_MODE_TRAINING = 1 };
enum cudnnRNNMode_t { CUDNN_RNN_RELU = 0, CUDNN_RNN_TANH = 1, CUDNN_LSTM = 2, CUDNN_GRU = 3 };
enum cudnnRNNBiasMode_t { CUDNN_RNN_NO_BIAS = 0, CUDNN_RNN_DOUBLE_BIAS = 2 };
enum cudnnDirectionMode_t { CUDNN_UNIDIRECTIONAL = 0 };
enum cudnnRNNInputMode_t { CUDNN_LINEAR_INPUT = 0 };
enum cudnnRNNDataLayout_t { CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED = 2 };
enum cudnnWgradMode_t { CUDNN_WGRAD_MODE_ADD = 0, CUDNN_WGRAD_MODE_SET = 1 };
#define CUDNN_RNN_PADDED_IO_ENABLED (1U << 0)

struct cudnnContext;
struct cudnnRNNStruct;
struct cudnnRNNDataStruct;
struct cudnnTensorStruct;
struct cudnnDropoutStruct;
using cudnnHandle_t = cudnnContext*;
using cudnnRNNDescriptor_t = cudnnRNNStruct*;
using cudnnRNNDataDescriptor_t = cudnnRNNDataStruct*;
using cudnnTensorDescriptor_t = cudnnTensorStruct*;
using cudnnDropoutDescriptor_t = cudnnDropoutStruct*;

const char* cudnnGetErrorString(cudnnStatus_t status);
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream);
cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t* descriptor);
cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t descriptor);
cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t* descriptor);
cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t descriptor);
cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* descriptor);
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t descriptor);
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t descriptor, cudnnDataType_t type,
                                         int rank, const int dims[], const int strides[]);
cudnnStatus_t cudnnGetTensorNdDescriptor(cudnnTensorDescriptor_t descriptor, int most,
                                         cudnnDataType_t* type, int* rank, int dims[],
                                         int strides[]);
cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t rnn, cudnnRNNAlgo_t algorithm,
                                       cudnnRNNMode_t mode, cudnnRNNBiasMode_t bias,
                                       cudnnDirectionMode_t direction, cudnnRNNInputMode_t input,
                                       cudnnDataType_t data, cudnnDataType_t precision,
                                       cudnnMathType_t math, std::int32_t features,
                                       std::int32_t units, std::int32_t projection,
                                       std::int32_t layers, cudnnDropoutDescriptor_t dropout,
                                       std::uint32_t flags);
cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t descriptor, cudnnDataType_t type,
                                        cudnnRNNDataLayout_t layout, int steps, int batch,
                                        int width, const int lengths[], void* padding);
cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                         std::size_t* bytes);
cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                      std::int32_t layer, std::size_t bytes, const void* weights,
                                      std::int32_t id, cudnnTensorDescriptor_t matrix,
                                      void** matrix_at, cudnnTensorDescriptor_t bias,
                                      void** bias_at);
cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                        cudnnForwardMode_t mode, cudnnRNNDataDescriptor_t x,
                                        std::size_t* work_bytes, std::size_t* reserve_bytes);
cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                              cudnnForwardMode_t mode, const std::int32_t lengths[],
                              cudnnRNNDataDescriptor_t x_type, const void* x,
                              cudnnRNNDataDescriptor_t y_type, void* y,
                              cudnnTensorDescriptor_t h_type, const void* hx, void* hy,
                              cudnnTensorDescriptor_t c_type, const void* cx, void* cy,
                              std::size_t weight_bytes, const void* weights, std::size_t work_bytes,
                              void* work, std::size_t reserve_bytes, void* reserve);
cudnnStatus_t cudnnRNNBackwardData_v8(
    cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, const std::int32_t lengths[],
    cudnnRNNDataDescriptor_t y_type, const void* y, const void* dy, cudnnRNNDataDescriptor_t x_type,
    void* dx, cudnnTensorDescriptor_t h_type, const void* hx, const void* dhy, void* dhx,
    cudnnTensorDescriptor_t c_type, const void* cx, const void* dcy, void* dcx,
    std::size_t weight_bytes, const void* weights, std::size_t work_bytes, void* work,
    std::size_t reserve_bytes, void* reserve);
cudnnStatus_t cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                         cudnnWgradMode_t mode, const std::int32_t lengths[],
                                         cudnnRNNDataDescriptor_t x_type, const void* x,
                                         cudnnTensorDescriptor_t h_type, const void* hx,
                                         cudnnRNNDataDescriptor_t y_type, const void* y,
                                         std::size_t weight_bytes, void* dweights,
                                         std::size_t work_bytes, void* work,
                                         std::size_t reserve_bytes, void* reserve);
