// SPDX-License-Identifier: Apache-2.0
#include "nn/steps.h"

#include <algorithm>

#include "base/check.h"
#include "ops/activation/activation.h"
#include "ops/arg_reduce/arg_reduce.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/bias_add/bias_add.h"
#include "ops/channel_scale/channel_scale.h"
#include "ops/compare/compare.h"
#include "ops/concat/concat.h"
#include "ops/cumsum/cumsum.h"
#include "ops/dropout/dropout.h"
#include "ops/expand/expand.h"
#include "ops/gather/gather.h"
#include "ops/gather_axis/gather_axis.h"
#include "ops/group_norm/group_norm.h"
#include "ops/matmul/matmul.h"
#include "ops/one_hot/one_hot.h"
#include "ops/pad/pad.h"
#include "ops/reduce/reduce.h"
#include "ops/reshape/reshape.h"
#include "ops/select/select.h"
#include "ops/slice/slice.h"
#include "ops/softmax/softmax.h"
#include "ops/strided_slice/strided_slice.h"
#include "ops/transpose/transpose.h"
#include "ops/unary/unary.h"

namespace linnet {
namespace {

constexpr std::string_view kInstead =
    "GlobalAvgPool1d, GlobalMaxPool1d, attention and recurrent layers leave padding out";
constexpr std::string_view kNormInstead = "LayerNorm normalizes each step alone";

constexpr StepsRule kKept{.kept = true};
constexpr StepsRule kUnread{.unread = true};
constexpr StepsRule kMixes{.padding = "mix steps with padding", .instead = kInstead};
constexpr StepsRule kReduces{.padding = "count padding as steps", .instead = kInstead};
constexpr StepsRule kWeighs{.padding = "give weight to padding", .instead = kInstead};
constexpr StepsRule kNormalizes{.padding = "include padding in mean and variance",
                                .instead = kNormInstead};
constexpr StepsRule kCuts{.padding = "cut at steps that are padding in shorter sequences",
                          .instead =
                              "a recurrent layer gives the state after the last step that counts"};
constexpr StepsRule kPicks{.padding = "read steps that are padding in shorter sequences",
                           .instead =
                               "a recurrent layer gives the state after the last step that counts"};
constexpr StepsRule kAppends{
    .padding = "put steps after the padding of others",
    .instead =
        "join features (the last axis), or the results of GlobalAvgPool1d or GlobalMaxPool1d"};
constexpr StepsRule kMoves{.padding =
                               "move the steps to another axis, where padding counts as data",
                           .instead = kInstead};

template <class O>
const O* as(const Node& node) {
  return dynamic_cast<const O*>(node.op.get());
}

template <class... O>
bool is_one_of(const Node& node) {
  return (... || (as<O>(node) != nullptr));
}

StepsRule kept_if(bool kept, const StepsRule& otherwise) { return kept ? kKept : otherwise; }

}  // namespace

const StepsRule kReadsNeighbours{.padding = "read padding as data", .instead = kInstead};

StepsRule steps_rule(const Graph& graph, const Node& node, std::size_t operand) {
  const Shape& x = graph.shape(node.inputs[operand]);
  const Shape& y = graph.shape(node.outputs[0]);
  const bool same_steps = y.rank() >= 2 && y[0] == x[0] && y[1] == x[1];
  if (is_one_of<ActivationOp, UnaryOp, ScaleOp, ChannelScaleOp, DropoutOp, BiasAddOp, CopyOp,
                CompareOp, SelectOp, OneHotOp>(node)) {
    return kKept;
  }
  if (is_one_of<ExpandOp>(node)) {
    if (operand > 0) return kUnread;
    return kept_if(y.rank() == x.rank() && same_steps, kMixes);
  }
  // Of fewer axes, or with one step that is repeated, the operand has its steps elsewhere.
  if (is_one_of<ArithmeticOp>(node)) return kept_if(y.rank() == x.rank() && same_steps, kMixes);
  // Matrices (T, k) keep their rows apart on the left; with more axes T is one of the leading ones.
  if (const auto* matmul = as<MatmulOp>(node)) {
    const bool rows = operand == 0 && !matmul->attrs().transpose_a;
    return kept_if(x.rank() > 3 || rows, kMixes);
  }
  if (is_one_of<SoftmaxOp, LogSoftmaxOp>(node)) return kept_if(x.rank() > 2, kWeighs);
  if (is_one_of<GatherOp>(node)) return kept_if(operand == 1, kMixes);  // ids, not the table
  // Row-major: elements of a step stay in it where (N, T) stay the first axes.
  if (is_one_of<ReshapeOp>(node)) return kept_if(same_steps, kMixes);
  if (is_one_of<BatchNormOp>(node)) return kNormalizes;
  if (const auto* norm = as<GroupNormOp>(node)) {
    return kept_if(norm->attrs().rows >= 2, kNormalizes);
  }
  if (const auto* concat = as<ConcatOp>(node)) return kept_if(concat->attrs().axis != 1, kAppends);
  if (const auto* slice = as<SliceOp>(node)) return kept_if(slice->attrs().axis != 1, kCuts);
  if (const auto* slice = as<StridedSliceOp>(node)) {
    return kept_if(slice->attrs().axis != 1, kCuts);
  }
  if (const auto* pad = as<PadOp>(node)) return kept_if(pad->attrs().axis != 1, kAppends);
  // Padding comes after the steps that count, and adds to no sum before it.
  if (const auto* cumsum = as<CumsumOp>(node)) {
    return kept_if(cumsum->attrs().axis != 1 || !cumsum->attrs().reverse, kReduces);
  }
  if (const auto* gather = as<GatherAxisOp>(node)) {
    const bool steps = gather->attrs().axis == 1;
    if (operand == 0) return kept_if(!steps, kPicks);
    return kept_if(gather->attrs().along || steps, kMixes);  // ids of steps, or of each step
  }
  if (const auto* arg = as<ArgReduceOp>(node)) return kept_if(arg->attrs().axis != 1, kReduces);
  if (const auto* transpose = as<TransposeOp>(node)) {
    return kept_if(transpose->attrs().permutation[1] == 1, kMoves);
  }
  if (const auto* reduce = as<ReduceOp>(node)) {
    return kept_if(std::ranges::count(reduce->attrs().axes, 1) == 0, kReduces);
  }
  return kMixes;
}

void fail_on_lengths(std::string_view kind, std::string_view layer, const StepsRule& rule) {
  fail("[{} '{}'] would {}, since it does not use the lengths of sequences: {}", kind, layer,
       rule.padding, rule.instead);
}

}  // namespace linnet
