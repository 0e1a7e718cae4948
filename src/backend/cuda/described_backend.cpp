// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/described_backend.h"

#include "backend/cuda/assumed_libraries.h"
#include "backend/cuda/loop_state.h"
#include "backend/cuda/planned_kernels.h"
#include "base/check.h"
#include "runtime/constants.h"

namespace linnet::cuda {
namespace {

[[noreturn]] void no_device() {
  fail<DeviceError>("this GPU is only described: it can plan, but holds and runs nothing");
}

class DescribedProgram final : public Program {
 public:
  explicit DescribedProgram(PlannedKernels planned)
      : plan_(std::move(planned.plan)), launches_(std::move(planned.launches)) {}
  const Plan& plan() const override { return plan_; }
  const StepLaunches* launches() const override { return &launches_; }
  std::size_t private_bytes() const override {
    return constant_bytes(plan_).size() + sizeof(ProgramState);
  }
  void attach(const Memory& /*memory*/) override { no_device(); }
  void bind(std::size_t /*slot*/, const void* /*address*/) override { no_device(); }
  void run(const StepInfo& /*first*/, std::uint64_t /*steps*/, std::uint64_t /*stride*/) override {
    no_device();
  }
  void run_checked(const StepInfo& /*step*/) override { no_device(); }

 private:
  Plan plan_;
  StepLaunches launches_;
};

}  // namespace

DescribedBackend::DescribedBackend(Registry registry, const CudaDevice& device,
                                   const CudaOptions& options, Precision precision)
    : registry_(std::move(registry)),
      libraries_(assumed_libraries(options)),
      context_{.compute_capability = device.compute_capability,
               .multiprocessors = device.multiprocessors,
               .options = options,
               .precision = precision,
               .cublaslt = libraries_.cublaslt.get(),
               .cudnn = libraries_.cudnn.get(),
               .tuning = nullptr} {}

Capabilities DescribedBackend::capabilities() const { return capabilities_of(context_); }

bool DescribedBackend::supports(const Op& op, std::span<const ValueType> inputs,
                                std::span<const ValueType> outputs) const {
  return has_kernel(registry_, context_, op, inputs, outputs);
}

bool DescribedBackend::wants(const Op& op, std::span<const ValueType> inputs,
                             std::span<const ValueType> outputs) const {
  return supports(op, inputs, outputs) && registry_.wants({op, inputs, outputs, {}});
}

std::shared_ptr<Buffer> DescribedBackend::view(std::span<const std::byte> /*host*/) const {
  no_device();
}
std::unique_ptr<Buffer> DescribedBackend::allocate(std::size_t /*bytes*/) const { no_device(); }
void DescribedBackend::upload(Buffer& /*to*/, std::size_t /*offset*/,
                              std::span<const std::byte> /*from*/) const {
  no_device();
}
void DescribedBackend::download(const Buffer& /*from*/, std::size_t /*offset*/,
                                std::span<std::byte> /*to*/) const {
  no_device();
}

std::unique_ptr<Program> DescribedBackend::prepare(Graph graph, const PlanOptions& options) {
  return std::make_unique<DescribedProgram>(
      plan_kernels(std::move(graph), registry_, context_, options));
}

}  // namespace linnet::cuda
