// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/conv1d.h>

#include "nn/layer_fields.h"
#include "nn/layers/convolution.h"
#include "nn/layers/one_row.h"

namespace linnet {

void Conv1d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  sequence_to_image(builder, "conv1d", layer);
  add_convolution(builder, "conv1d", layer,
                  {.filters = filters,
                   .kernel = {1, kernel},
                   .stride = {1, stride},
                   .padding = along_sequence(padding),
                   .dilation = {1, dilation},
                   .groups = groups,
                   .bias = bias,
                   .weight_init = weight_init,
                   .bias_init = bias_init});
  image_to_sequence(builder, layer);
}

void register_conv1d(LayerTypes& types) {
  types.add({.kind = "conv1d",
             .name = "Conv1d",
             .in = "(N, T, C)",
             .out = "(N, T', filters)",
             .fields = {field<&Conv1d::filters>("filters").at_least(1).required(),
                        field<&Conv1d::kernel>("kernel").at_least(1),
                        field<&Conv1d::stride>("stride").at_least(1),
                        field<&Conv1d::padding>("padding").at_least(0),
                        field<&Conv1d::dilation>("dilation").at_least(1),
                        field<&Conv1d::groups>("groups").at_least(1), field<&Conv1d::bias>("bias"),
                        field<&Conv1d::weight_init>("weight_init"),
                        field<&Conv1d::bias_init>("bias_init")}},
            Conv1d{.filters = 8, .kernel = 5, .padding = Padding2d::same()});
}

}  // namespace linnet
