// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/conv3d.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "nn/expression_scope.h"
#include "nn/layer_fields.h"
#include "nn/layers/volumes.h"
#include "nn/layers/window.h"
#include "ops/bias_add/bias_add.h"
#include "ops/concat/concat.h"
#include "ops/pad/pad.h"
#include "ops/reshape/reshape.h"
#include "ops/slice/slice.h"
#include "ops/strided_slice/strided_slice.h"

namespace linnet {
namespace {

/// Returns for each plane of the result those that the kernel covers, side by side: (D, H, W, C) as
/// (D', H, W, KD C) or (D', H, W, groups, KD C / groups).
Expression cover_planes(const Expression& x, const Conv3d& conv) {
  const Shape s = x.shape();
  const std::int64_t count = conv.kernel.depth;
  const std::int64_t stride = conv.stride.depth;
  const std::int64_t dilation = conv.dilation.depth;
  const Padding3d& padding = conv.padding;
  // As the rows of images are padded.
  const auto [front, back, left, right] =
      resolve({padding.mode, padding.front, padding.back, 0, 0}, {1, s[0], 1, s[3]}, {count, 1},
              {stride, 1}, {dilation, 1});
  constexpr std::int64_t kMost = std::int64_t{1} << 31;  // a file may say anything; no overflow
  require(std::max({stride, dilation, front, back, s[0]}) < kMost && count <= 1024,
          "[conv3d '{}'] expected a kernel of at most 1024 planes, and strides, dilations and "
          "padding below {}; got {} planes of {}",
          x.scope()->name, kMost, count, to_string(s));
  const std::int64_t reach = (count - 1) * dilation + 1;
  const std::int64_t depth = front + s[0] + back;
  require(reach <= depth, "[conv3d '{}'] expected a kernel that fits a padded depth of {}; got {}",
          x.scope()->name, depth, reach);
  if (depth == s[0] && count == 1 && stride == 1) return x;
  const Expression padded = depth == s[0] ? x : pad(x, 0, front, back);
  const std::int64_t planes = (depth - reach) / stride;  // but the last
  std::vector<Expression> parts;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t first = k * dilation;
    parts.push_back(slice(padded, 0, first, first + planes * stride + 1, stride));
    if (conv.groups == 1) continue;
    parts.back() = reshape(parts.back(), {planes + 1, s[1], s[2], conv.groups, s[3] / conv.groups});
  }
  return parts.size() == 1 ? parts.front() : concat(parts, -1);
}

/// Follows a layer's operators back to their operands.
class Back {
 public:
  Back(const Graph& graph, std::string_view layer) : graph_(graph), layer_(layer) {}
  /// Returns the layer's O that has made v, or null.
  template <class O>
  const O* to(Value v) {
    const Node* node = graph_.producer(v);
    if (node == nullptr || node->name != layer_) return nullptr;
    const auto* op = dynamic_cast<const O*>(node->op.get());
    if (op != nullptr) nodes.push_back(node);
    return op;
  }
  /// Returns the operands of the last O that was found.
  const std::vector<Value>& operands() const { return nodes.back()->inputs; }

  std::vector<const Node*> nodes;

 private:
  const Graph& graph_;
  std::string_view layer_;
};

}  // namespace

