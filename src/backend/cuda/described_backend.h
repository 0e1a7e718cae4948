// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cuda/kernel.h"
#include "runtime/backend.h"

namespace linnet::cuda {

/// A GPU that is only described: it plans what CudaBackend would plan there, and holds and runs
/// nothing. Needs neither a device nor a driver.
class DescribedBackend final : public Backend {
 public:
  /// Of `device`, compute_capability and multiprocessors count.
  DescribedBackend(Registry registry, const CudaDevice& device, const CudaOptions& options,
                   Precision precision);

  std::string_view name() const override { return "cuda"; }
  Capabilities capabilities() const override;
  bool supports(const Op& op, std::span<const ValueType> inputs,
                std::span<const ValueType> outputs) const override;
  bool wants(const Op& op, std::span<const ValueType> inputs,
             std::span<const ValueType> outputs) const override;
  /// Throws DeviceError, as all that needs memory.
  std::shared_ptr<Buffer> view(std::span<const std::byte> host) const override;
  std::unique_ptr<Buffer> allocate(std::size_t bytes) const override;
  void upload(Buffer& to, std::size_t offset, std::span<const std::byte> from) const override;
  void download(const Buffer& from, std::size_t offset, std::span<std::byte> to) const override;
  std::unique_ptr<Program> prepare(Graph graph, const PlanOptions& options) override;

 private:
  Registry registry_;
  Libraries libraries_;
  Context context_;
};

}  // namespace linnet::cuda
