// SPDX-License-Identifier: Apache-2.0
#include "ops/label_targets/label_targets.h"

#include "backend/cpu/kernel.h"
#include "ops/label_targets/formulas.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  using In = LabelTargetsOp::In;
  using Out = LabelTargetsOp::Out;
  const LabelTargetsAttrs attrs = node.attrs<LabelTargetsOp>();
  const std::int64_t rows = node.in(In::labels).elements();
  const std::int64_t classes = node.in(In::weights)[0];
  const LabelTargets f{classes, attrs.smoothing, attrs.ignores, attrs.ignore_index};
  const int tasks = tasks_for(rows, 2.0 * static_cast<double>(classes));
  Kernel kernel;
  kernel.workspace_bytes = sizeof(double);
  kernel.stages.push_back(parallel(1, [=](const Args& args) {
    const auto* labels = args.in<std::int32_t>(In::labels);
    double total = 0;
    for (std::int64_t n = 0; n < rows; ++n) {
      if (f.counts(labels[n])) total += args.in(In::weights)[labels[n]];
    }
    *args.work<double>() = total;
  }));
  kernel.stages.push_back(parallel(tasks, rows, [=](const Args& args, Range range) {
    const auto* labels = args.in<std::int32_t>(In::labels);
    const float* weights = args.in(In::weights);
    const double total = *args.work<double>();
    for (std::int64_t n = range.begin; n < range.end; ++n) {
      float* row = args.out(Out::t) + n * classes;
      for (std::int64_t c = 0; c < classes; ++c) {
        row[c] = static_cast<float>(f.target(labels[n], c, weights[c], total));
      }
    }
  }));
  return kernel;
}

}  // namespace

void register_label_targets(Registry& registry) { registry.add(LabelTargetsOp::kName, prepare); }

}  // namespace linnet::cpu
