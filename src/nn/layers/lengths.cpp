// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/lengths.h>

#include "nn/builder.h"
#include "nn/layer_fields.h"

namespace linnet {

void Lengths::build(NetworkBuilder& builder) const { builder.add_lengths(builder.begin(*this)); }

void register_lengths(LayerTypes& types) {
  types.add({.kind = "lengths",
             .name = "Lengths",
             .in = "(N, T) of i32 or (N, T, features)",
             .out = "the same",
             .fields = {}},
            Lengths{});
}

}  // namespace linnet
