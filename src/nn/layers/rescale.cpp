// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/rescale.h>

#include "nn/builder.h"
#include "nn/layer_fields.h"
#include "ops/arithmetic/arithmetic.h"

namespace linnet {

void Rescale::build(NetworkBuilder& builder) const {
  builder.apply(ScaleOp({.alpha = scale, .beta = shift}), builder.begin(*this));
}

void register_rescale(LayerTypes& types) {
  types.add({.kind = "rescale",
             .name = "Rescale",
             .in = "(N, ...)",
             .out = "(N, ...)",
             .fields = {field<&Rescale::scale>("scale"), field<&Rescale::shift>("shift")}},
            Rescale{.scale = 0.5, .shift = -1});
}

}  // namespace linnet
