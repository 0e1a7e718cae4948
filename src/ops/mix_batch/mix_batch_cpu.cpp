// SPDX-License-Identifier: Apache-2.0
#include "ops/mix_batch/mix_batch.h"

#include "backend/cpu/kernel.h"
#include "ops/mix_batch/formulas.h"

namespace linnet::cpu {
namespace {

/// `row(args, draw, i, partner)` for each sample of the batch.
template <class Row>
Kernel mix_rows(const MixRule& rule, std::int64_t batch, std::int64_t size, Row row) {
  return one_stage(batch, 1.0 * static_cast<double>(size) + 50,
                   [=](const Args& args, const Task& task, Range range) {
                     const MixDraw draw = draw_mix(rule, *task.step);
                     for (std::int64_t i = range.begin; i < range.end; ++i) {
                       row(args, draw, i, draw.partner(i, batch));
                     }
                   });
}

std::optional<Kernel> prepare_batch(const NodeView& node) {
  using In = MixBatchOp::In;
  using Out = MixBatchOp::Out;
  const MixRule rule = node.attrs<MixBatchOp>();
  const std::int64_t size = node.in(In::x).sample().elements();
  const std::int64_t channels = rule.cutmix > 0 ? node.in(In::x)[3] : 1;
  return mix_rows(rule, node.in(In::x)[0], size,
                  [=](const Args& args, const MixDraw& draw, std::int64_t i, std::int64_t other) {
                    const float* x = args.in(In::x) + i * size;
                    const float* from = args.in(In::x) + other * size;
                    float* y = args.out(Out::y) + i * size;
                    if (!draw.cut) {
                      const auto own = static_cast<float>(draw.share);
                      const auto rest = static_cast<float>(1 - draw.share);
                      for (std::int64_t k = 0; k < size; ++k) y[k] = own * x[k] + rest * from[k];
                      return;
                    }
                    for (std::int64_t k = 0; k < size; ++k) {
                      y[k] = draw.mixed(x[k], from[k], k, rule.width, channels);
                    }
                  });
}

std::optional<Kernel> prepare_targets(const NodeView& node) {
  using In = MixTargetsOp::In;
  using Out = MixTargetsOp::Out;
  const MixTargetsAttrs attrs = node.attrs<MixTargetsOp>();
  const std::int64_t size = node.out(Out::y).sample().elements();
  if (node.inputs[In::targets].dtype == DType::i32) {
    return mix_rows(attrs.rule, node.in(In::targets)[0], size,
                    [=](const Args& args, const MixDraw& draw, std::int64_t i, std::int64_t other) {
                      const auto* labels = args.in<std::int32_t>(In::targets);
                      for (std::int64_t c = 0; c < size; ++c) {
                        args.out(Out::y)[i * size + c] = static_cast<float>(
                            mixed_label(draw, labels[i], labels[other], c, size));
                      }
                    });
  }
  return mix_rows(attrs.rule, node.in(In::targets)[0], size,
                  [=](const Args& args, const MixDraw& draw, std::int64_t i, std::int64_t other) {
                    const auto own = static_cast<float>(draw.share);
                    const auto rest = static_cast<float>(1 - draw.share);
                    const float* t = args.in(In::targets);
                    for (std::int64_t k = 0; k < size; ++k) {
                      args.out(Out::y)[i * size + k] =
                          own * t[i * size + k] + rest * t[other * size + k];
                    }
                  });
}

}  // namespace

void register_mix_batch(Registry& registry) {
  registry.add(MixBatchOp::kName, prepare_batch);
  registry.add(MixTargetsOp::kName, prepare_targets);
}

}  // namespace linnet::cpu
