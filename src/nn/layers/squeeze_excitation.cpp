// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/dense.h>
#include <linnet/layers/global_pooling.h>
#include <linnet/layers/squeeze_excitation.h>

#include <vector>

#include "base/check.h"
#include "nn/builder.h"
#include "nn/layer_fields.h"
#include "nn/layers/window.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/reshape/reshape.h"

namespace linnet {

void SqueezeExcitation::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const Value x = builder.current();
  require_images("squeeze_excitation", layer, builder.shape());
  const std::int64_t channels = builder.shape()[-1];
  const std::vector<Layer> parts{GlobalAvgPool2d{.name = "avgpool"},
                                 Dense{.units = squeezed, .name = "fc1"}, activation,
                                 Dense{.units = channels, .name = "fc2"}, gate};
  builder.build_within(layer, parts);
  const Shape factors = builder.shape();
  require(factors == Shape({kTemplateBatch, channels}),
          "[squeeze_excitation '{}'] expected an activation and a gate that keep the shape; got "
          "factors {} of {} channels",
          layer, to_string(factors), channels);
  Graph& graph = builder.graph();
  const Value factor =
      graph.emit(ReshapeOp({.shape = {-1, 1, 1, channels}}), {builder.current()}, layer);
  builder.set_current(graph.emit(ArithmeticOp({Arithmetic::multiply}), {x, factor}, layer));
}

void register_squeeze_excitation(LayerTypes& types) {
  types.add({.kind = "squeeze_excitation",
             .name = "SqueezeExcitation",
             .in = "(N, H, W, C)",
             .out = "(N, H, W, C)",
             .fields = {field<&SqueezeExcitation::squeezed>("squeezed").at_least(1).required(),
                        field<&SqueezeExcitation::activation>("activation"),
                        field<&SqueezeExcitation::gate>("gate")}},
            SqueezeExcitation{.squeezed = 16, .gate = HardSigmoid{}});
}

}  // namespace linnet