std::optional<CoveredPlanes> covered_planes(const Graph& graph, const Node& conv) {
  Back back(graph, conv.name);
  if (back.to<ReshapeOp>(conv.inputs.front()) == nullptr) return {};
  CoveredPlanes planes{.x = back.operands().front()};
  const Shape& shape = graph.shape(planes.x);
  if (shape.rank() < 5) return {};
  std::vector<Value> parts{planes.x};
  if (back.to<ConcatOp>(planes.x) != nullptr) parts = back.operands();
  planes.count = std::ssize(parts);
  std::vector<std::int64_t> begins;
  for (Value part : parts) {
    if (back.to<ReshapeOp>(part) != nullptr) part = back.operands().front();
    if (const auto* slice = back.to<SliceOp>(part)) {
      begins.push_back(slice->attrs().begin);
      planes.x = back.operands().front();
    } else if (const auto* steps = back.to<StridedSliceOp>(part)) {
      begins.push_back(steps->attrs().begin);
      planes.stride = steps->attrs().step;
      planes.x = back.operands().front();
    }
  }
  if (begins.size() > 1) planes.dilation = begins[1] - begins[0];
  const std::int64_t depth = graph.shape(planes.x)[1];
  const bool single = shape[1] == 1 && depth > (planes.count - 1) * planes.dilation + 1;
  if (single) planes.stride = depth;  // slices of one plane have no step
  if (const auto* padding = back.to<PadOp>(planes.x)) {
    planes.front = padding->attrs().before;
    planes.back = padding->attrs().after;
    planes.x = back.operands().front();
  }
  planes.nodes = std::move(back.nodes);
  return planes;
}

Expression convolve_volumes(const Expression& x, const Expression& weight, const Expression* bias,
                            const Conv3d& conv) {
  const Shape s = x.shape();
  const Expression planes = cover_planes(x, conv);
  const Padding3d& padding = conv.padding;
  const Expression images =
      emit(ReshapeOp({.shape = {-1, s[1], s[2], conv.kernel.depth * s[3]}}), {planes});
  Expression y =
      conv2d(images, weight,
             {.stride = {conv.stride.height, conv.stride.width},
              .padding = {padding.mode, padding.top, padding.bottom, padding.left, padding.right},
              .dilation = {conv.dilation.height, conv.dilation.width},
              .groups = conv.groups});
  if (bias != nullptr) y = emit(BiasAddOp(), {y, *bias});
  const Shape image = y.shape();
  return emit(ReshapeOp({.shape = {-1, planes.shape()[0], image[0], image[1], image[2]}}), {y});
}

void Conv3d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const std::int64_t channels = require_volumes(builder, "conv3d", layer)[4];
  require(channels % groups == 0 && filters % groups == 0,
          "[conv3d '{}'] expected groups that divide {} channels and {} filters; got {}", layer,
          channels, filters, groups);
  const auto scope =
      std::make_shared<const ExpressionScope>(ExpressionScope{builder.graph(), &builder, layer});
  const std::int64_t voxels = kernel.depth * kernel.height * kernel.width;
  const std::int64_t fan_in = channels / groups * voxels;
  const auto parameter = [&](std::string_view role, Shape shape, const Initializer& start) {
    return Expression(
        scope, builder.weight(layer, role, std::move(shape), start, fan_in, filters * voxels).id,
        false);
  };
  const Expression x(scope, builder.current().id, true);
  const Expression w =
      parameter("weight",
                {filters, kernel.height, kernel.width, kernel.depth * (channels / groups)},
                weight_init);
  std::optional<Expression> b;
  if (bias) b = parameter("bias", {filters}, bias_init);
  builder.set_current({convolve_volumes(x, w, b ? &*b : nullptr, *this).value()});
}

void register_conv3d(LayerTypes& types) {
  types.add({.kind = "conv3d",
             .name = "Conv3d",
             .in = "(N, D, H, W, C)",
             .out = "(N, D', H', W', filters)",
             .fields = {field<&Conv3d::filters>("filters").at_least(1).required(),
                        field<&Conv3d::kernel>("kernel").at_least(1),
                        field<&Conv3d::stride>("stride").at_least(1),
                        field<&Conv3d::padding>("padding").at_least(0),
                        field<&Conv3d::dilation>("dilation").at_least(1),
                        field<&Conv3d::groups>("groups").at_least(1), field<&Conv3d::bias>("bias"),
                        field<&Conv3d::weight_init>("weight_init"),
                        field<&Conv3d::bias_init>("bias_init")}},
            Conv3d{.filters = 8, .kernel = {1, 3, 3}, .padding = Padding3d::same()});
}

}  // namespace linnet
