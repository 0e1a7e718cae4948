// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/gpu_kinds.h"

#include <array>

#include "base/check.h"

namespace linnet {
namespace {

/// The upper end of 0.2 to 1.3 us that a node of a graph costs on such GPUs.
constexpr double kNode = 1.3e-6;
/// Without tensor cores, of both GPUs, by NVIDIA's data sheet.
constexpr double kFp32 = 67e12;

// Bytes: a device-to-device copy of PyTorch's, bytes read and written. bf16: its product of
// 8192 x 8192 matrices of random numbers. Both were measured, by others, in October and November
// 2026. TF32 is half of bf16, as in the data sheet.
constexpr std::array kGpus{
    GpuKind{
        "h200",
        "sm_90",
        90,
        132,
        {.bytes = 4.3e12, .fp32 = kFp32, .tf32 = 394e12, .bf16 = 788e12, .node_seconds = kNode}},
    GpuKind{
        "h100",
        "sm_90",
        90,
        132,
        {.bytes = 3.0e12, .fp32 = kFp32, .tf32 = 399e12, .bf16 = 798e12, .node_seconds = kNode}},
};

std::string names(bool of_target, std::string_view target) {
  std::string text;
  for (const GpuKind& gpu : kGpus) {
    if (of_target && gpu.target != target) continue;
    const std::string name(of_target ? gpu.name : gpu.target);
    if (text.find(name) == std::string::npos) text += (text.empty() ? "" : " or ") + name;
  }
  return text;
}

}  // namespace

CudaDevice GpuKind::device() const {
  return {.index = 0,
          .name = std::string(name),
          .uuid = {},
          .compute_capability = compute_capability,
          .multiprocessors = multiprocessors,
          .memory_bytes = 0};
}

const GpuKind& gpu_kind(const std::string& target, const std::string& name) {
  bool known = false;
  for (const GpuKind& gpu : kGpus) {
    if (gpu.target != target) continue;
    if (name.empty() || gpu.name == name) return gpu;
    known = true;
  }
  require(known, "no GPU of target '{}' is described; expected {}", target, names(false, {}));
  fail("no GPU '{}' of target {} is described; expected {}", name, target, names(true, target));
}

}  // namespace linnet
