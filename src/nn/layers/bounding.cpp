// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/bounding.h>

#include <cmath>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "nn/builder.h"
#include "nn/layer_fields.h"
#include "ops/arithmetic/arithmetic.h"

namespace linnet {

void Bounding::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const auto outputs = static_cast<std::size_t>(builder.shape()[-1]);
  const auto of_each = [&](std::vector<double> bounds, std::string_view which) {
    require(bounds.size() == 1 || bounds.size() == outputs,
            "[bounding '{}'] expected one {} bound, or {} for {}; got {}", layer, which, outputs,
            to_string(builder.shape()), bounds.size());
    for (const double bound : bounds) {
      require(std::isfinite(bound), "[bounding '{}'] expected finite bounds; got {}", layer, bound);
    }
    if (bounds.size() == 1) bounds.resize(outputs, bounds.front());
    return bounds;
  };
  const std::vector<double> low = of_each(lower, "lower");
  const std::vector<double> high = of_each(upper, "upper");
  for (std::size_t i = 0; i < outputs; ++i) {
    require(low[i] <= high[i],
            "[bounding '{}'] expected lower bounds not above the upper ones; got {} and {}", layer,
            low[i], high[i]);
  }
  const auto bound = [&](Arithmetic kind, std::vector<double> by) {
    Graph& graph = builder.graph();
    const Value constant = graph.add_constant(std::move(by));
    builder.set_current(graph.emit(ArithmeticOp({kind}), {builder.current(), constant}, layer));
  };
  bound(Arithmetic::maximum, low);
  bound(Arithmetic::minimum, high);
}

void register_bounding(LayerTypes& types) {
  types.add({.kind = "bounding",
             .name = "Bounding",
             .in = "(N, ..., C)",
             .out = "(N, ..., C)",
             .fields = {field<&Bounding::lower>("lower").required(),
                        field<&Bounding::upper>("upper").required()}},
            Bounding{.lower = {0, 0}, .upper = {1, 100}});
}

}  // namespace linnet
