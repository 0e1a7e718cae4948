// SPDX-License-Identifier: Apache-2.0
#include "plan/passes/passes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "plan/passes/collect_gradients.h"
#include "plan/passes/overlap_sums.h"

namespace linnet {
namespace {

/// Those that run outside of the lists below.
constexpr std::array kNamed{kOverlapSums, kChainSamples, kShareStages, kCollectGradients,
                            kDeferGradients};

bool is_pass(std::string_view name) {
  const auto named = [&](const auto& pass) { return pass.name == name; };
  return std::ranges::find(kNamed, name) != kNamed.end() ||
         std::any_of(forward_passes().begin(), forward_passes().end(), named) ||
         std::any_of(inference_passes().begin(), inference_passes().end(), named) ||
         std::any_of(training_passes().begin(), training_passes().end(), named) ||
         std::any_of(final_passes().begin(), final_passes().end(), named);
}

std::string pass_names() {
  std::vector<std::string_view> names;
  const auto add = [&](const auto& passes) {
    for (const auto& pass : passes) {
      if (std::ranges::find(names, pass.name) == names.end()) names.push_back(pass.name);
    }
  };
  add(forward_passes());
  add(inference_passes());
  add(training_passes());
  add(final_passes());
  names.insert(names.end(), kNamed.begin(), kNamed.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Calls run(pass) for those that are not disabled.
template <class Passes, class Run>
void run_enabled(const Passes& passes, std::span<const std::string> disabled, Run run) {
  for (const std::string& name : disabled) {
    require(is_pass(name), "unknown pass '{}'; expected one of {}", name, pass_names());
  }
  for (const auto& pass : passes) {
    if (!is_disabled(pass.name, disabled)) run(pass);
  }
}

}  // namespace

bool is_disabled(std::string_view pass, std::span<const std::string> disabled) {
  return std::ranges::find(disabled, pass) != disabled.end();
}

std::span<const Pass> forward_passes() {
  static constexpr std::array kPasses{
      Pass{"fuse_gather_scale", fuse_gather_scale},
      Pass{"fuse_softmax_cross_entropy", fuse_softmax_cross_entropy},
      Pass{"fuse_epilogue", fuse_epilogue},
      Pass{"fuse_conv2d_pool", fuse_conv2d_pool},
      Pass{"fuse_small_cnn", fuse_small_cnn},
      Pass{"fuse_batch_norm", fuse_batch_norm},
      Pass{"fold_batch_norm", fold_batch_norm},
      Pass{"remove_dead", remove_dead},
  };
  return kPasses;
}

std::span<const Pass> inference_passes() {
  static constexpr std::array kPasses{Pass{"use_int8", use_int8}};
  return kPasses;
}

std::span<const TrainingPass> training_passes() {
  static constexpr std::array kPasses{
      TrainingPass{"fuse_pool_grads", fuse_pool_grads},
      TrainingPass{"recompute_norms", recompute_norms},
      TrainingPass{"share_concats", share_concats},
      TrainingPass{"slice_concats", slice_concats},
      TrainingPass{"join_norms", join_norms},
      TrainingPass{"fuse_norm_conv2d", fuse_norm_conv2d},
      TrainingPass{"fuse_bias_grad", fuse_bias_grad},
  };
  return kPasses;
}

std::span<const Pass> final_passes() {
  static constexpr std::array kPasses{Pass{"remove_dead", remove_dead},
                                      Pass{"fuse_small_cnn_finish", fuse_small_cnn_finish},
                                      Pass{"copy_weights", copy_weights},
                                      Pass{"copy_gradients", copy_gradients},
                                      Pass{"store_bf16", store_bf16},
                                      Pass{"store_f16", store_f16}};
  return kPasses;
}

void run_passes(Graph& graph, std::span<const Pass> passes, const Supports& supports,
                std::span<const std::string> disabled) {
  run_enabled(passes, disabled, [&](const Pass& pass) {
    pass.run(graph, supports);
    graph.verify();
  });
}

void run_passes(TrainingGraph& training, std::span<const TrainingPass> passes,
                const Supports& supports, std::span<const std::string> disabled) {
  run_enabled(passes, disabled, [&](const TrainingPass& pass) {
    pass.run(training, supports);
    training.graph.verify();
  });
}

}  // namespace linnet
