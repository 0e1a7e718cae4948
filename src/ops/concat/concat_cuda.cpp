// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/rows.h"
#include "ops/concat/concat.h"
#include "ops/slice/axis.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_concat(const NodeView& node, const Context& /*context*/) {
  using Out = ConcatOp::Out;
  const int axis = node.attrs<ConcatOp>().axis;
  const AxisView y = axis_view(node.out(Out::y), axis);
  std::vector<std::int64_t> sizes;  // of each operand's rows
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    sizes.push_back(axis_view(node.in(i), axis).row());
  }
  return with_one_type(node, [&]<class T>() {
    return Kernel{.enqueue = [=](const Args& args) {
      std::vector<RowsCopy<T>> copies;
      T* to = args.out<T>(Out::y);
      for (std::size_t i = 0; i < sizes.size(); to += sizes[i++]) {
        if (sizes[i] > 0) copies.push_back({args.in<T>(i), to, sizes[i], y.row(), sizes[i]});
      }
      copy_rows(args.stream, "concat", y.outer, copies);
    }};
  });
}

}  // namespace

void register_concat(Registry& registry) {
  registry.add(ConcatOp::kName, prepare_concat, Stores::half);
}

}  // namespace linnet::cuda
