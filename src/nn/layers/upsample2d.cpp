// SPDX-License-Identifier: Apache-2.0
#include "ops/upsample2d/upsample2d.h"

#include <linnet/layers/upsample2d.h>

#include "nn/builder.h"
#include "nn/layer_fields.h"
#include "nn/layers/window.h"

namespace linnet {

void UpSample2d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const Shape x = builder.shape();
  require_images("upsample2d", layer, x);
  builder.apply(Upsample2dOp({.mode = bilinear ? Upsampling::bilinear : Upsampling::nearest,
                              .out_h = x[1] * scale.height,
                              .out_w = x[2] * scale.width}),
                layer);
}

void register_upsample2d(LayerTypes& types) {
  types.add({.kind = "upsample2d",
             .name = "UpSample2d",
             .in = "(N, H, W, C)",
             .out = "(N, scale H, scale W, C)",
             .fields = {field<&UpSample2d::scale>("scale").at_least(1),
                        field<&UpSample2d::bilinear>("bilinear")}},
            UpSample2d{.scale = {2, 4}, .bilinear = true});
}

}  // namespace linnet
