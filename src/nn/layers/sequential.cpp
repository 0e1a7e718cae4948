// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/activations.h>
#include <linnet/layers/batch_norm.h>
#include <linnet/layers/conv2d.h>
#include <linnet/layers/sequential.h>

#include "base/check.h"
#include "nn/builder.h"
#include "nn/layer_fields.h"

namespace linnet {

void Sequential::build(NetworkBuilder& builder) const {
  require(!kind.empty(), "[sequential '{}'] expected a kind; got none", name);
  const std::string layer = builder.begin(*this, name, kind);
  require(!layers.empty(), "[{} '{}'] expected at least one layer", kind, layer);
  builder.build_within(layer, layers);
}

void register_sequential(LayerTypes& types) {
  types.add({.kind = "sequential",
             .name = "Sequential",
             .in = "any",
             .out = "the output of its last layer",
             .fields = {field<&Sequential::layers>("layers").required(),
                        field<&Sequential::kind>("kind")}},
            Sequential{.layers = {Conv2d{.filters = 16, .bias = false}, BatchNorm{}, ReLU{}},
                       .kind = "conv_norm"});
}

}  // namespace linnet
