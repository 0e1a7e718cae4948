// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cuda/device.h"
#include "backend/cuda/kernel.h"
#include "runtime/device_ranks.h"

namespace linnet::cuda {

/// One NVIDIA GPU: kernels of a registry on one stream, captured in graphs.
class CudaBackend final : public Backend, public LinkedDevice {
 public:
  CudaBackend(Registry registry, std::shared_ptr<const Device> device, const CudaOptions& options,
              Libraries libraries = {}, Precision precision = Precision::automatic);

  std::string_view name() const override { return "cuda"; }
  Capabilities capabilities() const override;
  bool supports(const Op& op, std::span<const ValueType> inputs,
                std::span<const ValueType> outputs) const override;
  bool wants(const Op& op, std::span<const ValueType> inputs,
             std::span<const ValueType> outputs) const override;
  std::shared_ptr<Buffer> view(std::span<const std::byte> host) const override;
  std::unique_ptr<Buffer> allocate(std::size_t bytes) const override;
  void upload(Buffer& to, std::size_t offset, std::span<const std::byte> from) const override;
  void download(const Buffer& from, std::size_t offset, std::span<std::byte> to) const override;
  std::unique_ptr<BatchStream> stream_batches(const BatchLayout& layout) const override;
  const LinkedDevice* links() const override { return this; }
  int index() const override { return device_->info().index; }
  std::unique_ptr<Program> prepare(Graph graph, const PlanOptions& options) override;

  // By NCCL.
  std::string link_name() const override;
  std::string new_id() const override;
  std::unique_ptr<DeviceLinks> link(const DeviceLinkOptions& options) const override;

 private:
  Registry registry_;
  std::shared_ptr<const Device> device_;
  Libraries libraries_;
  Context context_;
};

}  // namespace linnet::cuda
