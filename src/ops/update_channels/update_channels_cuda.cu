// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "backend/cuda/kernel.h"
#include "ops/slice/rows_cuda.cuh"
#include "ops/update_channels/update_channels.h"

namespace linnet::cuda {
namespace {

/// The copy's rows are added to what is there.
template <int kWidth, class Index, class T>
__global__ void add_rows_kernel(RowsCopy<T> copy, std::int64_t items) {
  const Index columns = static_cast<Index>(copy.columns / kWidth);
  for (std::int64_t i = first_item(); i < items; i += grid_stride()) {
    const Index row = static_cast<Index>(i) / columns;
    const std::int64_t column = (static_cast<Index>(i) - row * columns) * kWidth;
    const auto part = load_floats<kWidth>(copy.from + row * copy.from_stride + column);
    T* to = copy.to + row * copy.to_stride + column;
    auto sum = load_floats<kWidth>(to);
    for (int w = 0; w < kWidth; ++w) sum[w] += part[w];
    store_floats(to, sum);
  }
}

template <class T>
void add_rows(const Queue& stream, std::int64_t rows, const RowsCopy<T>& copy) {
  const bool packs = copy.takes_packs();
  const std::int64_t items = rows * copy.columns / (packs ? 4 : 1);
  if (items == 0) return;
  with_index(items, [&](auto index) {
    using Index = decltype(index);
    launch(stream, "update_channels", for_items(items),
           packs ? add_rows_kernel<4, Index, T> : add_rows_kernel<1, Index, T>, copy, items);
  });
}

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
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
      if (attrs.add) {
        add_rows(args.stream, rows, part);
      } else if (channels > 0) {
        copy_rows<T>(args.stream, name, rows, {part});
      }
    }};
  });
}

}  // namespace

void register_update_channels(Registry& registry) {
  registry.add(UpdateChannelsOp::kName, prepare, Stores::half);
}

}  // namespace linnet::cuda
