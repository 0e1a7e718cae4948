// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tests of whole trainings and predictions know of the device that they run on. Each test
// program links one definition: cuda_backend_test and cuda_backend_threads_test the simulated
// device's, cuda_backend_test_cuda a GPU's.
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "weights.h"

namespace linnet::testing {

/// Says what computes on the device: Linnet's own kernels alone, or NVIDIA's libraries before them.
enum class Engines : std::uint8_t { own, libraries };
std::vector<Engines> tested_engines();

/// A model on the device, in strict fp32 unless told otherwise: TF32 would need other tolerances.
Model cuda_model(Network network, const CudaOptions& options = {}, std::uint64_t seed = 0,
                 Engines engines = Engines::own, Precision precision = Precision::fp32);

/// The device as it was, however a test ends; on a GPU the test fails if it leaves an error.
class MachineGuard {
 public:
  MachineGuard();
  ~MachineGuard();
  MachineGuard(const MachineGuard&) = delete;
  MachineGuard& operator=(const MachineGuard&) = delete;
};

/// Bytes that the backend holds on the device now, once everything that was enqueued is done.
std::size_t device_bytes();

/// From here on threads run in an order drawn from `seed`. A GPU has an order of its own.
void reorder_threads(std::uint64_t seed);

/// Copies between host and device in any direction, after everything that the device was given.
void copy(void* to, const void* from, std::size_t bytes);
std::vector<float> copy_of(const float* values, std::size_t count);

/// Tests that run once with each of tested_engines().
class OnDevice : public ::testing::TestWithParam<Engines> {
 protected:
  Model model(Network network, const CudaOptions& options = {}, std::uint64_t seed = 0) const {
    return cuda_model(std::move(network), options, seed, GetParam());
  }

 private:
  const MachineGuard machine_;
};
std::string engines_name(const ::testing::TestParamInfo<Engines>& info);

}  // namespace linnet::testing
