// SPDX-License-Identifier: Apache-2.0
#include "cuda_model.h"

#include "backend/cuda/device.h"

namespace linnet::testing {

void copy(void* to, const void* from, std::size_t bytes) {
  cuda::check(cudaDeviceSynchronize(), "waiting for the device");
  const cuda::Stream stream = cuda::make_stream();
  cuda::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.get()), "copying");
  cuda::check(cudaStreamSynchronize(stream.get()), "waiting for a copy");
}

std::vector<float> copy_of(const float* values, std::size_t count) {
  std::vector<float> copied(count);
  copy(copied.data(), values, count * sizeof(float));
  return copied;
}

std::string engines_name(const ::testing::TestParamInfo<Engines>& info) {
  return info.param == Engines::own ? "own" : "libraries";
}

}  // namespace linnet::testing
