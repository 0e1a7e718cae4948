// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/rows.h"
#include "ops/update_channels/update_channels.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_update_channels(const NodeView& node, const Context& /*context*/) {
  using In = UpdateChannelsOp::In;
  using Out = UpdateChannelsOp::Out;
  const UpdateChannelsAttrs attrs = node.attrs<UpdateChannelsOp>();
  const std::int64_t channels = node.in(In::part)[-1];
  const std::int64_t wide = node.in(In::whole)[-1];
  const std::int64_t rows = wide > 0 ? node.in(In::whole).elements() / wide : 0;
  return with_one_type(node, [&]<class T>() {
    return Kernel{.enqueue = [=](const Args& args) {
      const T* whole = args.in<T>(In::whole);
      T* y = args.out<T>(Out::y);
      const char* const name = "update_channels";
      if (whole != y) copy_rows<T>(args.stream, name, 1, {{whole, y, 0, 0, rows * wide}});
      const RowsCopy<T> part{args.in<T>(In::part), y + attrs.begin, channels, wide, channels};
      copy_rows<T>(args.stream, name, rows, {part}, attrs.add);
    }};
  });
}

}  // namespace

void register_update_channels(Registry& registry) {
  registry.add(UpdateChannelsOp::kName, prepare_update_channels, Stores::half);
}

}  // namespace linnet::cuda
