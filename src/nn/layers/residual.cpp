// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/activations.h>
#include <linnet/layers/conv2d.h>
#include <linnet/layers/residual.h>

#include "base/check.h"
#include "nn/builder.h"
#include "nn/layer_fields.h"
#include "ops/arithmetic/arithmetic.h"

namespace linnet {

void Residual::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  require(!body.empty(), "[residual '{}'] expected a body of at least one layer", layer);
  const Value x = builder.current();
  builder.build_within(layer, body);
  const Value y = builder.current();
  builder.set_current(x);
  builder.build_within(layer + ".shortcut", shortcut);
  const Value beside = builder.current();
  const Graph& graph = builder.graph();
  require(graph.shape(y) == graph.shape(beside),
          "[residual '{}'] expected a body and a shortcut of one output shape; got body={}, "
          "shortcut={}",
          layer, to_string(graph.shape(y)), to_string(graph.shape(beside)));
  builder.set_current(builder.graph().emit(ArithmeticOp({Arithmetic::add}), {y, beside}, layer));
}

void register_residual(LayerTypes& types) {
  types.add({.kind = "residual",
             .name = "Residual",
             .in = "any",
             .out = "the output of body and shortcut",
             .fields = {field<&Residual::body>("body").required(),
                        field<&Residual::shortcut>("shortcut")}},
            Residual{.body = {Conv2d{.filters = 16, .padding = Padding2d::same()}, ReLU{}}});
}

}  // namespace linnet
