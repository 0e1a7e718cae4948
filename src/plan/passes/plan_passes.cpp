// SPDX-License-Identifier: Apache-2.0
#include "plan/passes/cancel_reshapes.h"
#include "plan/passes/collect_gradients.h"
#include "plan/passes/overlap_sums.h"
#include "plan/passes/passes.h"

namespace linnet {

void register_plan_passes(Passes& passes) {
  // Passes run in the order of their names: the fusions come after it.
  passes.add(Phase::forward, {"cancel_reshapes", cancel_reshapes});
  passes.add(Phase::forward, {"remove_dead", remove_dead, {.last = true}});

  passes.add({"recompute_norms", recompute_norms});
  passes.add({"share_concats", share_concats, {.after = {"recompute_norms"}}});
  passes.add({"slice_concats", slice_concats, {.after = {"share_concats"}}});

  passes.add(Phase::final, {"remove_dead", remove_dead});
  // What is left is stored in 16 bits.
  passes.add(Phase::final, {"copy_weights", copy_weights, {.last = true}});
  passes.add(Phase::final,
             {"copy_gradients", copy_gradients, {.after = {"copy_weights"}, .last = true}});
  passes.add(Phase::final, {"store_bf16", store_bf16, {.after = {"copy_gradients"}, .last = true}});
  passes.add(Phase::final, {"store_f16", store_f16, {.after = {"store_bf16"}, .last = true}});

  for (const std::string_view choice :
       {kOverlapSums, kChainSamples, kShareStages, kCollectGradients, kDeferGradients}) {
    passes.add(choice);
  }
}

}  // namespace linnet
