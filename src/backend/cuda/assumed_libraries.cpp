// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/assumed_libraries.h"

#include "backend/cuda/cublaslt.h"
#include "backend/cuda/cudnn.h"

namespace linnet::cuda {
namespace {

class AssumedPlan final : public CudnnPlan {
 public:
  explicit AssumedPlan(const CudnnConvolution& problem)
      : tensor_cores_(problem.math != CudnnMath::fp32),
        listed_(listed(problem)),
        engine_("cudnn, " + listed_.name) {}

  std::size_t workspace_bytes() const override { return 0; }
  bool tensor_cores() const override { return tensor_cores_; }
  const std::string& engine() const override { return engine_; }
  void execute(const Queue& queue, std::span<void* const> /*operands*/,
               std::byte* /*workspace*/) const override {
    LINNET_ASSERT(queue.lists(listed_));
  }

 private:
  bool tensor_cores_;
  PlannedLaunch listed_;
  std::string engine_;
};

class AssumedCudnn final : public Cudnn {
 public:
  std::shared_ptr<const CudnnPlan> plan(const CudnnConvolution& problem,
                                        TuningCache* /*cache*/) const override {
    return std::make_shared<AssumedPlan>(problem);
  }
  std::optional<Kernel> kernel_if_faster(const CudnnConvolution& /*problem*/,
                                         const NodeView& /*node*/, const Kernel& /*own*/,
                                         const Wrap& /*wrap*/,
                                         TuningCache* /*cache*/) const override {
    return std::nullopt;
  }
  std::optional<Kernel> rival_if_faster(const CudnnConvolution& /*problem*/,
                                        std::string_view /*rival*/, const NodeView& /*node*/,
                                        const Make& /*own*/, const Make& /*make*/,
                                        TuningCache* /*cache*/) const override {
    return std::nullopt;
  }
  std::shared_ptr<const CudnnRnn> rnn_if_faster(const CudnnRecurrent& /*layer*/, bool /*training*/,
                                                const NodeView& /*node*/, const Make& /*own*/,
                                                const WrapRnn& /*wrap*/,
                                                TuningCache* /*cache*/) const override {
    return nullptr;
  }
};

}  // namespace

Libraries assumed_libraries(const CudaOptions& options) {
  Libraries libraries{.cublaslt = std::make_shared<CublasLt>(CublasLt::assumed())};
  if (options.cudnn) libraries.cudnn = std::make_shared<AssumedCudnn>();
  return libraries;
}

}  // namespace linnet::cuda
