// SPDX-License-Identifier: Apache-2.0
#include "ops_f64/f64_kernels.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "ops/compare/compare.h"
#include "ops/gather_batch/gather_batch.h"
#include "ops/gather_batch/record_index.h"
#include "ops/reshape/reshape.h"
#include "ops_f64/elements.h"
#include "ops_f64/reference_kernels.h"

namespace linnet::cpu {
namespace {

/// Operators that compute sample by sample.
constexpr std::string_view kOfRows[]{"arc",
                                     "concat",
                                     "cumsum",
                                     "log_softmax",
                                     "log_softmax_grad",
                                     "pad",
                                     "power",
                                     "reduce",
                                     "reduce_grad",
                                     "reduce_select_grad",
                                     "slice",
                                     "slice_grad",
                                     "softmax",
                                     "softmax_grad",
                                     "strided_slice",
                                     "strided_slice_grad",
                                     "transpose"};

/// All others: sums over a batch, what depends on a sample's place in it, and what is small.
constexpr std::string_view kWhole[]{"arg_reduce",
                                    "blend",
                                    "causal_mask",
                                    "channel_scale",
                                    "copy_all",
                                    "cross_entropy",
                                    "cross_entropy_grad",
                                    "dropout",
                                    "element_loss",
                                    "element_loss_grad",
                                    "expand",
                                    "finite_check",
                                    "gather",
                                    "gather_axis",
                                    "gather_axis_grad",
                                    "gather_grad",
                                    "global_norm",
                                    "group_norm",
                                    "group_norm_grad",
                                    "label_targets",
                                    "metrics",
                                    "mix_batch",
                                    "mix_targets",
                                    "one_hot",
                                    "optimizer_update",
                                    "random_normal",
                                    "random_uniform",
                                    "reverse_sequence",
                                    "row_loss",
                                    "row_loss_grad",
                                    "sequence_mask",
                                    "shard_metrics",
                                    "share",
                                    "softmax_cross_entropy",
                                    "softmax_cross_entropy_grad",
                                    "to_ids"};

/// Calls f with a pointer to records of their own type.
template <class F>
void with_records(DType dtype, const void* records, const F& f) {
  switch (dtype) {
    case DType::u8: return f(static_cast<const std::uint8_t*>(records));
    case DType::f32: return f(static_cast<const float*>(records));
    default: return f(static_cast<const double*>(records));
  }
}

std::optional<Kernel> prepare_gather(const NodeView& node) {
  using In = GatherBatchOp::In;
  using Out = GatherBatchOp::Out;
  const GatherBatchAttrs attrs = node.attrs<GatherBatchOp>();
  const DType dtype = node.inputs[In::data].dtype;
  const std::int64_t size = node.out(Out::y).sample().elements();
  return one_stage(attrs.batch, static_cast<double>(size) + 20,
                   [=](const Args& args, const Task& task, Range range) {
                     const RecordIndex index(*task.step, attrs.shuffle);
                     for (std::int64_t i = range.begin; i < range.end; ++i) {
                       const auto from = static_cast<std::int64_t>(index(i)) * size;
                       if (dtype == DType::i32) {  // labels stay
                         std::copy_n(args.in<std::int32_t>(In::data) + from, size,
                                     args.out<std::int32_t>(Out::y) + i * size);
                         continue;
                       }
                       with_records(dtype, args.inputs[In::data], [&](const auto* records) {
                         double* const y = args.out<double>(Out::y) + i * size;
                         for (std::int64_t k = 0; k < size; ++k) {
                           y[k] =
                               static_cast<double>(records[from + k]) * attrs.scale + attrs.shift;
                         }
                       });
                     }
                   });
}

std::optional<Kernel> prepare_copy(const NodeView& node) {
  const auto bytes = static_cast<std::int64_t>(node.inputs[kFirst].bytes());
  return one_stage(bytes, 0.1, [](const Args& args, Range range) {
    std::copy_n(args.in<std::byte>(kFirst) + range.begin, range.size(),
                args.out<std::byte>(kFirst) + range.begin);
  });
}

/// The reference rounds the number that it compares with to f32.
std::optional<Kernel> prepare_compare(const NodeView& node) {
  if (node.inputs.size() > 1) return reference_of_elements(node);
  const CompareAttrs attrs = node.attrs<CompareOp>();
  return one_stage(node.out(kFirst).elements(), 1, [=](const Args& args, Range range) {
    with_comparison(attrs.kind, [&]<Comparison kKind>() {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const double x = args.in<double>(CompareOp::In::a)[i];
        args.out<double>(CompareOp::Out::y)[i] = compare<kKind>(x, attrs.value) ? 1 : 0;
      }
      return 0;
    });
  });
}

}  // namespace

void register_f64_kernels(Registry& registry) {
  registry.add("select", reference_of_elements);
  for (const std::string_view op : kOfRows) registry.add(op, reference_of_rows);
  for (const std::string_view op : kWhole) registry.add(op, reference_whole);
  registry.add(CompareOp::kName, prepare_compare);
  for (const std::string_view op : {CopyOp::kName, ReshapeOp::kName}) {
    registry.add(op, prepare_copy);
  }
  registry.add(GatherBatchOp::kName, prepare_gather);
  register_f64_products(registry);
  register_f64_elements(registry);
}

}  // namespace linnet::cpu
