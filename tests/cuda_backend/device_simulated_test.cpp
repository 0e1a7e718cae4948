// SPDX-License-Identifier: Apache-2.0
// What a user reads where CUDA can't be used.
#include <string>

#include "backend/cuda/device.h"
#include "message_of.h"
#include "simulated_model.h"

namespace linnet::testing {
namespace {

TEST(SimulatedDevice, NoDriverIsOneSentence) {
  const MachineGuard machine;
  cuda::sim::device().count = 0;
  EXPECT_EQ(message_of([] { cuda::find_device(""); }),
            "CUDA is not usable: no NVIDIA driver is installed, or it is too old for CUDA runtime "
            "13.0");
}

TEST(SimulatedDevice, NoGpuIsOneSentence) {
  const MachineGuard machine;
  cuda::sim::device().count = 0;
  cuda::sim::device().missing = cudaErrorNoDevice;
  EXPECT_EQ(message_of([] { cuda::find_device(""); }),
            "CUDA is not usable: there is no NVIDIA GPU");
}

TEST(SimulatedDevice, IsFoundByIndexAndUuid) {
  const MachineGuard machine;
  cuda::sim::device().count = 2;
  const std::vector<CudaDevice> devices = cuda::list_devices();
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(cuda::find_device("").index, 0);
  EXPECT_EQ(cuda::find_device("1").index, 1);
  EXPECT_EQ(cuda::find_device(devices[0].uuid).index, 0);
  EXPECT_EQ(devices[0].compute_capability, 90);
}

TEST(SimulatedDevice, AnUnknownOneNamesThoseThatAreThere) {
  const MachineGuard machine;
  const std::string message = message_of([] { cuda::find_device("3"); });
  EXPECT_NE(message.find("there is no device 'cuda:3'; expected cuda:0 (Simulated H200, GPU-"),
            std::string::npos)
      << message;
}

TEST(SimulatedDevice, OldArchitecturesAreRefused) {
  const MachineGuard machine;
  cuda::sim::device().major = 6;
  cuda::sim::device().minor = 1;
  const std::string message = message_of([] { const cuda::Device device(cuda::find_device("")); });
  EXPECT_NE(message.find("compute capability 6.1; Linnet needs 7.5"), std::string::npos) << message;
}

}  // namespace
}  // namespace linnet::testing
