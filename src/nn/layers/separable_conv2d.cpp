// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/conv2d.h>
#include <linnet/layers/separable_conv2d.h>

#include <vector>

#include "nn/builder.h"
#include "nn/layer_fields.h"
#include "nn/layers/window.h"

namespace linnet {

void SeparableConv2d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  require_images("separable_conv2d", layer, builder.shape());
  const std::int64_t channels = builder.shape()[-1];
  const std::vector<Layer> parts{Conv2d{.filters = channels * multiplier,
                                        .kernel = kernel,
                                        .stride = stride,
                                        .padding = padding,
                                        .dilation = dilation,
                                        .groups = channels,
                                        .bias = false,
                                        .weight_init = weight_init,
                                        .name = "depthwise"},
                                 Conv2d{.filters = filters,
                                        .kernel = 1,
                                        .bias = bias,
                                        .weight_init = weight_init,
                                        .bias_init = bias_init,
                                        .name = "pointwise"}};
  builder.build_within(layer, parts);
}

void register_separable_conv2d(LayerTypes& types) {
  types.add({.kind = "separable_conv2d",
             .name = "SeparableConv2d",
             .in = "(N, H, W, C)",
             .out = "(N, H', W', filters)",
             .fields = {field<&SeparableConv2d::filters>("filters").at_least(1).required(),
                        field<&SeparableConv2d::kernel>("kernel").at_least(1),
                        field<&SeparableConv2d::stride>("stride").at_least(1),
                        field<&SeparableConv2d::padding>("padding").at_least(0),
                        field<&SeparableConv2d::dilation>("dilation").at_least(1),
                        field<&SeparableConv2d::multiplier>("multiplier").at_least(1),
                        field<&SeparableConv2d::bias>("bias"),
                        field<&SeparableConv2d::weight_init>("weight_init"),
                        field<&SeparableConv2d::bias_init>("bias_init")}},
            SeparableConv2d{.filters = 32, .padding = Padding2d::same()});
}

}  // namespace linnet
