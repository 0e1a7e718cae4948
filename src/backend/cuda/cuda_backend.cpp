// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cuda_backend.h"

#include "backend/cuda/batch_stream.h"
#include "backend/cuda/cuda_program.h"
#include "backend/cuda/nccl_links.h"
#include "backend/cuda/planned_kernels.h"
#include "base/check.h"
#include "runtime/tuning_cache.h"

namespace linnet::cuda {

CudaBackend::CudaBackend(Registry registry, std::shared_ptr<const Device> device,
                         const CudaOptions& options, Libraries libraries, Precision precision)
    : registry_(std::move(registry)),
      device_(std::move(device)),
      libraries_(std::move(libraries)),
      context_{.compute_capability = device_->info().compute_capability,
               .multiprocessors = device_->info().multiprocessors,
               .options = options,
               .precision = precision,
               .cublaslt = libraries_.cublaslt.get(),
               .cudnn = libraries_.cudnn.get(),
               .tuning = libraries_.tuning.get()} {
  require(options.graph_steps >= CudaOptions::kWholeEpoch,
          "expected a number of steps a launch, 0 for no graphs or {} for whole epochs; got {}",
          CudaOptions::kWholeEpoch, options.graph_steps);
}

Capabilities CudaBackend::capabilities() const { return capabilities_of(context_); }

bool CudaBackend::supports(const Op& op, std::span<const ValueType> inputs,
                           std::span<const ValueType> outputs) const {
  return has_kernel(registry_, context_, op, inputs, outputs);
}

bool CudaBackend::wants(const Op& op, std::span<const ValueType> inputs,
                        std::span<const ValueType> outputs) const {
  return supports(op, inputs, outputs) && registry_.wants({op, inputs, outputs, {}});
}

std::shared_ptr<Buffer> CudaBackend::view(std::span<const std::byte> host) const {
  std::shared_ptr<Buffer> buffer = allocate(host.size());
  upload(*buffer, 0, host);
  return buffer;
}

std::unique_ptr<Buffer> CudaBackend::allocate(std::size_t bytes) const {
  return cuda::allocate(device_, bytes);
}

void CudaBackend::upload(Buffer& to, std::size_t offset, std::span<const std::byte> from) const {
  LINNET_ASSERT(offset + from.size() <= to.bytes());
  cuda::upload(*device_, to.data() + offset, from);
}

void CudaBackend::download(const Buffer& from, std::size_t offset, std::span<std::byte> to) const {
  LINNET_ASSERT(offset + to.size() <= from.bytes());
  from.read(offset, to);
}

std::unique_ptr<BatchStream> CudaBackend::stream_batches(const BatchLayout& layout) const {
  return std::make_unique<CudaBatchStream>(device_, layout);
}

std::string CudaBackend::link_name() const { return has_nccl() ? device_->info().uuid : ""; }

std::string CudaBackend::new_id() const { return new_nccl_id(); }

std::unique_ptr<DeviceLinks> CudaBackend::link(const DeviceLinkOptions& options) const {
  return link_by_nccl(device_, context_.options.graph_steps, options);
}

std::unique_ptr<Program> CudaBackend::prepare(Graph graph, const PlanOptions& options) {
  device_->activate();
  PlannedKernels planned = plan_kernels(std::move(graph), registry_, context_, options);
  const std::string unsaved = libraries_.tuning ? libraries_.tuning->save() : std::string();
  auto program =
      std::make_unique<CudaProgram>(std::move(planned), device_, context_.options.graph_steps,
                                    context_.options.graph_required);
  if (!unsaved.empty()) program->note(unsaved);
  return program;
}

}  // namespace linnet::cuda
