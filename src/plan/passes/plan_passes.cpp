// SPDX-License-Identifier: Apache-2.0
#include "plan/passes/collect_gradients.h"
#include "plan/passes/overlap_sums.h"
#include "plan/passes/passes.h"

namespace linnet {

void register_plan_passes(Passes& passes) {
  passes.add(Phase::forward, {"fuse_gather_scale", fuse_gather_scale});
  passes.add(Phase::forward, {"fuse_softmax_cross_entropy", fuse_softmax_cross_entropy});
  passes.add(Phase::forward, {"fuse_epilogue", fuse_epilogue});
  passes.add(Phase::forward, {"fuse_conv2d_pool", fuse_conv2d_pool, {.after = {"fuse_epilogue"}}});
  passes.add(Phase::forward, {"fuse_batch_norm", fuse_batch_norm});
  passes.add(Phase::forward, {"fold_batch_norm",
                              fold_batch_norm,
                              {.after = {"fuse_epilogue", "fuse_batch_norm"}},
                              /*differentiable=*/false});
  passes.add(Phase::forward, {"remove_dead", remove_dead, {.last = true}});

  passes.add(Phase::inference, {"use_int8", use_int8});

  passes.add({"fuse_pool_grads", fuse_pool_grads});
  passes.add({"recompute_norms", recompute_norms, {.after = {"fuse_pool_grads"}}});
  passes.add({"share_concats", share_concats, {.after = {"recompute_norms"}}});
  passes.add({"slice_concats", slice_concats, {.after = {"share_concats"}}});
  passes.add({"join_norms", join_norms, {.after = {"recompute_norms", "share_concats"}}});
  passes.add({"fuse_norm_conv2d", fuse_norm_conv2d, {.after = {"share_concats", "join_norms"}}});
  passes.add({"fuse_bias_grad", fuse_bias_grad, {.last = true}});

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
