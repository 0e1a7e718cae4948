// SPDX-License-Identifier: Apache-2.0
#include "ops/dropout/dropout.h"

#include <linnet/layers/dropout.h>

#include "nn/builder.h"
#include "nn/layer_fields.h"

namespace linnet {

void Dropout::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  // The place in the network tells its dropouts apart, so equal networks draw equal masks.
  const auto stream = static_cast<std::int64_t>(builder.graph().nodes().size());
  builder.apply(DropoutOp({.rate = rate, .stream = stream}), layer);
}

void register_dropout(LayerTypes& types) {
  types.add({.kind = "dropout",
             .name = "Dropout",
             .in = "(N, ...)",
             .out = "(N, ...)",
             .fields = {field<&Dropout::rate>("rate").from_to_below(0, 1)}},
            Dropout{.rate = 0.2});
}

}  // namespace linnet
