// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/predictor.h>

#include <cstdint>
#include <string>

/// Of <dlpack/dlpack.h> (https://dmlc.github.io/dlpack), whose versions agree on it.
struct DLManagedTensor;

namespace linnet {

/// Tensors are handed over without a copy, on the device on which they lie (kDLCPU or kDLCUDA).
/// Whoever gets a tensor calls tensor->deleter(tensor) once, on any thread; until then its memory
/// lives, even without the model or predictor.

/// The output of run(batch, dtype): (batch, output_shape()), f32. Waits for what is enqueued; later
/// runs write the same memory. Throws Error as Predictor::output does.
DLManagedTensor* output_to_dlpack(Predictor& predictor, std::int64_t batch,
                                  DType dtype = DType::f32);

/// A weight or running statistic by its name, f32, in the shape that Model::parameter_shape says:
/// the memory that training updates. Waits for what is enqueued. Throws Error for an unknown name.
DLManagedTensor* parameter_to_dlpack(Model& model, const std::string& name);

/// Makes a dense row-major tensor (N, input_shape()) of f32 or u8 the input of run(N, dtype), and
/// takes it over: it is deleted when another input is set, or with the predictor. Work that writes
/// it must have ended when run() is called. Returns N. Throws Error, and leaves the tensor to the
/// caller, where its device, type, shape or strides don't fit.
std::int64_t input_from_dlpack(Predictor& predictor, DLManagedTensor* tensor);

}  // namespace linnet
