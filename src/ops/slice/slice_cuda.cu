// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernel.h"
#include "ops/slice/axis.h"
#include "ops/slice/rows_cuda.cuh"
#include "ops/slice/slice.h"

namespace linnet::cuda {
namespace {

/// Rows of `size` elements, of which dy holds [low, high).
struct Padding {
  std::int64_t size = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;

  bool takes_packs() const { return (size | low | high) % 4 == 0; }
};

template <int kWidth, class Index, class T>
__global__ void pad_rows_kernel(const T* dy, T* dx, Padding padding, std::int64_t items) {
  const Index size = static_cast<Index>(padding.size / kWidth);
  for (std::int64_t i = first_item(); i < items; i += grid_stride()) {
    const Index row = static_cast<Index>(i) / size;
    const std::int64_t column = (static_cast<Index>(i) - row * size) * kWidth;
    Vector<T, kWidth> pack{};
    if (column >= padding.low && column < padding.high) {
      pack = load_vector<kWidth>(dy + row * (padding.high - padding.low) + column - padding.low);
    }
    store_vector(dx + i * kWidth, pack);
  }
}

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& /*context*/) {
  using In = SliceOp::In;
  using Out = SliceOp::Out;
  const SliceAttrs attrs = node.attrs<SliceOp>();
  const AxisView x = axis_view(node.in(In::x), attrs.axis);
  const std::int64_t first = attrs.begin * x.inner;
  const std::int64_t size = (attrs.end - attrs.begin) * x.inner;
  return with_one_type(node, [&]<class T>() {
    return Kernel{.enqueue = [=](const Args& args) {
      copy_rows<T>(args.stream, "slice", x.outer,
                   {{args.in<T>(In::x) + first, args.out<T>(Out::y), x.row(), size, size}});
    }};
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node, const Context& /*context*/) {
  using In = SliceGradOp::In;
  using Out = SliceGradOp::Out;
  const SliceGradAttrs attrs = node.attrs<SliceGradOp>();
  const AxisView dy = axis_view(node.in(In::dy), attrs.axis);
  const std::int64_t low = attrs.begin * dy.inner;
  const Padding padding{attrs.dim * dy.inner, low, low + dy.row()};
  const std::int64_t elements = dy.outer * padding.size;
  return with_one_type(node, [&]<class T>() {
    return Kernel{.enqueue = [=](const Args& args) {
      if (elements == 0) return;
      const T* from = args.in<T>(In::dy);
      T* to = args.out<T>(Out::dx);
      const bool packs = padding.takes_packs() && vector_aligned(from, to);
      const std::int64_t items = packs ? elements / 4 : elements;
      with_index(items, [&](auto index) {
        using Index = decltype(index);
        launch(args.stream, "slice_grad", for_items(items),
               packs ? pad_rows_kernel<4, Index, T> : pad_rows_kernel<1, Index, T>, from, to,
               padding, items);
      });
    }};
  });
}

}  // namespace

void register_slice(Registry& registry) {
  registry.add(SliceOp::kName, prepare_forward, Stores::half);
  registry.add(SliceGradOp::kName, prepare_gradient, Stores::half);
}

}  // namespace linnet::cuda
