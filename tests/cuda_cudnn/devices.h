// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>

#include "backend/cuda/cudnn_graph.h"

namespace linnet::cuda {

/// Holds what cuDNN is told of a device that is not here, from NVIDIA's tables.
struct DescribedDevice {
  const char* name;
  int compute_capability;
  int multiprocessors;
  int shared_bytes;  ///< of a block that asks for more than the usual 48 KiB
  int blocks;        ///< resident on a multiprocessor
  int threads;       ///< likewise
  int core_khz;
  int memory_khz;
  std::int64_t l2_bytes;
  std::int64_t memory_bytes;
};

inline constexpr std::array<DescribedDevice, 5> kDevices{{
    {"NVIDIA H200", 90, 132, 232448, 32, 2048, 1980000, 3201000, 62914560, 150754820096},
    {"NVIDIA A100-SXM4-40GB", 80, 108, 166912, 32, 2048, 1410000, 1215000, 41943040, 42408607744},
    {"NVIDIA GeForce RTX 3060", 86, 28, 101376, 16, 1536, 1777000, 7501000, 2359296, 12622364672},
    {"Tesla T4", 75, 40, 65536, 16, 1024, 1590000, 5001000, 4194304, 15642329088},
    {"NVIDIA GeForce RTX 4090", 89, 128, 101376, 24, 1536, 2520000, 10501000, 75497472,
     25393692672},
}};

inline std::shared_ptr<CudnnTarget> described_target(const DescribedDevice& d) {
  return CudnnTarget::described(
      fmt::format(
          R"({{"deviceName":"{}","deviceVer":{},"driverVer":13000,"cudaDeviceId":0,"pciDeviceId":0,)"
          R"("isTccDriver":0,"supportCoopLaunch":1,"multiProcessorCount":{},"warpSize":32,)"
          R"("maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],)"
          R"("maxThreadsPerBlock":1024,"maxThreadsPerSM":{},"maxCtasPerSM":{},)"
          R"("regsPerBlock":65536,"maxRegistersPerSM":65536,"maxSharedMemoryPerBlock":49152,)"
          R"("maxSharedMemoryPerBlockOptin":{},"reservedSharedMemoryPerBlock":1024,)"
          R"("smClockRateKHz":{},"memClockRateKHz":{},"l2CacheSize":{},"totalGlobalMem":{}}})",
          d.name, 10 * d.compute_capability, d.multiprocessors, d.threads, d.blocks, d.shared_bytes,
          d.core_khz, d.memory_khz, d.l2_bytes, d.memory_bytes),
      d.compute_capability);
}

}  // namespace linnet::cuda
