// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "backend/cuda/kernel.h"
#include "plan/plan.h"
#include "runtime/backend.h"
#include "runtime/launches.h"

namespace linnet::cuda {

/// A graph with its kernels, its addresses, and what its steps launch.
struct PlannedKernels {
  Plan plan;
  std::vector<Kernel> kernels;  ///< by node
  StepLaunches launches;
};

/// Chooses the kernels of a graph's nodes and plans its memory. The launches are those of the
/// kernels' own code, run with a list instead of a stream: no device is needed. Throws Error naming
/// the operator and layer that has no kernel.
PlannedKernels plan_kernels(Graph graph, const Registry& registry, const Context& context,
                            const PlanOptions& options);

/// Returns whether the last node's kernel ends the step, so that no other has to.
bool ends_itself(const Plan& plan, const std::vector<Kernel>& kernels);

/// Returns what a GPU of this context can do (Backend::capabilities()).
Capabilities capabilities_of(const Context& context);

/// Returns whether there is a kernel for an operator with these operands (Backend::supports()).
bool has_kernel(const Registry& registry, const Context& context, const Op& op,
                std::span<const ValueType> inputs, std::span<const ValueType> outputs);

}  // namespace linnet::cuda
