// SPDX-License-Identifier: Apache-2.0
// The device is found by every name that a user may give it.
#include <algorithm>
#include <string>

#include "backend/cuda/device.h"
#include "cuda_model.h"
#include "message_of.h"

namespace linnet::testing {
namespace {

TEST(CudaDevice, TheFirstIsFoundByIndexAndUuid) {
  const MachineGuard machine;
  const std::vector<CudaDevice> devices = cuda::list_devices();
  ASSERT_FALSE(devices.empty());
  EXPECT_EQ(cuda::find_device("").index, 0);
  EXPECT_EQ(cuda::find_device("0").uuid, devices[0].uuid);
  EXPECT_EQ(cuda::find_device(devices[0].uuid).index, 0);
  EXPECT_GE(devices[0].compute_capability, 75);
  EXPECT_GT(devices[0].multiprocessors, 0);
  EXPECT_GT(devices[0].memory_bytes, 0U);
}

TEST(CudaDevice, AnUnknownOneNamesThoseThatAreThere) {
  const MachineGuard machine;
  const std::string message = message_of([] { cuda::find_device("99"); });
  EXPECT_TRUE(message.starts_with("there is no device 'cuda:99'; expected cuda:0 (")) << message;
}

TEST(CudaDevice, GivesBackTheBytesThatItWasGiven) {
  const MachineGuard machine;
  const auto device = std::make_shared<cuda::Device>(cuda::find_device(""));
  const std::size_t before = device_bytes();
  for (std::size_t size : {std::size_t{1}, std::size_t{255}, std::size_t{3} << 20}) {
    const std::unique_ptr<Buffer> buffer = cuda::allocate(device, size);
    EXPECT_GE(device_bytes(), before + size);
    std::vector<std::byte> bytes(size);
    cuda::download(*device, buffer->data(), bytes);
    EXPECT_EQ(std::count(bytes.begin(), bytes.end(), std::byte{0}), std::ptrdiff_t(size));
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 1);
    cuda::upload(*device, buffer->data(), bytes);
    std::vector<std::byte> back(size);
    cuda::download(*device, buffer->data(), back);
    EXPECT_EQ(back, bytes) << size << " bytes";
  }
  EXPECT_EQ(device_bytes(), before);
}

}  // namespace
}  // namespace linnet::testing
