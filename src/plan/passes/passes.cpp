// SPDX-License-Identifier: Apache-2.0
#include "plan/passes/passes.h"

#include <array>

namespace linnet {

std::span<const Pass> forward_passes() {
  static constexpr std::array kPasses{
      Pass{"fuse_gather_scale", fuse_gather_scale},
      Pass{"fuse_softmax_cross_entropy", fuse_softmax_cross_entropy},
      Pass{"fuse_epilogue", fuse_epilogue},
      Pass{"fuse_conv2d_pool", fuse_conv2d_pool},
      Pass{"remove_dead", remove_dead},
  };
  return kPasses;
}

std::span<const Pass> final_passes() {
  static constexpr std::array kPasses{Pass{"remove_dead", remove_dead}};
  return kPasses;
}

void run_passes(Graph& graph, std::span<const Pass> passes, const Supports& supports,
                const std::set<std::string, std::less<>>& disabled) {
  for (const Pass& pass : passes) {
    if (disabled.count(pass.name) > 0) continue;
    pass.run(graph, supports);
    graph.verify();
  }
}

}  // namespace linnet
