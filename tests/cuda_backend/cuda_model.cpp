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

std::vector<float> weights(const Model& model) {
  std::vector<float> all;
  for (const std::string& name : model.parameter_names()) {
    const std::vector<float> values = model.parameter(name);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

std::string engines_name(const ::testing::TestParamInfo<Engines>& info) {
  return info.param == Engines::own ? "own" : "libraries";
}

}  // namespace linnet::testing
